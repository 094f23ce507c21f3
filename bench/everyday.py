"""How good a memory is at everyday notes: `madeleine bench everyday`, `python bench/everyday.py`.

The set is part of this repository (`bench/everyday`). Prompts, actions and questions go through
the public face on homes made in a temporary folder (`--cache` keeps them); pairs go to the local
judge, nights and sessions through the real jobs. `--system` measures another system on the same
prompts, actions and questions: plain cosine, SQLite's full-text search, Ormah where it is
installed, AutoMem where one runs. The test split is for release figures only.
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
from _everyday_automem import AutoMemSystem, find_automem
from _everyday_night import night_figures, sleep_store
from _everyday_ormah import find_ormah
from _everyday_pairs import name_relations, pair_figures
from _everyday_sessions import session_figures, take_in
from _everyday_set import SPLITS, read_pairs, read_sessions, read_stores
from _everyday_systems import CosineSystem, FullTextSystem, MadeleineSystem, System
from _measure import progress
from _recall_homes import Homes, bar
from _recall_report import Figure, document, measured, table, write_document

T = TypeVar("T")
R = TypeVar("R")

OURS = "madeleine"
SYSTEMS = (OURS, "cosine", "fts5", "ormah", "automem")
WITH_THRESHOLD = ("cosine", "fts5", "automem")
"""Systems that have no whisper of their own: what scores high enough is said."""

ThresholdSystem = CosineSystem | FullTextSystem | AutoMemSystem


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
    return pair_figures(name_relations(homes, read_pairs(split)))


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


def find_system(
    name: str, homes: Homes, address: str | None = None, after_night: bool = False
) -> System:
    """Return a system by its name, or say what is missing."""
    match name:
        case "cosine":
            return CosineSystem(homes)
        case "fts5":
            return FullTextSystem()
        case "ormah":
            return find_ormah(homes)
        case "automem":
            return find_automem(os.environ, address)
        case _:
            return MadeleineSystem(homes, after_night)


def with_threshold(
    system: ThresholdSystem, threshold: float | None, wanted: Sequence[str]
) -> ThresholdSystem:
    """Return a system that whispers from a score on: the given one, its own, or the best on train
    if it has none and the parts that are wanted need one."""
    if threshold is None and system.threshold is None and {"whisper", "actions"} & set(wanted):
        threshold, reached = fit(system)
        progress(f"a threshold of {threshold:.3f} has the best F1 on train, {reached:.3f}")
    return system if threshold is None else replace(system, threshold=threshold)


def fit(system: ThresholdSystem) -> tuple[float, float]:
    """Return the threshold that is best on the stores for training, and its F1."""
    without = replace(system, threshold=float("-inf"))
    asked = _each("fitting", read_stores("train"), lambda store: ask_prompts(without, store))
    return best_threshold([each for store in asked for each in store])


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; it has no targets of its own, so it ends with 0."""
    parser = _parser()
    given = parser.parse_args(argv)
    wanted = _wanted(parser, given)
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="madeleine-everyday-")
        homes = Homes(given.cache or Path(stack.enter_context(temporary)))
        system = find_system(given.system, homes, given.address, given.after_night)
        if isinstance(system, ThresholdSystem):
            if given.fit:
                threshold, reached = fit(system)
                best = f"a threshold of {threshold:.3f} has the best F1 on train, {reached:.3f}"
                print(f"{given.system}: {best}")
                return 0
            system = with_threshold(system, given.threshold, wanted)
        figures = list(_measure(homes, system, wanted, given.split))
    if given.json:
        about = {"benchmark": "everyday", "split": given.split, "system": given.system}
        if isinstance(system, ThresholdSystem):
            about["threshold"] = system.threshold
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
    fitted = ", ".join(WITH_THRESHOLD)
    parser.add_argument("--split", choices=SPLITS, default="dev", help="which stores (dev)")
    parser.add_argument("--only", default="", metavar="PARTS", help=f"some of {','.join(PARTS)}")
    parser.add_argument("--system", choices=SYSTEMS, default=OURS, help="what is measured")
    parser.add_argument("--address", metavar="URL", help="where AutoMem is (AUTOMEM_API_URL)")
    parser.add_argument(
        "--threshold", type=float, metavar="SCORE", help=f"whisper from this score on ({fitted})"
    )
    parser.add_argument(
        "--fit", action="store_true", help=f"fit that score on train and say it ({fitted})"
    )
    parser.add_argument(
        "--after-night", action="store_true", help="let a night go by first (madeleine)"
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the homes here")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="one JSON document")
    return parser


def _wanted(parser: argparse.ArgumentParser, given: argparse.Namespace) -> list[str]:
    """Return the parts to measure; refuse what does not go together."""
    named = [each.strip() for each in given.only.split(",") if each.strip()]
    for each in named:
        if each not in PARTS:
            parser.error(f"there is no part {each!r}; there are {', '.join(PARTS)}")
        if given.system != OURS and each not in FOR_ANY_SYSTEM:
            parser.error(f"{each} measures Madeleine only; leave --system out")
    if (given.fit or given.threshold is not None) and given.system not in WITH_THRESHOLD:
        parser.error(f"only {', '.join(WITH_THRESHOLD)} have a threshold")
    if given.address is not None and given.system != "automem":
        parser.error("--address is for --system automem")
    return named or list(PARTS if given.system == OURS else FOR_ANY_SYSTEM)


if __name__ == "__main__":
    sys.exit(main())
