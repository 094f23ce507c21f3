"""The values of all settings, by file and environment, and where each comes from."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from madeleine.errors import BadSetting
from madeleine.ingest.config import IngestConfig
from madeleine.minds.config import CostConfig, EmbedderConfig, JudgeConfig
from madeleine.model.config_text import SHORT_NAMES
from madeleine.model.draft import MemoryLimits
from madeleine.model.setting import SettingSpec, setting_specs
from madeleine.settings.sections import (
    BackupConfig,
    IndexConfig,
    ServerConfig,
    StoreConfig,
    SyncConfig,
    VaultConfig,
)
from madeleine.sleep.config import ConsolidationConfig, SleepConfig
from madeleine.whisper.config import BriefConfig, WhisperConfig
from madeleine.write.config import (
    ExclusionConfig,
    RecallConfig,
    RerankerConfig,
    SpaceConfig,
    WriteConfig,
)

ENVIRONMENT_PREFIX = "MADELEINE_"
BARE_PREFIX = "CONSOLIDATION_"  # settings that are documented under this name, without ours


@dataclass(frozen=True, slots=True)
class Settings:
    """All sections."""

    server: ServerConfig = field(default_factory=ServerConfig)
    vault: VaultConfig = field(default_factory=VaultConfig)
    limits: MemoryLimits = field(default_factory=MemoryLimits)
    embedder: EmbedderConfig = field(default_factory=EmbedderConfig)
    write: WriteConfig = field(default_factory=WriteConfig)
    exclude: ExclusionConfig = field(default_factory=ExclusionConfig)
    space: SpaceConfig = field(default_factory=SpaceConfig)
    recall: RecallConfig = field(default_factory=RecallConfig)
    reranker: RerankerConfig = field(default_factory=RerankerConfig)
    index: IndexConfig = field(default_factory=IndexConfig)
    store: StoreConfig = field(default_factory=StoreConfig)
    whisper: WhisperConfig = field(default_factory=WhisperConfig)
    brief: BriefConfig = field(default_factory=BriefConfig)
    sleep: SleepConfig = field(default_factory=SleepConfig)
    judge: JudgeConfig = field(default_factory=JudgeConfig)
    cost: CostConfig = field(default_factory=CostConfig)
    ingest: IngestConfig = field(default_factory=IngestConfig)
    consolidation: ConsolidationConfig = field(default_factory=ConsolidationConfig)
    backup: BackupConfig = field(default_factory=BackupConfig)
    sync: SyncConfig = field(default_factory=SyncConfig)


class SettingSource(StrEnum):
    """Where a setting has its value from."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A setting with the value that it has, and where that comes from."""

    name: str
    """The whole name, such as `server.port`."""
    value: Any
    default: Any
    source: SettingSource
    facts: SettingSpec
    variable: str | None = None
    """The variable of the environment that gives the value."""


