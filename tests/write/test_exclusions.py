"""`[exclude]`: of which folders, spaces and words agents keep nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.errors import Excluded
from madeleine.model.draft import Draft
from madeleine.write.agent_writes import find_excluded, refuse_excluded_draft
from madeleine.write.config import ExclusionConfig
from madeleine.write.stores import VerbConfig

AGENT = "agent:codex"


def why(config: ExclusionConfig, **asked: object) -> str | None:
    found = find_excluded(config, **asked)  # type: ignore[arg-type]  # tests name real arguments
    return None if found is None else found.setting


def test_a_folder_is_kept_out_with_all_below_it(tmp_path: Path) -> None:
    config = ExclusionConfig(folders=f"/elsewhere:{tmp_path / 'client'}")
    (tmp_path / "client" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "client")

    assert why(config, folder=str(tmp_path / "client")) == "exclude.folders"
    assert why(config, folder=str(tmp_path / "client" / "deep")) == "exclude.folders"
    assert why(config, folder=str(tmp_path / "link" / "deep")) == "exclude.folders"
    assert why(config, folder=str(tmp_path / "clients")) is None
    assert why(config, folder=None) is None


@pytest.mark.parametrize(
    ("space", "is_out"),
    [("acme", True), ("acme#feature/x", True), ("acme2", False), (None, True), ("Acme", False)],
)
def test_a_space_is_kept_out_with_its_branches(space: str | None, is_out: bool) -> None:
    config = ExclusionConfig(spaces="acme, global")

    assert (why(config, space=space) == "exclude.spaces") is is_out


@pytest.mark.parametrize(
    ("text", "is_out"),
    [
        ("The Falcon launch is in May", True),
        ("falcon", True),
        ("Falconry is a hobby", False),
        ("project x ends", True),
        ("Project xylophone begins", False),
        ("新顧客名簿を見る", True),
        ("", False),
    ],
)
def test_a_word_is_kept_out_wherever_it_stands_by_itself(text: str, is_out: bool) -> None:
    config = ExclusionConfig(words="Falcon, project X, 顧客")

    assert (why(config, space="a", texts=(text,)) == "exclude.words") is is_out


def test_nothing_is_kept_out_by_default() -> None:
    assert why(ExclusionConfig(), folder="/", space=None, texts=("anything",)) is None


def test_an_agent_is_told_which_setting_it_was_and_a_person_is_not_held_to_it() -> None:
    config = VerbConfig(exclude=ExclusionConfig(words="Falcon"))
    draft = Draft("It launches in May", title="Falcon")

    refuse_excluded_draft(config, draft, "cli")
    with pytest.raises(Excluded) as caught:
        refuse_excluded_draft(config, draft, AGENT)

    assert caught.value.parts == {"setting": "exclude.words", "value": "Falcon"}
    assert "`exclude.words` keeps out 'Falcon'" in caught.value.message
