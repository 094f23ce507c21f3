"""Starting the daemon at login: a unit of systemd, or a property list of launchd.

Only files are written. A unit is enabled by a link beside it, which is all that `systemctl enable`
does; what starts it at once is for the person to type. Each home has a file of its own: the default
one under the plain name, any other with its folder's name and a few digits of its path in it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from madeleine.agents.catalog import Link, Wiring
from madeleine.agents.pieces import Whole
from madeleine.agents.receipts import digest
from madeleine.agents.surroundings import Surroundings

NAME = "autostart"
UNIT = "madeleine"
LABEL = "org.madeleine.daemon"
DIGITS = 8  # of the digest of a home's path
HOME_IS_OPEN = 5  # the exit code when a daemon runs already; starting again would not help

_PLAIN = re.compile(r"[\w./:@=+,-]+")
_ODD = re.compile(r"[^A-Za-z0-9_.]+")  # what no name of a unit may hold
_UNIT = """\
# Written by `madeleine setup --autostart`; `madeleine unsetup autostart` removes it.
[Unit]
Description=Madeleine, memory for agents

[Service]
ExecStart={words}
Restart=on-failure
RestartPreventExitStatus={code}

[Install]
WantedBy=default.target
"""

_PLIST = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
"http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by `madeleine setup`; `madeleine unsetup autostart` removes it. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{label}</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>RunAtLoad</key>
  <true/>
</dict>
</plist>
"""


def wirings(around: Surroundings) -> list[Wiring]:
    """Return the file that starts the daemon of this home on this system."""
    words = tuple(around.daemon_words())
    if around.platform == "darwin":
        content = _plist(_label(around), words)
        return [Wiring(_agent(around), (Whole("launch agent", content, words),))]
    content = _UNIT.format(words=_systemd(words), code=HOME_IS_OPEN)
    return [Wiring(_units(around) / _unit(around), (Whole("systemd unit", content, words),))]


def links(around: Surroundings, wanted: bool) -> list[Link]:
    """Return the link that enables the unit."""
    if around.platform == "darwin":
        return []
    unit = _unit(around)
    return [Link(_units(around) / "default.target.wants" / unit, f"../{unit}", wanted)]


def note(around: Surroundings) -> str:
    """Return how to have it now, not only after the next login."""
    if around.platform == "darwin":
        now = f'launchctl bootstrap gui/$(id -u) "{_agent(around)}"'
    else:
        now = f"systemctl --user daemon-reload && systemctl --user start {_unit(around)}"
    return f"the daemon starts at your next login; now: {now}"


def _unit(around: Surroundings) -> str:
    return f"{'-'.join([UNIT, *_mark(around)])}.service"


def _label(around: Surroundings) -> str:
    return ".".join([LABEL, *_mark(around)])


def _mark(around: Surroundings) -> list[str]:
    """Return what tells the file of this home from those of others; nothing for the default one."""
    home = os.path.realpath(around.home)
    if home == os.path.realpath(around.usual_home):
        return []
    name = _ODD.sub("-", Path(home).name).strip("-.") or "home"
    return [f"{name}-{digest(os.fsencode(home))[:DIGITS]}"]


def _units(around: Surroundings) -> Path:
    return around.config / "systemd" / "user"


def _agent(around: Surroundings) -> Path:
    return around.user / "Library" / "LaunchAgents" / f"{_label(around)}.plist"


def _systemd(words: tuple[str, ...]) -> str:
    """Quote for systemd, which reads quotes its own way and expands `%` and `$`."""
    return " ".join(_systemd_word(word) for word in words).replace("%", "%%").replace("$", "$$")


def _systemd_word(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _plist(label: str, words: tuple[str, ...]) -> str:
    shown = "".join(f"    <string>{_escaped(word)}</string>\n" for word in words)
    return _PLIST.format(label=label, words=shown)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
