"""How a setting is declared: once, in the room that goes by it, with help, default and bounds.

A section of config.toml is a dataclass whose fields are settings. The room `settings` gathers the
sections, reads them and documents them; nothing else has to know a setting twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

METADATA_KEY = "setting"  # under which a field's metadata hold what was declared

SettingCheck = Callable[[str, str], object]
"""Raises `BadSetting` for a text that a setting does not take; is given the text and the name."""


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """What is known of a setting beside its name and its default."""

    help: str
    least: float | None = None
    most: float | None = None
    among: tuple[str, ...] = ()
    """The words that it takes, if it takes only some."""
    check: SettingCheck | None = None
    is_secret: bool = False
    """Whether the value is not to be shown."""
    is_advanced: bool = False
    """Whether hardly anybody has to know it."""


def setting(
    default: Any,
    help_text: str,
    least: float | None = None,
    most: float | None = None,
    among: tuple[str, ...] = (),
    check: SettingCheck | None = None,
    is_secret: bool = False,
    is_advanced: bool = False,
) -> Any:
    """Declare a setting with its line of help, and the least and the most that it takes, or the
    words."""
    facts = SettingSpec(help_text, least, most, among, check, is_secret, is_advanced)
    return field(default=default, metadata={METADATA_KEY: facts})


def advanced(
    default: Any,
    help_text: str,
    least: float | None = None,
    most: float | None = None,
    among: tuple[str, ...] = (),
) -> Any:
    """Declare a setting that hardly anybody has to know."""
    return setting(default, help_text, least, most, among, is_advanced=True)


def setting_specs(section: Any) -> dict[str, SettingSpec]:
    """Return the settings of a section by their names; fields that are none are left out."""
    return {
        each.name: each.metadata[METADATA_KEY]
        for each in fields(section)
        if METADATA_KEY in each.metadata
    }
