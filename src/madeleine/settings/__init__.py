"""Every setting, gathered from the rooms that declare them, read and explained.

Settings come from `config.toml` in the home folder, one table per section, and from the
environment as `MADELEINE_<SECTION>_<NAME>`, which wins. A room declares its own settings
(`model/setting.py`); docs/reference/settings.md is generated from what is gathered here.

sections     what no other room declares
values       all sections, and their values by file and environment
config_file  config.toml in the home
variables    variables of the environment that mean something, or look as if they did
"""

from madeleine.settings.values import (
    ENVIRONMENT_PREFIX,
    SettingInForce,
    Settings,
    SettingSource,
    list_settings,
    parse_setting,
    read_settings,
)
from madeleine.settings.variables import (
    describe_unknown_variables,
    find_store_variables,
    known_variables,
)

__all__ = [
    "ENVIRONMENT_PREFIX",
    "SettingInForce",
    "SettingSource",
    "Settings",
    "describe_unknown_variables",
    "find_store_variables",
    "known_variables",
    "list_settings",
    "parse_setting",
    "read_settings",
]
