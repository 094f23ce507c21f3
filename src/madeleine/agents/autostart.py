"""Starting the daemon at login: a unit of systemd, or a property list of launchd.

Only files are written. A unit is enabled by a link beside it, which is all that `systemctl enable`
does; what starts it at once is for the person to type.
"""

from __future__ import annotations

import re
from pathlib import Path

from madeleine.agents.catalog import Link, Wiring
from madeleine.agents.pieces import Whole
from madeleine.agents.surroundings import Surroundings

NAME = "autostart"
UNIT = "madeleine.service"
LABEL = "org.madeleine.daemon"
HOME_IS_OPEN = 5  # the exit code when a daemon runs already; starting again would not help

_PLAIN = re.compile(r"[\w./:@=+,-]+")
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
    """Return the file that starts the daemon on this system."""
    words = tuple(around.daemon_words())
    if around.platform == "darwin":
        return [Wiring(_agent(around), (Whole("launch agent", _plist(words), words),))]
    content = _UNIT.format(words=_systemd(words), code=HOME_IS_OPEN)
    return [Wiring(_units(around) / UNIT, (Whole("systemd unit", content, words),))]


def links(around: Surroundings, wanted: bool) -> list[Link]:
    """Return the link that enables the unit."""
    if around.platform == "darwin":
        return []
    return [Link(_units(around) / "default.target.wants" / UNIT, f"../{UNIT}", wanted)]


def note(around: Surroundings) -> str:
    """Return how to have it now, not only after the next login."""
    if around.platform == "darwin":
        now = f'launchctl bootstrap gui/$(id -u) "{_agent(around)}"'
    else:
        now = f"systemctl --user daemon-reload && systemctl --user start {UNIT}"
    return f"the daemon starts at your next login; now: {now}"


def _units(around: Surroundings) -> Path:
    return around.config / "systemd" / "user"


def _agent(around: Surroundings) -> Path:
    return around.user / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def _systemd(words: tuple[str, ...]) -> str:
    """Quote for systemd, which reads quotes its own way and expands `%` and `$`."""
    return " ".join(_systemd_word(word) for word in words).replace("%", "%%").replace("$", "$$")


def _systemd_word(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _plist(words: tuple[str, ...]) -> str:
    shown = "".join(f"    <string>{_escaped(word)}</string>\n" for word in words)
    return _PLIST.format(label=LABEL, words=shown)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
