"""Show the settings in force and where each comes from, or change one in the file: `config`,
`config get server.port`, `config set server.port 8788`, `config unset server.port`.

A value is the default, or stands in `config.toml` in the home, or in a variable of the environment,
which wins. Listed are the settings that are documented and those that are set; `--all` adds the
advanced ones. `set` and `unset` keep the file's comments and order; a running daemon reads it at
its next start. Tokens, and passwords in addresses, are not shown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.environment import read_environment
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import BadSetting, Rejected, UnknownWord
from madeleine.model.config_text import change_settings, is_set, to_toml
from madeleine.model.server_address import split_address
from madeleine.settings import SettingInForce, SettingSource, list_settings, parse_setting
from madeleine.settings.config_file import (
    config_path,
    read_config_table,
    read_config_text,
    write_config_text,
)
from madeleine.settings.values import check_setting_name, setting_variables

ACTIONS = ("list", "get", "set", "unset")
HIDDEN_VALUE = "(hidden)"
MAX_VALUE_COLUMNS = 48  # a longer value moves what stands beside it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = "|".join(ACTIONS)
    parser.add_argument("action", metavar=actions, nargs="?", default="list", help="what")
    parser.add_argument("name", metavar="NAME", nargs="?", help="a setting, such as server.port")
    parser.add_argument("value", metavar="VALUE", nargs="?", help="what it is set to")
    parser.add_argument("--all", action="store_true", help="list the advanced settings too")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    match arguments.action, arguments.name, arguments.value:
        case "list", None, None:
            answer = _list_in_force(door, arguments.all)
            say.reply(answer, lambda: _render_settings(answer, say))
        case "get", str(name), None:
            answer = _get(door, name)
            say.reply(answer, lambda: [_one_in_words(answer)])
        case "set", str(name), str(text):
            answer = change_setting(door, name, parse_setting(name, text))
            say.reply(answer, lambda: [f"{name} is set in {escape_controls(answer['file'])}"])
        case "unset", str(name), None:
            answer = _unset_setting(door, name)
            done = "is no longer set" if answer["changed"] else "was not set"
            say.reply(
                answer,
                lambda: [f"{escape_controls(name)} {done} in {escape_controls(answer['file'])}"],
            )
        case action, _, _ if action in ACTIONS:
            words = {"get": "NAME", "set": "NAME and VALUE", "unset": "NAME"}.get(action, "no name")
            hint = "`madeleine config --help` shows how it is used"
            raise Rejected(f"`config {action}` takes {words}", hint)
        case action, _, _:
            raise UnknownWord("action", action, list(ACTIONS))
    return 0


def _list_in_force(door: CommandDoor, with_advanced: bool) -> dict[str, Any]:
    """Return the settings in force: those that are documented or set, or all."""
    path = config_path(door.home)
    listed = [
        each
        for each in list_settings(read_config_table(path), read_environment())
        if with_advanced or not each.facts.is_advanced or each.source != SettingSource.DEFAULT
    ]
    return {"file": str(path), "settings": [_setting_to_json(each) for each in listed]}


def _get(door: CommandDoor, name: str) -> dict[str, Any]:
    """Return one setting in force."""
    check_setting_name(name)
    path = config_path(door.home)
    found = next(
        each
        for each in list_settings(read_config_table(path), read_environment())
        if each.name == name
    )
    return {"file": str(path), **_setting_to_json(found)}


def _one_in_words(answer: dict[str, Any]) -> str:
    is_default = answer["source"] == SettingSource.DEFAULT
    origin = (
        "the default"
        if is_default
        else f"from {answer['variable'] or escape_controls(answer['file'])}"
    )
    return f"{answer['name']} is {escape_controls(to_toml(answer['value']))}, {origin}"


def _setting_to_json(each: SettingInForce) -> dict[str, Any]:
    return {
        "name": each.name,
        "value": _hide_secrets(each),
        "default": each.default,
        "source": each.source.value,
        "variable": each.variable,
        "advanced": each.facts.is_advanced,
        "help": each.facts.help,
    }


def _hide_secrets(each: SettingInForce) -> Any:
    """Return a value as it may be shown: of an address the place, without credentials. Of one that
    is written wrongly nobody knows where its password ends."""
    if each.facts.is_secret and each.value:
        return HIDDEN_VALUE
    if not isinstance(each.value, str) or not ("://" in each.value or "@" in each.value):
        return each.value
    try:
        parts = split_address(each.name, each.value)
    except BadSetting:
        return HIDDEN_VALUE
    if not parts.scheme or not parts.netloc:
        return HIDDEN_VALUE
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _render_settings(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    yield f"settings in force; the file is {escape_controls(answer['file'])}"
    for section, settings in groupby(answer["settings"], key=_section_name):
        yield ""
        yield say.bold(f"[{section}]")
        listed = list(settings)
        names = [each["name"].partition(".")[2] for each in listed]
        values = [escape_controls(to_toml(each["value"])) for each in listed]
        columns = len(max(names, key=len))
        wide = min(max(len(value) for value in values), MAX_VALUE_COLUMNS)
        for name, value, each in zip(names, values, listed, strict=True):
            yield f"  {name:<{columns}}  {value:<{wide}}  {_render_source(each, say)}"


def _section_name(each: dict[str, Any]) -> str:
    return str(each["name"]).partition(".")[0]


def _render_source(each: dict[str, Any], say: CommandOutput) -> str:
    if each["source"] == SettingSource.DEFAULT:
        return say.dim("default")
    return str(each["variable"] or "config.toml")


def _unset_setting(door: CommandDoor, name: str) -> dict[str, Any]:
    """Take a setting out of the file: a known one, or whatever stands there under that name."""
    path = config_path(door.home)
    if not is_set(read_config_table(path), name):
        check_setting_name(name)
    return change_setting(door, name, None)


def change_setting(
    door: CommandDoor, name: str, value: object, at_once: bool = False
) -> dict[str, Any]:
    """Change a setting in the file, and return what is to be known about it. One that holds
    `at_once` needs no new start of the daemon."""
    path = config_path(door.home)
    text = read_config_text(path)
    changed = change_settings(text, path, {name: value})
    if changed != text:
        write_config_text(path, changed)
    variable = next((each for each in setting_variables(name) if each in read_environment()), None)
    notes = [] if variable is None else [f"`{variable}` in the environment wins over the file"]
    if changed != text and not at_once and door.daemon() is not None:
        notes.append("the daemon reads it at its next start: `madeleine stop`, `madeleine serve`")
    return {"name": name, "changed": changed != text, "file": str(path), "notes": notes}
