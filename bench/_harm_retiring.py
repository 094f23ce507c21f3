"""What the conflict detector retires without asking, on pairs whose truth is known.

*Look-alikes* are two notes that both hold: another person, another environment, a plan, a report, a
restatement. *Told changes* are a note and a newer one that says that it is over. Both were written
by hand. Every pair goes through the real job, in a space of its own, so that pairs do not meet.

With --data the labelled pairs of sentences follow, in both directions, none of which tells a
change; the labelled updates and contradictions of BEAM; and its long chats, every message of a
user as a plain note. Of the chats' notes only a labelled update may be retired.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from _measure import progress
from _recall_homes import remember_all
from _recall_report import Figure, Target
from _recall_sets import Draft, memory_id

from madeleine import Madeleine

PART = "retiring"
SAID = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = timedelta(days=8)
LEAST_RIGHT = 60
SETTINGS = """
[judge]
unasked = "{}"
[sleep]
breaker_share = 1.0
proposals_per_run = 10000
questions_most = 10000
"""
"""So that neither the breaker nor the bound on questions hides what the judge decides."""


@dataclass(frozen=True, slots=True)
class NotePair:
    """Two notes, the older first, and whether the newer one makes the older one untrue."""

    name: str
    older: str
    newer: str
    is_told: bool
    kind: str
    type: str = "fact"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of the job did with some pairs."""

    right: list[NotePair]
    wrong: list[NotePair]
    proposed: list[NotePair]


def measure(given: argparse.Namespace) -> list[Figure]:
    """Return how many notes were retired unasked, rightly and wrongly."""
    alike = read_pairs(given.pairs / "lookalikes.jsonl", is_told=False)
    told = read_pairs(given.pairs / "told.jsonl", is_told=True)
    found = {
        "look-alikes": run_pairs(alike, "look-alikes", given.unasked),
        "told": run_pairs(told, "told changes", given.unasked),
    }
    sizes = {"look-alikes": len(alike), "told": len(told)}
    chats: list[tuple[str, str]] = []
    if given.data is not None:
        sentences, conflicts = shared_pairs(given.data)
        found["sentences"] = run_pairs(sentences, "labelled sentences", given.unasked)
        found["conflicts"] = run_pairs(conflicts, "labelled conflicts", given.unasked)
        sizes |= {"sentences": len(sentences), "conflicts": len(conflicts)}
        chats, sizes["chats"] = run_chats(given.data, given.unasked)
    if given.show:
        _show(found, chats)
    return _figures(found, sizes, chats)


def _figures(
    found: Mapping[str, Outcome], sizes: Mapping[str, int], chats: Sequence[tuple[str, str]]
) -> list[Figure]:
    none, notes = Target(0, at_most=True), "pairs"
    rows = [
        Figure(
            PART, f"wrong unasked retirements, {name}", len(each.wrong), sizes[name], none, notes
        )
        for name, each in found.items()
    ]
    if "chats" in sizes:
        what = "wrong unasked retirements, long chats as plain notes"
        rows.append(Figure(PART, what, len(chats), sizes["chats"], none, "notes"))
    right = sum(len(each.right) for each in found.values())
    told = sum(sizes[each] for each in ("told", "conflicts") if each in sizes)
    wanted = Target(LEAST_RIGHT)
    rows.append(Figure(PART, "right unasked retirements", right, told, wanted, notes))
    for name, each in found.items():
        kinds = Counter(pair.kind for pair in each.proposed).most_common(4)
        note = ", ".join(f"{kind} {count}" for kind, count in kinds)
        rows.append(
            Figure(
                PART, f"proposals, {name}", len(each.proposed), sizes[name], unit=notes, note=note
            )
        )
    return rows


# -- pairs -------------------------------------------------------------------------------------


