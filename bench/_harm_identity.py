"""What a prompt brings about the person: fillers bring nothing, a question brings its answer.

Three people, each with a store of their own (`harm/selves.jsonl`), type every filler of
`harm/fillers.jsonl` and their own questions of `harm/identity.jsonl`. The nurse and every second
filler (`held_out`) were not looked at while the rules were written. The first look found one filler
that leaks, for each of the three, and 31 of 34 questions answered; what it showed was mended after.

`wants` are the memories that a question has to bring, all of them; `ok` may come besides. `*`
stands for anything about the person. Run it alone by `python bench/_harm_identity.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _recall_report import Figure, Target, table

from madeleine import Madeleine

SETS = Path(__file__).parent / "harm"
PART = "identity"
ANYTHING = "*"
LEAST_ANSWERED = 0.85

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SelfAnswer:
    """A row of a set, and the keys of what the whisper brought about the person."""

    row: Row
    person: str
    about_self: frozenset[str]

    @property
    def is_exact(self) -> bool:
        """Whether a question brought what it wants, and nothing else about the person."""
        wants, ok = set(self.row["wants"]), set(self.row["ok"])
        if ANYTHING in wants:
            return bool(self.about_self)
        brought = wants <= self.about_self
        return brought and (ANYTHING in ok or self.about_self <= wants | ok)


def read_rows(name: str) -> list[Row]:
    """Return the rows of a set."""
    lines = (SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@contextmanager
def open_person(folder: Path, person: str) -> Iterator[tuple[Madeleine, Mapping[str, str]]]:
    """Lend the home of a person, and the key of each memory about them by its id."""
    rows = [each for each in read_rows("selves") if each["person"] == person]
    drafts = [{name: each[name] for name in ("content", "type", "about_self")} for each in rows]
    with Madeleine.open(folder / person, in_process=True) as opened:
        keys: dict[str, str] = {}
        for outcome, each in zip(opened.remember_many(drafts), rows, strict=True):
            if outcome.error is not None:
                raise outcome.error
            if each["about_self"]:
                keys[str(outcome.id)] = str(each["key"])
        yield opened, keys


def type_prompts(
    opened: Madeleine, keys: Mapping[str, str], person: str, rows: Sequence[Row]
) -> list[SelfAnswer]:
    """Type each prompt as the only one of its session, and note what it brings."""
    answers = []
    for row in rows:
        said = opened.whisper(row["prompt"])
        brought = frozenset(
            keys[each.memory.id] for each in said.injected if each.memory.id in keys
        )
        answers.append(SelfAnswer(row, person, brought))
    return answers


def ask_everybody(folder: Path) -> tuple[list[SelfAnswer], list[SelfAnswer]]:
    """Return the answers to all fillers, typed by each person, and to all questions."""
    fillers: list[SelfAnswer] = []
    questions: list[SelfAnswer] = []
    for person in dict.fromkeys(each["person"] for each in read_rows("selves")):
        mine = [each for each in read_rows("identity") if each["person"] == person]
        with open_person(folder, person) as (opened, keys):
            fillers += type_prompts(opened, keys, person, read_rows("fillers"))
            questions += type_prompts(opened, keys, person, mine)
    return fillers, questions


def measure(given: argparse.Namespace) -> list[Figure]:
    """Return how many fillers bring something about the person, and how many questions bring
    what they ask for and nothing else, each also for what was held out."""
    with tempfile.TemporaryDirectory(prefix="madeleine-harm-") as folder:
        fillers, questions = ask_everybody(Path(folder))
    nothing, enough = Target(0, at_most=True), Target(LEAST_ANSWERED)
    held_out = [each for each in fillers if each.row["held_out"]]
    asked_held_out = [each for each in questions if each.row["held_out"]]
    return [
        Figure(
            PART, "fillers that bring the self", _leaks(fillers), len(fillers), nothing, "prompts"
        ),
        Figure(PART, "the same, held out", _leaks(held_out), len(held_out), nothing, "prompts"),
        Figure(PART, "questions answered exactly", _exact(questions), len(questions), enough),
        Figure(PART, "the same, held out", _exact(asked_held_out), len(asked_held_out), enough),
    ]


def _leaks(answers: Sequence[SelfAnswer]) -> int:
    return sum(bool(each.about_self) for each in answers)


def _exact(answers: Sequence[SelfAnswer]) -> float:
    return sum(each.is_exact for each in answers) / len(answers)


def main(argv: list[str] | None = None) -> int:
    """Run this part alone; 0 when every target is met."""
    figures = measure(argparse.ArgumentParser(description=__doc__).parse_args(argv))
    print(table(figures))
    return 1 if any(each.passed is False for each in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
