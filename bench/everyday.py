"""How good a memory is at everyday notes: `madeleine bench everyday`, `python bench/everyday.py`.

The set is part of this repository (`bench/everyday`). Prompts, actions and questions go through
the public face on homes made in a temporary folder (`--cache` keeps them); pairs go to the local
judge, nights and sessions through the real jobs. `--system` measures another system on the same
prompts and questions. The test split is for release figures only.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _everyday_asking import (
    action_figures,
    ask_actions,
    ask_prompts,
    ask_questions,
    best_threshold,
    recall_figures,
    whisper_figures,
)
from _everyday_night import night_figures, sleep_store
from _everyday_pairs import judge_pairs, pair_figures
from _everyday_sessions import session_figures, take_in
from _everyday_set import SPLITS, read_pairs, read_sessions, read_stores
from _everyday_systems import SIMPLE, SYSTEMS, System
from _measure import progress
from _recall_homes import Homes, bar
from _recall_report import Figure, document, measured, table, write_document

T = TypeVar("T")
R = TypeVar("R")

OURS = "madeleine"


def whisper(homes: Homes, system: System, split: str) -> Iterable[Figure]:
    asked = _each("whispering", read_stores(split), lambda store: ask_prompts(system, store))
    return whisper_figures([each for store in asked for each in store])


def actions(homes: Homes, system: System, split: str) -> Iterable[Figure]:
    asked = _each("acting", read_stores(split), lambda store: ask_actions(system, store))
    return action_figures([each for store in asked for each in store])


def recall(homes: Homes, system: System, split: str) -> Iterable[Figure]:
    asked = _each("recalling", read_stores(split), lambda store: ask_questions(system, store))
    return recall_figures([each for store in asked for each in store])


def pairs(homes: Homes, system: System, split: str) -> Iterable[Figure]:
    return pair_figures(judge_pairs(homes, read_pairs(split)))


def sleep(homes: Homes, system: System, split: str) -> Iterable[Figure]:
    stores = read_stores(split)
    return night_figures(_each("sleeping", stores, lambda store: sleep_store(homes, store)))


def sessions(homes: Homes, system: System, split: str) -> Iterable[Figure]:
    given = read_sessions(split)
    return session_figures(_each("taking in", given, lambda session: take_in(homes, session)))


Part = Callable[[Homes, System, str], Iterable[Figure]]
PARTS: Mapping[str, Part] = {
    "whisper": whisper,
    "actions": actions,
    "recall": recall,
    "pairs": pairs,
    "sleep": sleep,
    "sessions": sessions,
}
FOR_ANY_SYSTEM = ("whisper", "actions", "recall")


def fit(homes: Homes, name: str) -> str:
    """Return the threshold of a simple system that is best on the stores for training."""
    system = replace(SIMPLE[name](homes), threshold=float("-inf"))
    stores = read_stores("train")
    asked = _each("fitting", stores, lambda store: ask_prompts(system, store))
    threshold, reached = best_threshold([each for store in asked for each in store])
    return f"{name}: a threshold of {threshold:.3f} has the best F1 on train, {reached:.3f}"


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; it has no targets of its own, so it ends with 0."""
    parser = _parser()
    given = parser.parse_args(argv)
    wanted = _wanted(parser, given.only, given.system)
    if given.fit and given.system not in SIMPLE:
        parser.error(f"--fit is for a simple system: --system {' or '.join(SIMPLE)}")
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="madeleine-everyday-")
        homes = Homes(given.cache or Path(stack.enter_context(temporary)))
        if given.fit:
            print(fit(homes, given.system))
            return 0
        system = SYSTEMS[given.system](homes)
        figures = list(_measure(homes, system, wanted, given.split))
    if given.json:
        about = {"benchmark": "everyday", "split": given.split, "system": given.system}
        found = {**json.loads(document(figures, ())), **about}
        write_document(given.json, json.dumps(found, indent=2, ensure_ascii=False))
    if given.json != "-":
        print(table(figures))
    return 0


def _measure(homes: Homes, system: System, wanted: Sequence[str], split: str) -> Iterator[Figure]:
    for part in wanted:
        for figure in PARTS[part](homes, system, split):
            progress(f"{figure.part}: {figure.what} {measured(figure)}")
            yield figure


def _each(what: str, given: Sequence[T], do: Callable[[T], R]) -> list[R]:
    """Return what is done with each, and show how far it is."""
    done = []
    with bar(what) as advance:
        for each in given:
            done.append(do(each))
            advance(len(done), len(given))
    return done


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench everyday", description=__doc__)
    parser.add_argument("--split", choices=SPLITS, default="dev", help="which stores (dev)")
    parser.add_argument("--only", default="", metavar="PARTS", help=f"some of {','.join(PARTS)}")
    parser.add_argument("--system", choices=tuple(SYSTEMS), default=OURS, help="what is measured")
    parser.add_argument(
        "--fit", action="store_true", help=f"fit the threshold of {' or '.join(SIMPLE)} on train"
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the homes here")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="one JSON document")
    return parser


def _wanted(parser: argparse.ArgumentParser, only: str, system: str) -> list[str]:
    named = [each.strip() for each in only.split(",") if each.strip()]
    for each in named:
        if each not in PARTS:
            parser.error(f"there is no part {each!r}; there are {', '.join(PARTS)}")
        if system != OURS and each not in FOR_ANY_SYSTEM:
            parser.error(f"{each} measures Madeleine only; leave --system out")
    return named or list(PARTS if system == OURS else FOR_ANY_SYSTEM)


if __name__ == "__main__":
    sys.exit(main())