def read_pairs(path: Path, is_told: bool) -> list[NotePair]:
    """Return the pairs of a file, one JSON object in a line."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [
        NotePair(row["id"], row["a"], row["b"], is_told, row["kind"], row.get("type", "fact"))
        for row in rows
    ]


def shared_pairs(data: Path) -> tuple[list[NotePair], list[NotePair]]:
    """Return the labelled sentences in both directions, and the labelled conflicts."""
    rows = _read_rows(data / "pairs" / "pairs-dev.jsonl")
    sentences = [
        NotePair(f"s{place}{way}", older, newer, False, str(row["set"]))
        for place, row in enumerate(rows)
        for way, older, newer in (("a", row["a"], row["b"]), ("b", row["b"], row["a"]))
    ]
    conflicts = [
        NotePair(f"c{place}", row["a"], row["b"], row["label"] == "update", str(row["label"]))
        for place, row in enumerate(_read_rows(data / "pairs" / "conflicts-dev.jsonl"))
    ]
    return sentences, conflicts


def _read_rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def run_pairs(pairs: Sequence[NotePair], what: str, unasked: str, more: str = "") -> Outcome:
    """Remember pairs, each in a space of its own, let the job look at them, and see what it did.
    `more` are other settings of [sleep]."""
    drafts: list[Draft] = []
    by_id: dict[str, NotePair] = {}
    for pair in pairs:
        for side, text, at in (("older", pair.older, SAID), ("newer", pair.newer, SAID + LATER)):
            known_as = memory_id("harm", what, pair.name, side)
            by_id[known_as] = pair
            drafts.append(
                {"id": known_as, "content": text, "created": at, "type": pair.type,
                 "space": f"pair-{pair.name}"}
            )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="madeleine-harm-") as folder:
        home = Path(folder)
        (home / "config.toml").write_text(SETTINGS.format(unasked) + more, encoding="utf-8")
        with Madeleine.open(home, in_process=True) as opened:
            remember_all(opened, drafts, f"remembering {what}")
            progress(f"a night over {what}")
            opened.sleep("conflict_detector")
            retired = {each for each in by_id if opened.get(each).valid_until is not None}
            asked = {memory for proposal in opened.proposals() for memory in proposal.source_nodes}
    right, wrong = [], []
    for known_as in retired:
        pair = by_id[known_as]
        is_older = known_as == memory_id("harm", what, pair.name, "older")
        (right if pair.is_told and is_older else wrong).append(pair)
    proposed = {by_id[each].name: by_id[each] for each in asked if each in by_id}
    return Outcome(right, wrong, list(proposed.values()))


# -- chats -------------------------------------------------------------------------------------


def run_chats(data: Path, unasked: str) -> tuple[list[tuple[str, str]], int]:
    """Return what was retired of long chats, as (older, newer), unless it is a labelled update;
    and how many notes there were."""
    updates = {
        (row["a"].strip(), row["b"].strip())
        for row in _read_rows(data / "pairs" / "conflicts-dev.jsonl")
        if row["label"] == "update"
    }
    folders = sorted(path.parent for path in (data / "beam-100k").glob("*/chat.json"))
    drafts = [draft for folder in folders for draft in _chat_drafts(folder)]
    texts = {str(each["id"]): str(each["content"]) for each in drafts}
    with tempfile.TemporaryDirectory(prefix="madeleine-harm-") as folder_name:
        home = Path(folder_name)
        (home / "config.toml").write_text(SETTINGS.format(unasked), encoding="utf-8")
        with Madeleine.open(home, in_process=True) as opened:
            remember_all(opened, drafts, "remembering long chats")
            progress("a night over long chats")
            opened.sleep("conflict_detector")
            gone = [(each, opened.get(each).superseded_by) for each in texts]
    pairs = [(texts[old], texts[new]) for old, new in gone if new is not None]
    return [each for each in pairs if each not in updates], len(drafts)


def _chat_drafts(folder: Path) -> list[Draft]:
    batches = json.loads((folder / "chat.json").read_text(encoding="utf-8"))
    said = [
        message["content"].split("->->")[0].strip()
        for batch in batches
        for turn in batch["turns"]
        for message in turn
        if message["role"] == "user"
    ]
    return [
        {"id": memory_id("harm", "chat", folder.name, place), "content": text,
         "created": SAID + timedelta(hours=place), "space": f"chat-{folder.name}"}
        for place, text in enumerate(dict.fromkeys(said))
    ]  # fmt: skip


def _show(found: Mapping[str, Outcome], chats: Sequence[tuple[str, str]]) -> None:
    for name, outcome in found.items():
        for pair in outcome.wrong:
            print(f"wrong, {name}, {pair.kind}: {pair.older!r} by {pair.newer!r}")
    for older, newer in chats:
        print(f"wrong, chats: {older!r} by {newer!r}")
