"""docs/reference/commands.md is what the commands say about themselves."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from madeleine.cli import commands
from madeleine.cli.command_table import command_module, command_names
from madeleine.cli.reference import render_page

ROOT = Path(__file__).parents[2]


def test_the_page_names_every_command_and_option() -> None:
    """That the committed page is this one is checked in tests/contracts."""
    text = render_page()

    for name in command_names():
        assert f"### `madeleine {name}" in text
    assert "| `--superseded-by ID` |" in text


def test_every_module_is_a_command_and_every_command_a_module() -> None:
    modules = {
        f"{commands.__name__}.{each.name}" for each in pkgutil.iter_modules(commands.__path__)
    }

    assert modules == {command_module(name) for name in command_names()}
    for name in command_names():
        module = importlib.import_module(command_module(name))
        assert callable(module.run)
        assert callable(module.add_arguments)


def test_the_makefile_has_the_promised_targets() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")

    for target in ("start", "test", "soak", "bench", "stop", "clean", "docs"):
        assert f"\n{target}:" in text
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