def read_settings(table: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Return the settings that a parsed config.toml and an environment give."""
    values: dict[str, dict[str, object]] = {}
    for each in list_settings(table, environment):
        section, _, name = each.name.partition(".")
        values.setdefault(section, {})[name] = each.value
    empty = Settings()
    sections = {
        name: dataclasses.replace(getattr(empty, name), **given) for name, given in values.items()
    }
    sleep = dataclasses.replace(
        sections["sleep"],
        unasked=sections["judge"].unasked,
        consolidation=sections["consolidation"],
    )
    return Settings(**{**sections, "sleep": sleep})


def list_settings(
    table: Mapping[str, object], environment: Mapping[str, str]
) -> list[SettingInForce]:
    """Return every setting as a parsed config.toml and an environment give it, in the order of
    the sections. What is not known, and a value that a setting does not take, is refused."""
    given = _read_file_values(table)
    return [
        _find_setting_in_force(name, default, facts, given, environment)
        for name, default, facts in known_settings()
    ]


def known_settings() -> Iterator[tuple[str, Any, SettingSpec]]:
    """Give the whole name, the default and the facts of every setting."""
    empty = Settings()
    for section in dataclasses.fields(Settings):
        values = getattr(empty, section.name)
        for name, facts in setting_specs(values).items():
            yield f"{section.name}.{name}", getattr(values, name), facts


def parse_setting(name: str, text: str) -> bool | int | float | str:
    """Return the value that a text gives to the setting of that whole name; `BadSetting` if there
    is no such setting, or if it does not take the value."""
    check_setting_name(name)
    known = {each: (default, facts) for each, default, facts in known_settings()}
    default, facts = known[name]
    value = _value_from_text(name, default, text)
    _check_value(name, value, facts)
    return value


def check_setting_name(name: str) -> None:
    """Refuse the whole name of a setting that there is not, with the nearest that there is."""
    known = [each for each, _, _ in known_settings()]
    if name not in known:
        near = [f"; did you mean `{each}`?" for each in get_close_matches(name, known, 1)]
        hint = "`madeleine config --all` lists all that there are"
        raise BadSetting(name, "".join(["is not known", *near]), hint)


def _read_file_values(table: Mapping[str, object]) -> dict[str, object]:
    """Return what a file sets, by the whole names."""
    sections = {each.name for each in dataclasses.fields(Settings)}
    found: dict[str, object] = {}
    for section, given in table.items():
        if section in SHORT_NAMES and isinstance(given, str):
            continue
        if section not in sections:
            raise BadSetting(section, f"is not a section; there are {', '.join(sorted(sections))}")
        if not isinstance(given, Mapping):
            raise BadSetting(section, "is not a table")
        _refuse_unknown_names(section, given)
        found |= {f"{section}.{name}": value for name, value in given.items()}
    short = {
        SHORT_NAMES[name]: table[name] for name in SHORT_NAMES if isinstance(table.get(name), str)
    }
    return {**found, **short}


def _refuse_unknown_names(section: str, given: Mapping[str, object]) -> None:
    known = setting_specs(getattr(Settings(), section))
    for name in given:
        if name not in known:
            problem = f"is not known; {section} has {', '.join(sorted(known))}"
            raise BadSetting(f"{section}.{name}", problem)


def _find_setting_in_force(
    name: str,
    default: Any,
    facts: SettingSpec,
    given: Mapping[str, object],
    environment: Mapping[str, str],
) -> SettingInForce:
    """Return a setting with the value of the environment, else of the file, else its own."""
    variable = next((each for each in setting_variables(name) if each in environment), None)
    if variable is not None:
        value: object = _value_from_text(name, default, environment[variable])
        source = SettingSource.ENVIRONMENT
    elif name in given:
        value, source = _value_from_toml(name, default, given[name]), SettingSource.FILE
    else:
        value, source = default, SettingSource.DEFAULT
    _check_value(name, value, facts)
    return SettingInForce(name, value, default, source, facts, variable)


def setting_variables(name: str) -> list[str]:
    """Return the variables of the environment that give a setting, the one that wins first."""
    plain = name.replace(".", "_").upper()
    bare = [plain] if plain.startswith(BARE_PREFIX) else []
    short = [
        ENVIRONMENT_PREFIX + each.upper() for each, whole in SHORT_NAMES.items() if whole == name
    ]
    return [ENVIRONMENT_PREFIX + plain, *bare, *short]


def _check_value(name: str, value: object, facts: SettingSpec) -> None:
    """Refuse a value outside of what a setting takes; no number is refused everywhere."""
    if facts.check is not None:
        facts.check(str(value), name)
    if facts.among and value not in facts.among:
        known = " or ".join((", ".join(facts.among[:-1]), facts.among[-1]))
        raise BadSetting(name, f"is {value!r}; it takes {known}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    low = -math.inf if facts.least is None else facts.least
    high = math.inf if facts.most is None else facts.most
    if not low <= value <= high or not math.isfinite(value):
        raise BadSetting(name, f"is {value!r}; it takes {_render_range(facts.least, facts.most)}")


def _render_range(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"a number from {least:g} to {most:,.10g}"
    return "a number" if least is None else f"a number from {least:g} on"


def _value_from_toml(name: str, default: object, value: object) -> object:
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not type(default):
        # A list or table may hold an address with a password: it is not shown.
        shown = f"a {type(value).__name__}" if isinstance(value, list | dict) else repr(value)
        raise BadSetting(name, f"is {shown}; it takes a {type(default).__name__}")
    return value


def _value_from_text(name: str, default: Any, text: str) -> bool | int | float | str:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false", "1", "0"):
            raise BadSetting(name, f"is {text!r}; it takes true or false")
        return text.lower() in ("true", "1")
    if isinstance(default, str):
        return text
    try:
        return int(text) if isinstance(default, int) else float(text)
    except ValueError as error:
        raise BadSetting(name, f"is {text!r}; it takes a number") from error
