"""What holds of recall whatever is kept and whatever is asked."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from madeleine.errors import Rejected
from madeleine.model.draft import Draft
from madeleine.model.memory import Connection, Memory, Origin
from madeleine.model.query import Filter, RecallQuery, read_query
from madeleine.model.words import ABOUT_SELF, Edge, MemoryType, Tier
from madeleine.recall.recall import RecallResult, recall
from madeleine.recall.weights import HEADS, shipped_weights
from madeleine.rules.fusion import (
    RecallHead,
    calibrate_sums,
    display_score,
    lift_chance,
    weighted_sums,
)
from madeleine.write.remember_many import remember_many
from madeleine.write.stores import Stores
from tests.examples import some_of
from tests.fakes import NOON, FakeClock, close, keep, make_stores, reopened
from tests.sentences import in_words

DAY = timedelta(days=1)
NEARLY = 2e-4  # scores are shown with four digits

WORDS = ["cat", "dog", "moon", "tea", "sqlite", "猫", "قمر", "rocket", "été", "Anna", "harbour"]
FOREIGN = ["zeppelin", "xylophone", "quorum", "vortex", "jigsaw", "fjord"]
# A timeout in the middle of a write would look like a memory that was lost.
pytestmark = pytest.mark.timeout(300)

SLOW = settings(
    max_examples=some_of(20),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
moments = st.sampled_from([NOON - days * DAY for days in (0, 1, 2, 10, 40, 300)])
questions = st.one_of(
    texts,
    st.sampled_from(
        [
            "what did I do yesterday?", "what does my cat drink?", "the latest tea", "who is Anna?",
            "cat in the last 2 weeks", '"cat dog"', "what happened in October?", "tea since Monday",
        ]
    ),
)  # fmt: skip


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    about_self = draw(st.booleans())
    tags = draw(st.lists(st.sampled_from(["red", "blue"]), unique=True))
    session = draw(st.none() | st.sampled_from(["s1", "s2"]))
    speaker = draw(st.sampled_from(["Anna", "Boris"]))
    return Draft(
        content=draw(texts),
        type=draw(st.sampled_from([MemoryType.FACT, MemoryType.GOAL, MemoryType.EVENT])),
        tier=draw(st.sampled_from(Tier)),
        space=draw(st.none() | st.sampled_from(["atlas", "borneo"])),
        title=draw(st.none() | texts),
        tags=(*tags, ABOUT_SELF) if about_self else tuple(tags),
        about_self=about_self,
        confidence=draw(st.sampled_from([0.0, 0.5, 1.0])),
        created=draw(moments),
        valid_until=draw(st.none() | st.sampled_from([NOON - DAY, NOON + DAY])),
        origin=None if session is None else Origin(session, draw(st.integers(0, 9)), speaker),
        id=str(draw(st.uuids(version=4))),
    )


@st.composite
def stocks(draw: st.DrawFn) -> list[Draft]:
    """Some drafts, of which some point to others."""
    found = draw(st.lists(drafts(), min_size=1, max_size=8, unique_by=lambda draft: draft.id))
    linked = []
    for draft in found:
        targets = [each.id for each in found if each.id != draft.id]
        links = st.builds(
            Connection,
            target=st.sampled_from(targets) if targets else st.nothing(),
            edge=st.sampled_from(Edge),
            weight=st.sampled_from([0.3, 1.0]),
        )
        chosen = draw(st.lists(links, max_size=2)) if targets else []
        linked.append(replace(draft, connections=tuple(chosen)))
    return linked


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    some = st.booleans()
    return Filter(
        types=(MemoryType.FACT, MemoryType.EVENT)[: draw(st.integers(0, 2))],
        tiers=(Tier.WORKING, Tier.CORE)[: draw(st.integers(0, 2))],
        spaces=("atlas", None)[: draw(st.integers(0, 2))],
        tags=("red", "blue")[: draw(st.integers(0, 2))],
        created_after=draw(moments) if draw(some) else None,
        created_before=draw(moments) if draw(some) else None,
        as_of=draw(moments) if draw(some) else None,
        outdated=draw(some),
    )


@contextmanager
def stocked(stock: Sequence[Draft], with_model: bool = True) -> Iterator[tuple[Stores, Path]]:
    """Stores that hold these drafts, and where they are."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        stores = make_stores(home, FakeClock(NOON), with_model=with_model)
        remember_many(stores, stock)
        try:
            yield stores, home
        finally:
            close(stores)


def ask(stores: Stores, text: str, **fields: object) -> RecallResult:
    return recall(stores, RecallQuery(text, **fields), touch=False)  # type: ignore[arg-type]


def ranking(stores: Stores, text: str) -> dict[str, float]:
    """Return the answers with their scores, best first."""
    return {hit.memory.id: hit.score for hit in ask(stores, text, limit=100).hits}


