"""What another program keeps beside a memory: given back as it was, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine import Madeleine
from madeleine.errors import InvalidValue

GIVEN = {
    "ticket": "A-17",
    "seen": [1, 2.5, True, None],
    "by": {"name": "Zoë: # no remark", "line\u2028end": "\x85"},
}


def written(home: Path) -> str:
    (found,) = (home / "vault").glob("fact_*.md")
    return found.read_text(encoding="utf-8")


def test_metadata_stands_in_the_file_and_outlives_the_index(tmp_path: Path) -> None:
    with Madeleine.open(tmp_path, in_process=True) as m:
        made = m.remember("The kettle is red", metadata=GIVEN)
        assert made.metadata == GIVEN
    assert '\nmetadata: {"ticket": "A-17", "seen": [1, 2.5, true, null]' in written(tmp_path)
    (tmp_path / "index.db").unlink()

    with Madeleine.open(tmp_path, in_process=True) as m:
        assert m.show(made.id).memory.metadata == GIVEN
        assert m.recall("kettle")[0].memory.metadata == GIVEN
        m.revise(made.id, metadata={"ticket": "A-18"})
        assert m.show(made.id).memory.metadata == {"ticket": "A-18"}
        m.revise(made.id, metadata=None)
        assert m.show(made.id).memory.metadata is None
    assert "metadata" not in written(tmp_path)


def test_a_note_that_has_something_else_under_that_key_is_read(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, said in (
        ("a", "metadata: nothing much"),
        ("b", "metadata:\n  colour: red # as ever\n  size:\n    - 1"),
        ("c", "metadata: {colour: red}"),
        ("d", "metadata:"),
    ):
        text = f"---\ntitle: {name}\n{said}\n---\nThe kettle {name}\n"
        (vault / f"{name}.md").write_text(text, encoding="utf-8")

    with Madeleine.open(tmp_path, in_process=True) as m:
        found = {each.title: each.metadata for each in m.list(limit=10)}
        m.revise(next(each.id for each in m.list() if each.title == "a"), title="A")

    assert found["a"] is None
    assert found["b"] == {"colour": "red", "size": ["1"]}
    assert found["c"] == {"colour": "red"}
    assert found["d"] is None
    assert "metadata: nothing much\n" in (vault / "a.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "given",
    [
        ["a list"],
        {"deep": {"2": {"3": {"4": {"5": {"6": {"7": {"8": {"9": 1}}}}}}}}},
        {"large": "x" * 70_000},
        {"no number": float("nan")},
    ],
)
def test_what_json_cannot_say_or_is_too_much_is_refused(tmp_path: Path, given: object) -> None:
    with Madeleine.open(tmp_path, in_process=True) as m:
        (outcome,) = m.remember_many([{"content": "The kettle is red", "metadata": given}])

    assert isinstance(outcome.error, InvalidValue)
    assert outcome.error.parts["field"] == "metadata"
