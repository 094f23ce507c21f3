"""The unit for the whole machine, in `contrib/`."""

from __future__ import annotations

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

from madeleine.cli.main import main
from madeleine.errors import HomeBusy

UNIT = Path(__file__).parents[2] / "contrib" / "madeleine.service"


def service() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # as configparser says
    parser.read_string(UNIT.read_text(encoding="utf-8"))
    return parser["Service"]


def test_the_home_is_the_folder_that_systemd_makes_for_it() -> None:
    assert service()["Environment"] == f"MADELEINE_HOME=/var/lib/{service()['StateDirectory']}"
    assert service()["StateDirectoryMode"] == "0700"


def test_a_home_that_is_open_already_is_not_tried_again() -> None:
    assert int(service()["RestartPreventExitStatus"]) == HomeBusy.exit_code


def test_the_command_is_one_that_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    program, *words = service()["ExecStart"].split()

    assert program == "/usr/bin/madeleine"
    assert main([*words, "--help"]) == 0
    assert "--foreground" in capsys.readouterr().out


def test_systemd_knows_every_line_of_it(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd here")
    here = UNIT.read_text(encoding="utf-8").replace("/usr/bin/madeleine", "/bin/true")
    copy = tmp_path / UNIT.name
    copy.write_text(here, encoding="utf-8")

    done = subprocess.run(
        [analyze, "verify", "--man=no", str(copy)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
