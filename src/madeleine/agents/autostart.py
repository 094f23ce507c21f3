"""Starting the daemon at login: a unit of systemd, or a property list of launchd.

Only files are written. A unit is enabled by a link beside it, which is all that `systemctl enable`
does; what starts it at once is for the person to type. Each home has a file of its own: the default
one under the plain name, any other with its folder's name and a few digits of its path in it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from madeleine.agents.catalog import AgentWiring, WiringLink
from madeleine.agents.environment import SetupEnvironment
from madeleine.agents.pieces import WholeFilePiece
from madeleine.agents.receipts import sha256_hex

AUTOSTART_NAME = "autostart"
UNIT_NAME = "madeleine"
LAUNCHD_LABEL = "org.madeleine.daemon"
HOME_DIGEST_CHARS = 8  # of the digest of a home's path
EXIT_CODE_HOME_OPEN = 5  # the exit code when a daemon runs already; starting again would not help

_UNQUOTED_PATTERN = re.compile(r"[\w./:@=+,-]+")
_UNSAFE_NAME_CHARS = re.compile(r"[^A-Za-z0-9_.]+")  # what no name of a unit may hold
_UNIT_TEMPLATE = """\
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

_PLIST_TEMPLATE = """\
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


def autostart_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    """Return the file that starts the daemon of this home on this system."""
    words = tuple(around.daemon_words())
    if around.platform == "darwin":
        content = _render_plist(_launchd_label(around), words)
        return [
            AgentWiring(
                _launch_agent_path(around), (WholeFilePiece("launch agent", content, words),)
            )
        ]
    content = _UNIT_TEMPLATE.format(words=_quote_for_systemd(words), code=EXIT_CODE_HOME_OPEN)
    return [
        AgentWiring(
            _units_folder(around) / _unit_name(around),
            (WholeFilePiece("systemd unit", content, words),),
        )
    ]


def autostart_links(around: SetupEnvironment, wanted: bool) -> list[WiringLink]:
    """Return the link that enables the unit."""
    if around.platform == "darwin":
        return []
    unit = _unit_name(around)
    return [WiringLink(_units_folder(around) / "default.target.wants" / unit, f"../{unit}", wanted)]


def autostart_note(around: SetupEnvironment) -> str:
    """Return how to have it now, not only after the next login."""
    if around.platform == "darwin":
        now = f'launchctl bootstrap gui/$(id -u) "{_launch_agent_path(around)}"'
    else:
        now = f"systemctl --user daemon-reload && systemctl --user start {_unit_name(around)}"
    return f"the daemon starts at your next login; now: {now}"


def _unit_name(around: SetupEnvironment) -> str:
    return f"{'-'.join([UNIT_NAME, *_home_suffix(around)])}.service"


def _launchd_label(around: SetupEnvironment) -> str:
    return ".".join([LAUNCHD_LABEL, *_home_suffix(around)])


def _home_suffix(around: SetupEnvironment) -> list[str]:
    """Return what tells the file of this home from those of others; nothing for the default one."""
    home = os.path.realpath(around.home)
    if home == os.path.realpath(around.usual_home):
        return []
    name = _UNSAFE_NAME_CHARS.sub("-", Path(home).name).strip("-.") or "home"
    return [f"{name}-{sha256_hex(os.fsencode(home))[:HOME_DIGEST_CHARS]}"]


def _units_folder(around: SetupEnvironment) -> Path:
    return around.config / "systemd" / "user"


def _launch_agent_path(around: SetupEnvironment) -> Path:
    return around.user / "Library" / "LaunchAgents" / f"{_launchd_label(around)}.plist"


def _quote_for_systemd(words: tuple[str, ...]) -> str:
    """Quote for systemd, which reads quotes its own way and expands `%` and `$`."""
    return (
        " ".join(_quote_systemd_word(word) for word in words).replace("%", "%%").replace("$", "$$")
    )


def _quote_systemd_word(word: str) -> str:
    if _UNQUOTED_PATTERN.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _render_plist(label: str, words: tuple[str, ...]) -> str:
    shown = "".join(f"    <string>{_escape_xml(word)}</string>\n" for word in words)
    return _PLIST_TEMPLATE.format(label=label, words=shown)


def _escape_xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
