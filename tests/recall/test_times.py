"""When something was: relative times narrow, dates prefer, and a time alone lists."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from madeleine.model.memory import Memory
from madeleine.model.words import MemoryType
from madeleine.recall.recall import RecallResult
from madeleine.rules.fusion import IN_TIME_FACTOR, OFF_DATE_FACTOR, ON_DATE_FACTOR
from madeleine.write.identity import complete_self
from madeleine.write.stores import Stores
from tests.fakes import NOON, close, keep, make_stores
from tests.recall.asking import ask, contents, hit_of
from tests.sentences import in_words

NOON_IS_A_SUNDAY = NOON.strftime("%A, %d %B") == "Sunday, 15 November"
NOTHING_FROM_YESTERDAY = "there is nothing from yesterday, 14 November; looked at all times"


def on(month: int, day: int, hour: int = 9, minute: int = 0) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


def told(stores: Stores, *moments: datetime, about: str = "the ferry was late") -> None:
    """Keep the same news once for each moment, told apart by a number that means nothing."""
    for number, moment in enumerate(moments):
        keep(stores, f"{about}, {number}", created=moment)


def moments(recalled: RecallResult) -> list[datetime]:
    return sorted(hit.memory.created for hit in recalled.hits)


# -- relative to now -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "inside", "outside"),
    [
        ("yesterday", [on(11, 14, 0, 1), on(11, 14, 23)], [on(11, 13, 23), on(11, 15, 0, 1)]),
        ("today", [on(11, 15)], [on(11, 14, 23)]),
        ("in the last 2 weeks", [on(11, 1, 12, 5), on(11, 14)], [on(11, 1, 11, 50), on(10, 20)]),
        ("in the last 14 days", [on(11, 1, 12, 5), on(11, 14)], [on(11, 1, 11, 50), on(10, 20)]),
        ("since Monday", [on(11, 9, 0, 1), on(11, 15)], [on(11, 8, 23)]),
        ("last week", [on(11, 2), on(11, 8)], [on(11, 1), on(11, 9)]),
        ("since March", [on(3, 1), on(11, 15)], [on(2, 27)]),
    ],
)
def test_a_time_relative_to_now_leaves_the_rest_out(
    stores: Stores, words: str, inside: list[datetime], outside: list[datetime]
) -> None:
    assert NOON_IS_A_SUNDAY
    told(stores, *inside, *outside)

    recalled = ask(stores, f"what was said about the ferry {words}?")

    assert moments(recalled) == sorted(inside)
    assert in_words(recalled.notes) == ()


@pytest.mark.proves("I11")
def test_a_time_finds_the_one_from_then_among_many_others(stores: Stores) -> None:
    for number in range(60):
        keep(stores, f"the ferry of pier {number} was late", created=on(9, 1, 9, number))
    wanted = keep(stores, "a ferry, a little late", created=on(11, 14))

    assert contents(stores, "which ferry of a pier did we call late yesterday?") == [wanted.content]


def test_a_time_and_a_filter_both_count(stores: Stores) -> None:
    told(stores, on(11, 10), on(11, 13), on(11, 15))

    sooner = ask(stores, "notes on the ferry since Monday", created_before=on(11, 14))
    later = ask(stores, "notes on the ferry since Monday", created_after=on(11, 12))

    assert moments(sooner) == [on(11, 10), on(11, 13)]
    assert moments(later) == [on(11, 13), on(11, 15)]


def test_created_after_is_inclusive_and_created_before_is_not(stores: Stores) -> None:
    told(stores, on(11, 10), on(11, 12))

    assert moments(ask(stores, "ferry", created_after=on(11, 12))) == [on(11, 12)]
    assert moments(ask(stores, "ferry", created_before=on(11, 12))) == [on(11, 10)]


def test_a_time_with_nothing_from_it_falls_back_and_says_so(stores: Stores) -> None:
    told(stores, on(10, 1))

    recalled = ask(stores, "what was said about the ferry yesterday?")

    assert moments(recalled) == [on(10, 1)]
    assert in_words(recalled.notes) == (NOTHING_FROM_YESTERDAY,)


def test_falling_back_never_leaves_the_callers_filter(stores: Stores) -> None:
    told(stores, on(10, 1))
    keep(stores, "the ferry was fine", created=on(10, 2), type=MemoryType.EVENT)

    found = contents(stores, "what was the ferry yesterday?", types=(MemoryType.EVENT,))

    assert found == ["the ferry was fine"]


# -- a time of the matter ------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "add a query that lists the calls of one ferry in the last 90 days",
        "which ferry runs this week?",
        "the ferry fares of last month",
        "is there a ferry on Friday",
        "plot last night's ferry delays",
        "what did we decide about last week's ferry delays",
    ],
)
def test_a_time_of_the_matter_leaves_nothing_out(stores: Stores, question: str) -> None:
    old = keep(stores, "ferry calls are kept in the table port_calls", created=on(2, 1))
    keep(stores, "bought apples", created=on(11, 13))

    recalled = ask(stores, question)

    assert recalled.hits[0].memory.id == old.id
    assert in_words(recalled.notes) == ()


def test_of_a_time_that_is_only_mentioned_what_is_from_then_is_preferred(stores: Stores) -> None:
    keep(stores, "the ferry was late", created=on(9, 1))
    then = keep(stores, "the ferry was late again", created=on(11, 14))
    keep(stores, "the ferry was so late", created=on(9, 2))

    recalled = ask(stores, "which ferry was late yesterday?", explain=True)

    assert recalled.hits[0].memory.id == then.id
    assert len(recalled.hits) == 3
    assert boost("date", recalled, then) == IN_TIME_FACTOR


def test_a_day_of_the_matter_is_searched_for(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    rule = keep(stores, "fish on fridays, always", created=on(3, 1))

    assert ask(stores, "something to cook on friday").hits[0].memory.id == rule.id
    close(stores)


def test_if_nothing_from_the_time_answers_all_times_are_looked_at(stores: Stores) -> None:
    old = keep(stores, "the ferry tickets cost nine euros", created=on(10, 1))
    keep(stores, "quarterly numbers look odd", created=on(11, 14))

    recalled = ask(stores, "what did we say yesterday about the ferry tickets?", all=False)

    assert [hit.memory.id for hit in recalled.hits] == [old.id]
    assert in_words(recalled.notes) == (
        "nothing from yesterday, 14 November answers; looked at all times",
    )


# -- dates ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "wanted", "other"),
    [
        ("in March", on(3, 12), on(6, 12)),
        ("in March 2026", on(3, 12), on(6, 12)),
        ("on 8 May 2026", on(5, 8), on(9, 8)),
        ("on 2026-05-08", on(5, 8), on(9, 8)),
        ("on 08.05.2026", on(5, 8), on(9, 8)),
        ("2026年5月8日", on(5, 8), on(9, 8)),
    ],
)
def test_a_date_prefers_what_is_from_then(
    tmp_path: Path, words: str, wanted: datetime, other: datetime
) -> None:
    """What happened in March may be told in June, so June is not left out."""
    stores = make_stores(tmp_path / "home", with_model=False)
    told(stores, other, wanted)

    recalled = ask(stores, f"how late was the ferry {words}?")

    assert [hit.memory.created for hit in recalled.hits] == [wanted, other]
    assert "of the date you name" in in_words(recalled.hits[0].reasons)
    assert "of the date you name" not in in_words(recalled.hits[1].reasons)
    close(stores)


def test_a_date_raises_what_is_from_then_and_lowers_the_rest(stores: Stores) -> None:
    then = keep(stores, "the ferry was late", created=on(3, 12))
    later = keep(stores, "the ferry was very late", created=on(6, 12))

    recalled = ask(stores, "how late was the ferry in March?", explain=True)

    assert boost("date", recalled, then) == ON_DATE_FACTOR > 1
    assert boost("date", recalled, later) == OFF_DATE_FACTOR < 1


def test_what_speaks_of_a_date_is_found_by_it(stores: Stores) -> None:
    keep(stores, "the wedding is on 8 May 2027")
    keep(stores, "the funeral is on 3 June 2027")

    recalled = ask(stores, "what is on 8 May 2027?")

    assert recalled.hits[0].memory.content == "the wedding is on 8 May 2027"
    assert in_words(recalled.notes) == ("there is nothing from 8 May 2027; looked at all times",)


# -- a time and nothing else ---------------------------------------------------------------


@pytest.mark.few(7)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what did I do yesterday?", ["sold pears", "bought apples"]),
        ("yesterday", ["sold pears", "bought apples"]),
        ("what did I note yesterday?", ["sold pears", "bought apples"]),
        ("what happened yesterday?", ["sold pears", "bought apples"]),
        ("everything I wrote down yesterday", ["sold pears", "bought apples"]),
        ("my notes from the last 2 weeks", ["sold pears", "bought apples", "met Anna"]),
        ("what did we do in March?", ["planted beans"]),
        ("since Monday", ["sold pears", "bought apples"]),
        ("2026-03-20", ["planted beans"]),
        ("what did I decide yesterday", ["sold pears", "bought apples"]),
        ("what did we settle since Friday?", ["sold pears", "bought apples"]),
        ("what was agreed this month?", ["sold pears", "bought apples", "met Anna"]),
        ("what was chosen in March", ["planted beans"]),
    ],
)
@pytest.mark.parametrize("with_model", [True, False])
def test_a_question_for_a_time_alone_lists_newest_first(
    tmp_path: Path, question: str, expected: list[str], with_model: bool
) -> None:
    opened = make_stores(tmp_path / "home", with_model=with_model)
    keep(opened, "planted beans", created=on(3, 20))
    keep(opened, "sold pears", created=on(11, 14, 18))
    keep(opened, "bought apples", created=on(11, 14, 8))
    keep(opened, "met Anna", created=on(11, 4))

    recalled = ask(opened, question)

    assert [hit.memory.content for hit in recalled.hits] == expected
    assert all(in_words(hit.reasons)[0].startswith(("from ", "since ")) for hit in recalled.hits)
    assert all(0 < hit.score <= 1 for hit in recalled.hits)
    close(opened)


@pytest.mark.parametrize(
    "question",
    ["what did I decide yesterday", "decisions of yesterday", "what was agreed yesterday?"],
)
def test_decisions_of_a_day_come_before_what_else_is_from_it(stores: Stores, question: str) -> None:
    keep(stores, "quit smoking", created=on(11, 14, 7), type=MemoryType.DECISION)
    told(stores, on(11, 14, 8), on(11, 14, 9), on(11, 14, 10), about="bought apples")
    keep(stores, "sold pears", created=on(11, 13), type=MemoryType.DECISION)

    recalled = ask(stores, question)

    assert recalled.hits[0].memory.content == "quit smoking"
    assert len(recalled.hits) == 4
    assert contents(stores, question, limit=1) == ["quit smoking"]


def test_a_time_alone_is_bounded_by_limit_and_filter(stores: Stores) -> None:
    told(stores, on(11, 14, 8), on(11, 14, 9), on(11, 14, 10), about="bought apples")
    keep(stores, "quit smoking", created=on(11, 14, 7), type=MemoryType.DECISION)

    assert len(contents(stores, "what did I do yesterday?", limit=2)) == 2
    assert contents(stores, "what did I do yesterday?", types=(MemoryType.DECISION,)) == [
        "quit smoking"
    ]


def test_a_time_alone_with_nothing_from_it_does_not_claim_to_be_from_it(stores: Stores) -> None:
    keep(stores, "bought apples", created=on(8, 1))

    recalled = ask(stores, "what did I do yesterday?")

    assert in_words(recalled.notes) == (NOTHING_FROM_YESTERDAY,)
    assert not any(
        "yesterday" in reason for hit in recalled.hits for reason in in_words(hit.reasons)
    )


@pytest.mark.few(5)
@pytest.mark.parametrize("with_model", [True, False])
@pytest.mark.parametrize(
    ("question", "spoken_of"),
    [
        ("what happened in March?", "the fair on 12 March was great"),
        ("what happened in March?", "the fair was in March"),
        ("what happened in March 2026?", "the fair of 2026-03-12 was great"),
        ("what happened in March?", "the fair on Mar 12 was great"),
        ("what happened on 12 March?", "the fair on March 12th was great"),
        ("what happened in 2026?", "a great fair, in 2026"),
    ],
)
def test_what_speaks_of_the_date_comes_after_what_is_from_it(
    tmp_path: Path, question: str, spoken_of: str, with_model: bool
) -> None:
    stores = make_stores(tmp_path / "home", with_model=with_model)
    wanted = keep(stores, spoken_of, created=datetime(2027, 1, 5, 9, tzinfo=UTC))
    keep(stores, "planted beans", created=on(3, 12))
    keep(stores, "they march in step", created=datetime(2027, 1, 6, tzinfo=UTC))
    keep(stores, "the fair of 12 March 2019", created=datetime(2019, 3, 1, tzinfo=UTC))

    recalled = ask(stores, question)

    assert [hit.memory.content for hit in recalled.hits] == ["planted beans", spoken_of]
    assert any(
        reason.startswith("speaks of ") for reason in in_words(hit_of(wanted, recalled).reasons)
    )
    assert recalled.hits[0].score > recalled.hits[1].score
    close(stores)


def test_what_speaks_of_a_date_has_to_pass_the_filter(stores: Stores) -> None:
    keep(stores, "planted beans", created=on(3, 20))
    keep(stores, "the fair was in March", created=on(5, 2), type=MemoryType.EVENT)

    assert contents(stores, "what happened in March?", types=(MemoryType.FACT,)) == [
        "planted beans"
    ]
    assert contents(stores, "what happened in March?", limit=1) == ["planted beans"]


def test_what_is_said_relative_to_now_was_written_down_then(stores: Stores) -> None:
    keep(stores, "sold pears", created=on(11, 14))
    keep(stores, "the fair is on 14 November", created=on(5, 2))

    assert contents(stores, "what happened yesterday?") == ["sold pears"]


# -- the newest ----------------------------------------------------------------------------


def test_asking_for_the_latest_prefers_what_is_new(stores: Stores) -> None:
    old = keep(stores, "Anna drinks green tea", created=on(2, 1))
    new = keep(stores, "Anna drinks black tea", created=on(11, 14))

    plain = ask(stores, "what tea does Anna drink?", explain=True)
    latest = ask(stores, "what tea does Anna drink lately?", explain=True)

    assert latest.hits[0].memory.id == new.id
    assert boost("newest", latest, new) > boost("newest", latest, old) >= 1
    assert boost("newest", plain, new) == boost("newest", plain, old) == 1


@pytest.mark.parametrize(
    "question", ["what's new?", "the latest", "what did we discuss last time?"]
)
def test_asking_for_the_newest_alone_lists_them(stores: Stores, question: str) -> None:
    told(stores, on(2, 1), on(11, 14), on(6, 1))

    recalled = ask(stores, question, limit=2)

    assert [hit.memory.created for hit in recalled.hits] == [on(11, 14), on(6, 1)]
    assert all("among the newest" in in_words(hit.reasons) for hit in recalled.hits)


def test_what_is_over_is_marked_in_a_list_of_a_time_too(stores: Stores) -> None:
    keep(stores, "bought apples", created=on(11, 14), valid_until=on(11, 15))

    (hit,) = ask(stores, "what did I do yesterday?", outdated=True).hits

    assert "no longer true since 2026-11-15" in in_words(hit.reasons)


def boost(name: str, recalled: RecallResult, memory: Memory) -> float:
    explained = hit_of(memory, recalled).explained
    assert explained is not None
    return explained.boosts[name]


def test_two_times_that_exclude_each_other_are_both_looked_at(stores: Stores) -> None:
    told(stores, on(11, 14), on(11, 12), on(10, 1))

    recalled = ask(stores, "what did I do yesterday and 3 days ago?")

    assert moments(recalled) == [on(11, 12), on(11, 14)]
    assert not in_words(recalled.notes)


def test_a_time_alone_that_nothing_is_from_is_answered_with_silence(stores: Stores) -> None:
    keep(stores, "the office plant is a ficus", created=on(1, 1))

    recalled = ask(stores, "what did I do yesterday?")

    assert recalled.hits == ()
    assert in_words(recalled.silence) == "there is nothing from yesterday, 14 November"


def test_the_self_is_no_answer_to_what_happened(stores: Stores) -> None:
    complete_self(stores)

    assert ask(stores, "what happened today?").hits == ()


@pytest.mark.parametrize(
    "question",
    ["was haben wir gestern beschlossen?", "¿qué anoté ayer?", "cosa ho annotato ieri?"],
)
def test_a_date_alone_is_enough_in_other_languages(stores: Stores, question: str) -> None:
    told(stores, on(11, 10), on(11, 13), on(11, 15))
    wanted = keep(stores, "the oak is for the hull", created=on(11, 14, 9))

    assert contents(stores, question) == [wanted.content]
