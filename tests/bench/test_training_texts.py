"""The texts that weights are learnt from: whole, of the promised shape, and none of them twice."""

import json
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "bench" / "training"
RELATIONS = {
    *("same", "update", "contradiction", "related"),
    *("different", "supports", "part_of", "depends_on"),
}
UNWANTED = {
    *("definition", "arithmetic", "translation", "word", "general_knowledge"),
    *("small_talk", "control", "self_contained"),
}
WANTED = {"project", "identity", "time", "standing_rule", "follow_up"}


def blocks(path: Path) -> list[list[str]]:
    return [part.splitlines() for part in path.read_text(encoding="utf-8").strip().split("\n\n")]


@pytest.mark.parametrize(
    "path", sorted((FOLDER / "blocks").glob("*.txt")), ids=lambda each: each.stem
)
def test_a_block_has_a_note_a_look_alike_and_what_is_typed_to_them(path: Path) -> None:
    for lines in blocks(path):
        kinds = Counter(line[:3] for line in lines)

        assert set(kinds) <= {"n: ", "x: ", "p: ", "f: ", "q: ", "a: ", "s: "}, lines
        assert (kinds["n: "], kinds["x: "]) == (1, 1), lines
        assert kinds["p: "] >= 2, lines
        assert kinds["q: "] >= 1, lines
        assert kinds["s: "] >= 1, lines
        assert all("|" in line for line in lines if line.startswith("f: ")), lines


def test_no_note_is_written_twice() -> None:
    notes = Counter(
        line
        for path in (FOLDER / "blocks").glob("*.txt")
        for lines in blocks(path)
        for line in lines
        if line.startswith("n: ")
    )

    assert len(notes) > 2_000
    assert [note for note, count in notes.items() if count > 1] == []


def test_prompts_that_want_memory_and_those_that_do_not_are_of_known_kinds() -> None:
    rows = [
        line.split("\t")
        for path in (FOLDER / "wants").glob("*.txt")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]

    assert {len(row) for row in rows} == {2}
    assert {kind for kind, _ in rows} == UNWANTED | WANTED
    assert max(Counter(text for _, text in rows).values()) == 1


def test_pairs_have_one_of_the_eight_relations_each_as_often_as_another() -> None:
    rows = [
        json.loads(line)
        for path in (FOLDER / "pairs").glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]

    assert set(Counter(row["label"] for row in rows).values()) == {654}
    assert {row["label"] for row in rows} == RELATIONS
