"""docs/man/madeleine.1: what `man madeleine` shows."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from madeleine.cli.command_table import command_names
from madeleine.cli.man_page import render_man_page


def test_every_command_has_its_place_in_the_manual_page() -> None:
    page = render_man_page()

    for name in command_names():
        assert f".SS madeleine {name}".replace("-", "\\-") in page


def test_no_line_of_a_description_is_taken_for_a_command_of_roff() -> None:
    known = (".TH", ".SH", ".SS", ".PP", ".TP", ".nf", ".fi", ".B", '.\\"')

    lines = [each for each in render_man_page().split("\n") if each.startswith((".", "'"))]

    assert [each for each in lines if each.split(" ")[0] not in known] == []


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_groff_prints_the_page_without_a_warning() -> None:
    command = ["groff", "-k", "-man", "-Tutf8", "-P-cbou", "-ww"]
    ran = subprocess.run(command, input=render_man_page().encode(), capture_output=True, timeout=20)

    assert (ran.returncode, ran.stderr.decode()) == (0, "")
    assert b"madeleine remember" in ran.stdout
