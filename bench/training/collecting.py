"""What the product itself sees of each question: homes made through its door, its own features.

Homes are kept under the name of what they hold, so that a second run embeds nothing. After a
change of the product it brings their index up to date by itself, as for everybody.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.training.calibration import OWN, Scored
from bench.training.fit import Example, Weights, sums_of
from bench.training.heads import HeadPlan
from bench.training.values import Item, Question, Store
from madeleine import Madeleine
from madeleine.bootstrap import open_home
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.words import Tier
from madeleine.recall.scoring import LEAD, collect_training_example, join_rivals
from madeleine.rules.fusion import leads_over_others

DEEP = 60  # answers asked for: as deep as recall is measured
BEST = 20  # candidates of a question whose chances are looked at
WHOLE = "whole.json"  # in a home to which everything was written

Column = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """A question and its candidates, as recall sees them."""

    question: Question
    answers: NDArray[np.bool_]
    sessions: NDArray[np.int64]
    answer_sessions: frozenset[int]
    columns: Mapping[str, Column]
    heads: NDArray[np.str_]
    evidence: Mapping[str, float]
    words: tuple[frozenset[int], ...]
    """The stems of each candidate, by which recall tells what is of one matter."""


def gather(home: Path, store: Store, questions: Iterable[Question]) -> Iterator[Gathered]:
    """Yield what recall sees of each question in a home that holds the store."""
    ids = {memory_id(store, each): each for each in store.memories}
    numbers = _session_numbers(store)
    with closing(open_home(home)) as context:
        for question in questions:
            seen = collect_training_example(context.stores, query_of(question))
            known = [place for place, each in enumerate(seen.ids) if each in ids]
            items = [ids[seen.ids[place]] for place in known]
            yield Gathered(
                question=question,
                answers=np.array([each.id in question.gold for each in items], np.bool_),
                sessions=np.array([numbers[each.id] for each in items], np.int64),
                answer_sessions=frozenset(numbers[each] for each in question.gold) - {-1},
                columns={
                    name: found[known].astype(np.float32) for name, found in seen.columns.items()
                },
                heads=np.array(seen.heads, np.str_)[known],
                evidence=dict(seen.evidence),
                words=tuple(seen.words[place] for place in known),
            )


def query_of(question: Question) -> RecallQuery:
    """Return a question as recall is asked it, or a prompt as a whisper asks recall."""
    spaces = (question.space, None) if question.unasked and question.space else ()
    within = Filter(tiers=(Tier.CORE, Tier.WORKING), spaces=spaces)
    query = RecallQuery(question.text, limit=DEEP, space=question.space)
    return replace(query, filter=within) if question.unasked else query


def home_of(folder: Path, store: Store) -> Path:
    """Return a home that holds the store, made anew unless a whole one is there already."""
    drafts = [_draft(store, each) for each in store.memories]
    text = json.dumps([asdict(each) for each in store.memories], default=str)
    home = folder / f"{store.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    if not (home / WHOLE).exists():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        _remember(home, drafts)
        (home / WHOLE).write_text("{}\n", encoding="utf-8")
    return home


def memory_id(store: Store, item: Item) -> str:
    """Return the id of an item's memory: the same in every run."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{store.name}/{item.id}"))


def example_of(given: Gathered, plan: HeadPlan) -> Example:
    """Return the candidates that a head weighs, with its features."""
    mine = np.isin(given.heads, plan.candidates)
    return Example(
        features=np.stack([_column(given, name)[mine] for name in plan.names], axis=1),
        gold=given.answers[mine],
        n_gold_total=len(given.question.gold),
        kind=given.question.kind,
        sessions=given.sessions[mine],
        gold_sessions=given.answer_sessions,
    )


def scored_of(given: Gathered, plan: HeadPlan, weights: Weights) -> Scored:
    """Return the best candidates under a head's weights, for calibration. Leads are taken as recall
    takes them: an old value and the new one are ahead of the rest together."""
    example = example_of(given, plan)
    sums = sums_of(example, plan.names, weights)
    mine = np.flatnonzero(np.isin(given.heads, plan.candidates)).tolist()
    owners = np.arange(len(sums))
    if len(sums):
        owners = join_rivals(owners, sums, lambda spot: given.words[mine[spot]])
    best = np.argsort(-sums, kind="stable")[:BEST]
    kind = OWN if given.question.gold else given.question.kind
    leads = leads_over_others(sums, owners)
    return Scored(kind, sums[best], example.gold[best], {**given.evidence, LEAD: leads[best]})


def _column(given: Gathered, name: str) -> Column:
    """Return a feature of all candidates; one that they do not have says nothing."""
    return given.columns.get(name, np.zeros(len(given.answers), np.float32))


def _session_numbers(store: Store) -> dict[str, int]:
    """Return the number of each item's session, -1 for none."""
    names = dict.fromkeys(each.session for each in store.memories if each.session is not None)
    numbers = {name: number for number, name in enumerate(names)}
    return {each.id: numbers[each.session] if each.session else -1 for each in store.memories}


def _remember(home: Path, drafts: Sequence[Mapping[str, object]]) -> None:
    with Madeleine.open(home, in_process=True) as madeleine:
        for outcome in madeleine.remember_many(drafts):
            if outcome.error is not None:
                raise outcome.error


def _draft(store: Store, item: Item) -> dict[str, object]:
    origin = {"session": item.session, "turn": item.turn, "speaker": item.speaker}
    given = {
        "title": item.title,
        "created": item.created,
        "type": item.type,
        "space": item.space,
        "about_self": item.about_self,
        "origin": {name: value for name, value in origin.items() if value is not None},
    }
    return {"id": memory_id(store, item), "content": item.text} | {
        name: value for name, value in given.items() if value
    }
