"""The file of a home's settings."""

from __future__ import annotations

from pathlib import Path

from madeleine.errors import BadSetting, StoreUnwritable
from madeleine.model.config_text import TomlTable, parse_table
from madeleine.vault.files import write_file


def config_path(home: Path) -> Path:
    """Return where the settings of a home stand."""
    return home / "config.toml"


def read_config_table(path: Path) -> TomlTable:
    """Return what stands in the file, as TOML has it; nothing if there is no file."""
    return parse_table(read_config_text(path), path)


def read_config_text(path: Path) -> str:
    """Return the text of the file, its line ends as they are; empty if there is none."""
    try:
        return path.read_bytes().decode("utf-8") if path.exists() else ""
    except UnicodeDecodeError as error:
        raise BadSetting(str(path), f"does not parse: {error}") from error
    except OSError as error:
        raise BadSetting(str(path), f"cannot be read: {error.strerror}") from error


def write_config_text(path: Path, text: str) -> None:
    """Put the text in place in one step; a link to a file elsewhere stays a link."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnwritable(path.parent, error.strerror or str(error)) from error
    write_file(path.resolve(), text.encode("utf-8"))