def same_ranking(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether two rankings agree; those whose scores are as good as equal may change places."""
    if one.keys() != other.keys():
        return False
    close_by = all(abs(score - other[each]) <= NEARLY for each, score in one.items())
    pairs = zip(one, other, strict=True)
    return close_by and all(abs(one[here] - one[there]) <= NEARLY for here, there in pairs)


# -- filters -------------------------------------------------------------------------------


def passes(memory: Memory, chosen: Filter, now: datetime) -> bool:
    """Whether the filter lets a memory through, as its documentation says it."""
    moment = chosen.as_of or now
    over = memory.valid_until is not None and memory.valid_until <= moment
    return (
        (not chosen.types or memory.type in chosen.types)
        and (not chosen.tiers or memory.tier in chosen.tiers)
        and (not chosen.spaces or memory.space in chosen.spaces)
        and (not chosen.tags or not set(chosen.tags).isdisjoint(memory.tags))
        and (chosen.created_after is None or memory.created >= chosen.created_after)
        and (chosen.created_before is None or memory.created < chosen.created_before)
        and (chosen.as_of is None or memory.created <= chosen.as_of)
        and (chosen.outdated or not over)
    )


@pytest.mark.proves("I11")
@SLOW
@given(stock=stocks(), chosen=st.lists(filters(), min_size=5, max_size=5), text=questions)
def test_a_filter_never_lets_a_foreign_memory_through(
    stock: list[Draft], chosen: list[Filter], text: str
) -> None:
    with stocked(stock) as (stores, _):
        for each in chosen:
            for hit in ask(stores, text, filter=each, limit=100).hits:
                assert passes(hit.memory, each, stores.clock.now())


@pytest.mark.proves("I11")
@SLOW
@given(stock=stocks(), chosen=filters(), text=questions)
def test_what_passes_the_filter_and_holds_the_word_is_found(
    stock: list[Draft], chosen: Filter, text: str
) -> None:
    """No time is in the question, so nothing but the filter keeps a memory out."""
    word = text.split()[0]
    assume(word in WORDS)
    with stocked(stock) as (stores, _):
        found = {hit.memory.id for hit in ask(stores, word, filter=chosen, limit=100).hits}
        for each in stores.search.listing(Filter(outdated=True), NOON, 100):
            holds = word in each.content.split()
            if holds and passes(each, chosen, stores.clock.now()):
                assert each.id in found


# -- answers -------------------------------------------------------------------------------


@SLOW
@given(stock=stocks(), text=questions, limit=st.integers(1, 12), with_model=st.booleans())
def test_answers_are_bounded_sorted_and_each_memory_is_one(
    stock: list[Draft], text: str, limit: int, with_model: bool
) -> None:
    with stocked(stock, with_model) as (stores, _):
        recalled = ask(stores, text, limit=limit)
        scores = [hit.score for hit in recalled.hits]
        ids = [hit.memory.id for hit in recalled.hits]

    assert len(ids) == len(set(ids)) <= limit
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert (in_words(recalled.silence) is None) == bool(ids)


@SLOW
@given(stock=stocks(), text=questions)
def test_fewer_answers_are_the_first_of_more(stock: list[Draft], text: str) -> None:
    with stocked(stock) as (stores, _):
        all_of_them = list(ranking(stores, text))
        first = [hit.memory.id for hit in ask(stores, text, limit=2).hits]

    assert first == all_of_them[:2]


@SLOW
@given(stock=stocks(), text=questions, with_model=st.booleans(), random=st.randoms())
def test_the_order_of_writing_does_not_change_the_ranking(
    stock: list[Draft], text: str, with_model: bool, random: Random
) -> None:
    shuffled = list(stock)
    random.shuffle(shuffled)
    distinct = {(each.content, each.space): each for each in stock}.values()
    assume(len(distinct) == len(stock))  # of two that say the same, the first written stays

    with stocked(stock, with_model) as (one, _), stocked(shuffled, with_model) as (other, _):
        assert same_ranking(ranking(one, text), ranking(other, text))


@pytest.mark.proves("I2")
@SLOW
@given(stock=stocks(), asked=st.lists(questions, min_size=3, max_size=3))
def test_deleting_the_index_changes_no_answer(stock: list[Draft], asked: list[str]) -> None:
    with stocked(stock) as (stores, home):
        before = [ranking(stores, text) for text in asked]
        fresh = reopened(stores, home, without_index=True)
        after = [ranking(fresh, text) for text in asked]
        close(fresh)

    assert all(map(same_ranking, before, after))


# -- what does not belong to the question --------------------------------------------------

five_words = st.lists(st.sampled_from(WORDS), min_size=5, max_size=5).map(" ".join)
foreign_words = st.permutations(FOREIGN).map(lambda words: " ".join(words[:5]))


@pytest.mark.proves("I10")
@SLOW
@given(
    kept=st.lists(five_words, min_size=2, max_size=6, unique=True),
    foreign=st.lists(foreign_words, min_size=1, max_size=4, unique=True),
    word=st.sampled_from(WORDS),
    with_model=st.booleans(),
)
def test_what_is_irrelevant_changes_nobody_elses_order(
    kept: list[str], foreign: list[str], word: str, with_model: bool
) -> None:
    """More memories make a word rarer, which may count for more against meaning. Of two that
    hold it alike, nothing explains another order."""
    stock = [Draft(text, created=NOON - DAY, id=id_of(n)) for n, text in enumerate(kept)]
    with stocked(stock, with_model) as (stores, _):
        before = in_order(stores, word)
        remember_many(stores, [Draft(text, created=NOON - DAY) for text in foreign])
        after = in_order(stores, word)

    for one, said in before.items():
        for other, says in before.items():
            if one in after and other in after and said[1] == says[1]:
                ahead = said[0] > says[0] + NEARLY
                assert not (ahead and after[one][0] < after[other][0] - NEARLY)


def in_order(stores: Stores, word: str) -> dict[str, tuple[float, float]]:
    """Return the score of each answer, and how much of it words are."""
    found = {}
    for hit in ask(stores, word, limit=100, explain=True).hits:
        assert hit.explained is not None
        found[hit.memory.id] = (hit.score, hit.explained.features["words"])
    return found


def id_of(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


# -- any text ------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["with a model", "without"])
def some(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stores]:
    """Stores that a whole property asks, because asking changes nothing here."""
    with_model = request.param == "with a model"
    stores = make_stores(tmp_path_factory.mktemp("home"), with_model=with_model)
    for text in ("the cat sleeps", "私は猫が好きです", "tea \x00 and \ufeff moon", "x" * 3_000):
        keep(stores, text, origin=Origin("s1", len(text), "Anna"))
    yield stores
    close(stores)


any_text = st.one_of(
    st.text(st.characters(), max_size=200),  # surrogates and NUL included
    st.text("\"'*()^:-+{}[]~\\/ ANDORTNEacth\x00\n", max_size=60),
    st.builds(lambda unit: (unit * 100_000)[:100_000], st.text(st.characters(), min_size=1)),
)


@settings(max_examples=120, deadline=None)
@given(text=any_text)
def test_any_text_is_answered_or_clearly_refused(some: Stores, text: str) -> None:
    asked = {"query": text, "explain": True, "why_not": text}
    half_a_letter = any("\ud800" <= each <= "\udfff" for each in text)
    if not text.strip() or half_a_letter:
        with pytest.raises(Rejected, match="`query`"):
            read_query(asked)
        return

    recalled = recall(some, read_query(asked), touch=False)

    assert recalled.hits or in_words(recalled.silence)
    assert all(0 <= hit.score <= 1 for hit in recalled.hits)


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(), max_size=300))
def test_asking_twice_gives_the_same_answer(some: Stores, text: str) -> None:
    assert same_ranking(ranking(some, text), ranking(some, text))


# -- fusion --------------------------------------------------------------------------------

heads = st.sampled_from(HEADS).map(lambda name: shipped_weights()[name])
values = st.floats(-1, 3)


@st.composite
def features(draw: st.DrawFn) -> tuple[RecallHead, dict[str, float]]:
    head = draw(heads)
    return head, {name: draw(values) for name in head.weights}


def chance(head: RecallHead, told: dict[str, float], evidence: dict[str, float]) -> float:
    columns = {name: np.array([value]) for name, value in told.items()}
    return float(calibrate_sums(head, weighted_sums(head, columns), evidence)[0])


@given(asked=features(), more=st.floats(0, 2), data=st.data())
def test_a_chance_follows_the_sign_of_each_weight(
    asked: tuple[RecallHead, dict[str, float]], more: float, data: st.DataObject
) -> None:
    head, told = asked
    name = data.draw(st.sampled_from(sorted(told)))

    before = chance(head, told, {})
    after = chance(head, told | {name: told[name] + more}, {})

    assert 0 <= before <= 1
    assert (after - before) * head.weights[name] >= -1e-12


@given(asked=features(), data=st.data())
def test_a_source_that_gives_nothing_changes_nothing(
    asked: tuple[RecallHead, dict[str, float]], data: st.DataObject
) -> None:
    head, told = asked
    missing = data.draw(st.sets(st.sampled_from(sorted(told)), max_size=len(told) - 1))
    without = {name: value for name, value in told.items() if name not in missing}

    nothing = chance(head, told | dict.fromkeys(missing, 0.0), {})

    assert chance(head, without, {}) == pytest.approx(nothing)
    assert chance(head, without | {"unheard of": 9.0}, {}) == pytest.approx(nothing)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_lift_never_lowers_and_never_passes_certainty(before: float, lift: float) -> None:
    assert before - 1e-12 <= lift_chance(before, lift) <= 1
    assert 0 <= display_score(lift_chance(before, lift)) <= 1
