"""Every number behind a score is shown and adds up; and who is missing is told why."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from madeleine.model.cause import ReasonKind
from madeleine.model.draft import Draft
from madeleine.model.memory import Memory, Origin
from madeleine.model.words import ABOUT_SELF, Edge, MemoryType, Tier
from madeleine.recall.explaining import Absence, ScoreExplanation
from madeleine.recall.recall import RecallMatch
from madeleine.recall.scoring import heads_of
from madeleine.recall.weights import HEADS, shipped_weights
from madeleine.rules.fusion import (
    CONFIDENCE_FLOOR,
    LIFT_QUOTED,
    OTHER_SPACE_FACTOR,
    OUTDATED_FACTOR,
    RECENCY_BOOST,
    RecallHead,
    blend_with_rerank,
    calibrate_sums,
    display_score,
    lift_chance,
    weighted_sums,
)
from madeleine.write.config import RecallConfig
from madeleine.write.revise import retire
from madeleine.write.stores import Stores
from tests.fakes import NOON, close, keep, make_stores
from tests.recall.asking import ask, connect, first, hit_of, keep_many, services

DAY = timedelta(days=1)
ROUNDED = 2e-3  # features are shown with four digits, and a head adds up some thirty of them


def numbers(hit: RecallMatch) -> ScoreExplanation:
    assert hit.explained is not None
    return hit.explained


def chance_of(head: RecallHead, explained: ScoreExplanation) -> float:
    """Return the chance that the shown features and the head come to."""
    columns = {name: np.array([value]) for name, value in explained.features.items()}
    return float(calibrate_sums(head, weighted_sums(head, columns), explained.evidence)[0])


def score_of(explained: ScoreExplanation, blend: float = 0.6) -> float:
    """Return the score that the shown chance, lifts, boosts and stages come to."""
    assert explained.chance is not None
    chance = explained.chance
    for lift in explained.lifts.values():
        chance = lift_chance(chance, lift)
    score = chance * math.prod(explained.boosts.values())
    if explained.cross_encoder is not None:
        score = blend_with_rerank(score, explained.cross_encoder, blend)
    return score if explained.inherited is None else explained.inherited


# -- adding up -----------------------------------------------------------------------------


@pytest.fixture(params=["with a model", "without"])
def lived_in(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    """A little of everything that a score may be made of."""
    stores = make_stores(tmp_path / "home", with_model=request.param == "with a model")
    keep(stores, "the amber lantern hangs in the hall", tier=Tier.CORE, confidence=0.7)
    keep(stores, "a lantern, long ago", tier=Tier.ARCHIVAL, created=NOON - 90 * DAY, space="attic")
    keep(stores, "my lantern is green", about_self=True, tags=(ABOUT_SELF,))
    keep(stores, "no lantern at all", valid_until=NOON - DAY)
    for turn, (speaker, text) in enumerate(
        [("Anna", "where is the lantern?"), ("Boris", "Yes, in the cellar"), ("Anna", "thanks!")]
    ):
        keep(stores, text, origin=Origin("s1", turn, speaker))
    part = keep(stores, "oil is bought on Fridays")
    connect(stores, part, Edge.PART_OF, ask(stores, "lantern").hits[0].memory)
    yield stores
    close(stores)


QUESTIONS = [
    "where does the lantern hang?",
    "where is my lantern?",
    'who said "in the cellar"?',
    "what did Anna say about the latest lantern in November?",
    "lantern",
]


@pytest.mark.few(6)
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_numbers_shown_add_up_to_the_score(lived_in: Stores, question: str) -> None:
    recalled = ask(lived_in, question, explain=True, outdated=True, space="cellar")

    assert recalled.hits
    heads = heads_of(lived_in)
    for hit in recalled.hits:
        told = numbers(hit)
        assert told.head is not None
        assert told.chance == pytest.approx(chance_of(heads[told.head], told), abs=ROUNDED)
        assert hit.score == pytest.approx(display_score(score_of(told)), abs=ROUNDED)


@pytest.mark.few(4)
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_feature_that_is_weighed_is_shown_with_its_weight(
    lived_in: Stores, question: str
) -> None:
    for hit in ask(lived_in, question, explain=True).hits:
        told = numbers(hit)
        assert told.head in HEADS
        weights = heads_of(lived_in)[told.head].weights
        assert told.weights == {
            name: weight for name, weight in weights.items() if name in told.features
        }
        assert all(math.isfinite(value) for value in told.features.values())
        assert set(heads_of(lived_in)[told.head].calibration.evidence) <= set(told.evidence)
        if told.head != "words" or lived_in.minds.embedder is None:
            assert set(told.weights) == set(weights)


def test_which_head_weighs_says_what_is_known_of_a_memory(lived_in: Stores) -> None:
    recalled = ask(lived_in, "lantern in the cellar", explain=True)

    heads = {hit.memory.content: numbers(hit).head for hit in recalled.hits}
    if lived_in.minds.embedder is None:
        assert set(heads.values()) == {"words"}
    else:
        assert heads["Yes, in the cellar"] == "dialogue"
        assert heads["the amber lantern hangs in the hall"] == "kept"


def test_nothing_is_explained_unless_asked_for(lived_in: Stores) -> None:
    assert all(hit.explained is None for hit in ask(lived_in, "lantern").hits)


def test_other_weights_than_the_shipped_ones_are_the_ones_shown(stores: Stores) -> None:
    keep(stores, "the amber lantern hangs in the hall")
    plain = shipped_weights()["kept"]
    odd = {**shipped_weights(), "kept": RecallHead({"coverage": 4.25}, plain.calibration)}

    hit = first(replace(stores, config=replace(stores.config, heads=odd)), "lantern", explain=True)

    assert numbers(hit).weights == {"coverage": 4.25}
    assert numbers(hit).chance == pytest.approx(chance_of(odd["kept"], numbers(hit)), abs=ROUNDED)


# -- each documented boost -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "name", "factor"),
    [
        ({"tier": Tier.CORE}, "tier", 1.10),
        ({"tier": Tier.WORKING}, "tier", 1.00),
        ({"tier": Tier.ARCHIVAL}, "tier", 0.90),
        ({"confidence": 1.0}, "confidence", 1.0),
        ({"confidence": 0.5}, "confidence", (1 + CONFIDENCE_FLOOR) / 2),
        ({"confidence": 0.0}, "confidence", CONFIDENCE_FLOOR),
        ({"space": "atlas"}, "space", 1.0),
        ({"space": None}, "space", 1.0),
        ({"space": "elsewhere"}, "space", OTHER_SPACE_FACTOR),
        ({"created": NOON - 7 * DAY}, "recency", 1 + RECENCY_BOOST / 2),
        ({"valid_until": NOON - DAY}, "validity", OUTDATED_FACTOR),
        ({"valid_until": NOON + DAY}, "validity", 1.0),
    ],
)
def test_each_boost_is_the_documented_one(
    stores: Stores, fields: dict[str, object], name: str, factor: float
) -> None:
    keep(stores, "the amber lantern", **fields)

    hit = first(stores, "lantern", explain=True, outdated=True, space="atlas")

    assert numbers(hit).boosts[name] == pytest.approx(factor, abs=1e-4)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"tier": Tier.CORE}, {"tier": Tier.WORKING}),
        ({"tier": Tier.WORKING}, {"tier": Tier.ARCHIVAL}),
        ({"confidence": 0.9}, {"confidence": 0.4}),
        ({"space": "atlas"}, {"space": "elsewhere"}),
        ({}, {"valid_until": NOON - DAY}),
    ],
)
def test_of_two_that_fit_alike_the_boosted_comes_first(
    tmp_path: Path, better: dict[str, object], worse: dict[str, object]
) -> None:
    """Also when the other is the newer one."""
    stores = make_stores(tmp_path / "home", with_model=False)
    wanted = keep(stores, "the amber lantern", **better)
    keep(stores, "the beige lantern", **worse)

    assert first(stores, "lantern", outdated=True, space="atlas").memory.id == wanted.id
    close(stores)


def test_use_raises_a_little(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    used = keep(stores, "the amber lantern")
    fresh = keep(stores, "the beige lantern")
    for session in range(5):
        ask(stores, used.id, touch=True, limit=1, session_id=f"s{session}")

    recalled = ask(stores, "lantern", explain=True)

    assert recalled.hits[0].memory.id == used.id
    often, never = (numbers(hit_of(each, recalled)).boosts["use"] for each in (used, fresh))
    assert 1 == never < often <= 1.05
    close(stores)


def test_a_memory_named_by_its_id_is_certain_whatever_its_boosts(stores: Stores) -> None:
    memory = keep(stores, "the amber lantern", tier=Tier.ARCHIVAL, confidence=0.1)

    hit = first(stores, memory.short_id, explain=True)

    assert hit.score == 1
    assert numbers(hit).boosts == {}
    assert numbers(hit).lifts == {ReasonKind.NAMED_BY_ID: 1.0}


def test_a_quote_lifts_half_way_to_certainty(stores: Stores) -> None:
    keep(stores, "the amber lantern")

    hit = first(stores, '"amber lantern"', explain=True)

    assert numbers(hit).lifts == {ReasonKind.HOLDS_QUOTE: LIFT_QUOTED}
    assert hit.score >= display_score(LIFT_QUOTED)


# -- why not -------------------------------------------------------------------------------


def why_not(stores: Stores, question: str, missed: str, **fields: object) -> str:
    said = ask(stores, question, why_not=missed, **fields).why_not
    assert said is not None
    return said


def test_nobody_missed_is_nobody_told_of(stores: Stores) -> None:
    keep(stores, "the amber lantern")

    assert ask(stores, "lantern").why_not is None


def test_a_missing_id_is_said_to_be_missing(stores: Stores) -> None:
    keep(stores, "the amber lantern")

    assert why_not(stores, "lantern", "00000000") == "there is no such memory"
    assert why_not(stores, "lantern", str(uuid.UUID(int=0))) == "there is no such memory"
    assert why_not(stores, "lantern", "%") == "there is no such memory"
    assert why_not(stores, "lantern", "猫") == "there is no such memory"


def test_an_id_that_fits_several_is_said_to(stores: Stores) -> None:
    for number in range(2):
        keep(stores, f"lantern {number}", id=f"97acbe8e-0000-4000-8000-00000000000{number}")

    assert why_not(stores, "lantern", "97acbe8e") == "several ids begin like that"


def test_one_that_is_there_is_said_to_be_with_its_place(stores: Stores) -> None:
    memory = keep(stores, "the amber lantern")

    expected = f"{memory.short_id} is there: number 1"
    assert why_not(stores, "lantern", memory.id) == expected
    assert why_not(stores, "lantern", memory.short_id[:6]) == expected
    assert why_not(stores, "lantern", memory.short_id.upper()) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("types", (MemoryType.GOAL,)),
        ("tiers", (Tier.CORE,)),
        ("spaces", ("elsewhere",)),
        ("tags", ("unused",)),
        ("created_after", NOON + DAY),
        ("created_before", NOON - DAY),
        ("as_of", NOON - DAY),
    ],
)
def test_the_part_of_the_filter_that_keeps_it_out_is_named(
    stores: Stores, name: str, value: object
) -> None:
    memory = keep(stores, "the amber lantern")

    said = why_not(stores, "lantern", memory.id, **{name: value})

    assert said == f"{memory.short_id} is left out by the filter `{name}`"


def test_every_part_that_keeps_it_out_is_named_and_no_other(stores: Stores) -> None:
    memory = keep(stores, "the amber lantern", tags=("kept",))

    said = why_not(
        stores, "lantern", memory.id, types=(MemoryType.GOAL,), spaces=("x",), tags=("kept",)
    )

    assert said.endswith("is left out by the filter `types`, the filter `spaces`")


@pytest.mark.parametrize("fields", [{}, {"tiers": (Tier.WORKING,)}])
def test_one_that_is_outdated_is_said_to_be(stores: Stores, fields: dict[str, object]) -> None:
    memory = keep(stores, "the amber lantern")
    retire(stores, memory.id)

    said = why_not(stores, "lantern", memory.id, **fields)

    assert said == f"{memory.short_id} is left out by being outdated: it is expired or superseded"


def test_one_beyond_the_limit_is_said_to_be_with_its_place(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    kept = [keep(stores, f"{colour} lantern") for colour in ("amber", "beige", "coral")]

    said = why_not(stores, "lantern", kept[0].id, limit=2)

    assert said.startswith(f"{kept[0].short_id} came in as number 3 with 0.")
    assert said.endswith("; asked for were 2")
    close(stores)


@pytest.fixture
def demanding(stores: Stores) -> Stores:
    """Stores in which what shares no word is found only if it is fairly likely."""
    return replace(stores, config=replace(stores.config, recall=RecallConfig(least_score=0.25)))


def test_one_that_was_compared_and_fell_short_is_said_to_have(demanding: Stores) -> None:
    stores = demanding
    keep(stores, "the amber lantern hangs in the hall")
    other = keep(stores, "invoices are due")

    said = why_not(stores, "where does the lantern hang?", other.id)

    assert "was compared, but 1 others fit better (its chance is 0." in said


@pytest.mark.soak
def test_one_that_nothing_brought_is_said_to_be_far(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep_many(stores, services(320))
    keep(stores, "the amber lantern hangs in the hall")
    other = keep(stores, "invoices are due")

    assert why_not(stores, "where does the lantern hang?", other.id) == (
        f"{other.short_id} shares no rare word with the question "
        "and is not among the nearest in meaning"
    )
    close(stores)


def test_one_that_was_drawn_and_not_compared_is_said_to_be(stores: Stores) -> None:
    config = replace(stores.config, recall=RecallConfig(compared=20))
    few = replace(stores, config=config)
    drafts = [Draft(f"the amber lantern {number} hangs in the hall") for number in range(60)]
    kept = keep_many(few, drafts)
    other = keep(few, "a hall, and nothing else to tell about it in many words")

    said = why_not(few, "which amber lantern hangs in the hall?", other.id)

    assert len(kept) == 60
    assert said == f"{other.short_id} came near, but at a quick look others fit better"


def test_a_time_in_the_question_can_be_what_keeps_it_out(stores: Stores) -> None:
    keep(stores, "the amber lantern", created=NOON - DAY)
    old = keep(stores, "the beige lantern", created=NOON - 90 * DAY)

    said = why_not(stores, "which lantern did we light yesterday?", old.id)

    assert said.startswith(f"{old.short_id} is left out by ")
    assert "created_after" in said


def test_one_older_than_a_time_shows_is_said_to_be(stores: Stores) -> None:
    kept = [keep(stores, f"thing {n}", created=NOON - DAY + timedelta(hours=n)) for n in range(3)]

    said = why_not(stores, "what did I do yesterday?", kept[0].id, limit=2)

    assert said == (
        f"{kept[0].short_id} is from then too, but older than the 2 that were asked for"
    )


def test_the_missed_is_explained_when_all_is_silence_too(stores: Stores) -> None:
    memory = keep(stores, "the amber lantern")
    config = replace(stores.config, recall=RecallConfig(least_score=0.9, least_best=0.9))

    recalled = ask(replace(stores, config=config), "zzz qqq", why_not=memory.id)

    assert recalled.hits == ()
    assert recalled.why_not is not None
    assert memory.short_id in recalled.why_not


def test_every_missed_memory_gets_some_reason(stores: Stores) -> None:
    """Whatever the question, a memory is either there or told why not."""
    kept: list[Memory] = [keep(stores, text) for text in ("lantern", "oil", "Anna", "猫")]

    for question in ("lantern", "?", "yesterday", "who am I?", "猫", "latest", "zzz"):
        for memory in kept:
            recalled = ask(stores, question, why_not=memory.id, limit=1)
            there = memory.id in [hit.memory.id for hit in recalled.hits]
            assert recalled.why_not is not None
            assert ("is there" in recalled.why_not) == there


def test_why_it_is_missed_is_told_in_its_parts_too(demanding: Stores) -> None:
    stores = demanding
    keep(stores, "the amber lantern hangs in the hall")
    other = keep(stores, "invoices are due")

    outdone = ask(stores, "where does the lantern hang?", why_not=other.id).absent
    refused = ask(stores, "invoices", why_not=other.id, spaces=("x",), tags=("y",)).absent
    there = ask(stores, "invoices", why_not=other.id).absent

    assert outdone is not None
    assert (outdone.how, outdone.others, outdone.filters) == (Absence.OUTDONE, 1, ())
    assert outdone.chance is not None
    assert f"{outdone.chance:.4f}" in outdone.text
    assert refused is not None
    assert (refused.how, refused.filters) == (Absence.REFUSED, ("spaces", "tags"))
    assert there is not None
    assert (there.how, there.rank) == (Absence.THERE, 1)
