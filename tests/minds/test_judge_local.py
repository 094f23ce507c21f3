"""The judge that needs no model, with the weights that are shipped."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.bootstrap import make_judge
from madeleine.errors import BadSetting
from madeleine.language.substance import find_lost_words
from madeleine.minds.judges.local import LocalJudge
from madeleine.minds.judges.remote import RemoteJudge
from madeleine.minds.judges.weights import (
    load_weights,
    read_weights,
    render_weights,
    shipped_weights,
)
from madeleine.minds.port import Judge
from madeleine.model.memory import Memory, Origin
from madeleine.model.verdict import MemoryPair, Relation, Verdict
from madeleine.settings import read_settings

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MERGE_AT, CONFLICT_AT, PROPOSE_AT = 0.97, 0.85, 0.60
DULL = frozenset({Relation.RELATED_TO, Relation.NONE})


@pytest.fixture(scope="module")
def judge() -> LocalJudge:
    return LocalJudge(shipped_weights())


def memory(text: str, days: int = 0, session: str | None = None) -> Memory:
    made = NOON + timedelta(days=days)
    return Memory(f"{days:032x}", text, made, made, origin=Origin(session=session))


def verdict(judge: Judge, older: str, newer: str, similarity: float = 0.7) -> Verdict:
    (found,) = judge.judge([MemoryPair(memory(older), memory(newer, 3), similarity)])
    assert found is not None
    return found


# -- the walk-through of the document ---------------------------------------------------------


def test_a_switch_to_another_database_is_surely_an_evolution(judge: LocalJudge) -> None:
    found = verdict(judge, "Chose SQLite for Ormah", "We switched Ormah to Postgres", 0.56)

    assert found.relation is Relation.EVOLUTION
    assert found.sure >= CONFLICT_AT
    assert found.reason == "Postgres took the place of SQLite"


def test_two_ways_to_say_it_are_proposed_as_duplicates(judge: LocalJudge) -> None:
    found = verdict(judge, "Chose SQLite for Ormah", "Ormah uses SQLite", 0.93)

    assert found.relation is Relation.DUPLICATE
    assert PROPOSE_AT <= found.sure < MERGE_AT


@pytest.mark.parametrize(
    ("one", "two", "similarity"),
    [
        ("Chose SQLite for Ormah", "Chose FastAPI for the gateway", 0.15),
        ("Chose SQLite for Ormah", "Ormah uses Docker", 0.54),
        ("We decided to hire a designer", "We decided to use tabs for indentation", 0.13),
        ("Decided to drop Windows support", "Decided to sponsor the spring conference", 0.2),
        ("Vera owns the billing service", "Petra runs the book club", 0.2),
    ],
)
def test_unrelated_decisions_are_not_contradictions(
    judge: LocalJudge, one: str, two: str, similarity: float
) -> None:
    assert verdict(judge, one, two, similarity).relation in DULL


@pytest.mark.parametrize(
    ("older", "newer", "relation"),
    [
        ("Ormah uses SQLite", "Ormah uses Postgres", Relation.EVOLUTION),
        ("Marta lives in Dublin", "Marta moved to Lisbon in May", Relation.EVOLUTION),
        ("Prefers tea", "Prefers coffee now", Relation.EVOLUTION),
        ("The API key rotates every 30 days", "The API key rotates every 90 days now", "evolution"),
        ("My library has 45 sources", "I've added 52 sources to my library", Relation.EVOLUTION),
        ("Likes dark mode", "Dislikes dark mode", Relation.TENSION),
        ("Deploys happen on Friday", "Never deploy on Friday", Relation.TENSION),
        ("I sent the letter to Greg", "I've never sent the letter to Greg", Relation.TENSION),
        ("The parser reads TOML", "The importer depends on the parser", Relation.DEPENDS_ON),
        ("The importer loads files", "The parser is part of the importer", Relation.PART_OF),
    ],
)
def test_plain_cases_come_out_right(
    judge: LocalJudge, older: str, newer: str, relation: Relation
) -> None:
    found = verdict(judge, older, newer)

    assert found.relation == relation
    assert found.sure >= PROPOSE_AT
    assert found.reason


# -- merging without asking -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Vera owns billing", "Vera owns billing."),
        ("The boy is checking a calendar", "A boy is checking a calendar"),
        ("Мы используем PostgreSQL", "Мы используем PostgreSQL."),
    ],
)
def test_the_same_text_in_other_dress_is_merged_without_asking(
    judge: LocalJudge, one: str, two: str
) -> None:
    found = verdict(judge, one, two, 0.97)

    assert found.relation is Relation.DUPLICATE
    assert found.sure >= MERGE_AT


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Vera owns 3 services", "Vera owns 4 services"),
        ("Vera owns billing", "Petra owns billing"),
        ("Vera owns billing", "Vera doesn't own billing"),
        ("Vera owns billing", "Vera owns billing and search"),
        ("Ich wohne in Berlin", "Ich wohne nicht in Berlin"),
        ("私は東京に住んでいます", "私は大阪に住んでいます"),
        ("J'habite à Lyon", "J'habite à Paris"),
    ],
)
def test_what_differs_is_never_merged_without_asking(judge: LocalJudge, one: str, two: str) -> None:
    for found in (verdict(judge, one, two, 1.0), verdict(judge, two, one, 1.0)):
        assert found.relation is not Relation.DUPLICATE or found.sure < MERGE_AT


@given(text=st.text(min_size=1, max_size=60), number=st.integers(0, 99), other=st.integers(0, 99))
def test_another_number_is_never_merged(text: str, number: int, other: int) -> None:
    one, two = (f"{text} costs {each} euros" for each in (number, other))
    found = verdict(LocalJudge(shipped_weights()), one, two, 1.0)

    if number != other:
        assert found.relation is not Relation.DUPLICATE or found.sure < MERGE_AT


# -- any text ---------------------------------------------------------------------------------


@given(
    older=st.text(max_size=300),
    newer=st.text(max_size=300),
    similarity=st.floats(-1, 1, allow_nan=False),
)
def test_any_two_texts_get_a_verdict(older: str, newer: str, similarity: float) -> None:
    found = verdict(LocalJudge(shipped_weights()), older, newer, similarity)

    assert 0 <= found.sure <= 1
    assert found.reason


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Nous utilisons le train pour aller au travail", "Le chat dort sur le canapé"),
        ("会議は火曜日に行われます", "猫が好きです"),
        ("Der Garten hat einen Zaun", "Das Auto braucht neue Reifen"),
        ("Мы пишем тесты на Python", "Кошка спит на диване"),
    ],
)
def test_other_languages_raise_no_false_alarm(judge: LocalJudge, one: str, two: str) -> None:
    assert verdict(judge, one, two, 0.3).relation in DULL


def test_the_same_pairs_get_the_same_verdicts(judge: LocalJudge) -> None:
    pairs = [
        MemoryPair(memory(f"Harbor has {number} users"), memory("Harbor has 7 users", 1), 0.8)
        for number in range(50)
    ]

    assert judge.judge(pairs) == LocalJudge(shipped_weights()).judge(pairs)
    assert judge.judge(pairs) == [judge.judge([pair])[0] for pair in pairs]
    assert judge.judge([]) == []


def test_it_is_cheap_and_names_its_weights(judge: LocalJudge) -> None:
    assert judge.cheap
    assert judge.name == f"local:{shipped_weights().version}"
    assert judge.problems() == {}


@pytest.mark.soak
def test_thousands_of_pairs_a_second_are_judged() -> None:
    """Five thousand a second are wanted of a quiet core; here half of it is asked for, because
    tests share theirs. Each memory stands in ten pairs, as among neighbours."""
    memories = [
        memory(f"Service {n} of team {n % 7} listens on port {3000 + n}. Vera and Hugo run it.", n)
        for n in range(300)
    ]
    pairs = [
        MemoryPair(memories[one], memories[(one + step) % 300], 0.6)
        for one in range(300)
        for step in range(1, 11)
    ]
    rates = []
    for _ in range(3):
        judge = LocalJudge(shipped_weights())
        began = time.process_time()
        judge.judge(pairs)
        rates.append(len(pairs) / (time.process_time() - began))
        if rates[-1] >= 2_500:
            break

    assert max(rates) >= 2_500


# -- synthesis --------------------------------------------------------------------------------


def test_a_synthesis_says_all_that_its_members_say(judge: LocalJudge) -> None:
    members = [
        memory("Harbor uses Postgres. Vera chose it."),
        memory("Harbor uses Postgres. Backups run at 02:00.", 1),
    ]

    found = judge.synthesise(members)

    assert found is not None
    assert found.content.count("Harbor uses Postgres") == 1
    assert not find_lost_words(found.content, [each.content for each in members])
    assert judge.synthesise([]) is None


# -- weights and settings ---------------------------------------------------------------------


def test_weights_survive_their_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(render_weights(shipped_weights(), "a test"), encoding="utf-8")

    assert load_weights(str(path)) == shipped_weights() == load_weights("")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 1, "signs": {}}'])
def test_a_file_that_holds_no_weights_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadSetting, match=r"judge\.weights"):
        load_weights(str(path))


def test_a_weight_of_no_sign_is_refused() -> None:
    values = json.loads(render_weights(shipped_weights(), "a test"))
    values["conflict"]["answers"]["evolution"]["weights"]["moon"] = 1.0

    with pytest.raises(ValueError, match="no such sign: moon"):
        read_weights(json.dumps(values))


def test_the_judge_is_the_one_that_is_set() -> None:
    local = make_judge(read_settings({}, {}), {})
    table = {"judge": {"kind": "llm", "model": "m", "url": "http://127.0.0.1:1/v1"}}
    remote = make_judge(read_settings(table, {}), {"OPENAI_API_KEY": "k"})

    assert isinstance(local, LocalJudge)
    assert isinstance(remote, RemoteJudge)
    assert remote.name == "llm:m"
    with pytest.raises(BadSetting, match=r"judge\.kind"):
        make_judge(read_settings({"judge": {"kind": "oracle"}}, {}), {})


# -- changes told in new words ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Marta lives in Izmir.", "Marta left Izmir for Perth."),
        ("Atlas listens on port 6284.", "Since the upgrade Atlas answers on 7088 instead."),
        ("Atlas is owned by Greta.", "Noor took over Atlas."),
        ("Atlas is written in Elm.", "Atlas was rewritten in Zig."),
        ("Marta drinks cocoa.", "Marta went off cocoa and now has oat latte."),
    ],
)
def test_a_change_told_in_new_words_is_settled_unasked(
    judge: LocalJudge, older: str, newer: str
) -> None:
    found = verdict(judge, older, newer, 0.4)

    assert found.relation is Relation.EVOLUTION
    assert found.sure >= 0.9
    assert found.reason


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Anchor Violet Silent is written in Python.", "Anchor Beacon Violet is written in Zig."),
        ("Wolf Cedar listens on port 8361.", "Rose Cedar listens on port 8830."),
        ("The owner of Lansilwey is Otto.", "The owner of Fyrithbexsil is Otto."),
        ("Run `rspec` to test Storm West.", "The tests of Storm Coast run with `rspec`."),
        ("The database of Anchor Garden is Postgres.", "Anchor Garden is written in Python."),
        ("Marta visited Oslo on May 3.", "Marta visited Oslo on June 9."),
        ("Marta speaks Spanish.", "Marta also speaks Danish now."),
    ],
)
def test_another_subject_or_attribute_is_never_replaced_unasked(
    judge: LocalJudge, older: str, newer: str
) -> None:
    found = verdict(judge, older, newer, 0.85)

    assert found.relation is not Relation.EVOLUTION or found.sure < CONFLICT_AT


def test_the_same_said_of_another_thing_is_no_copy(judge: LocalJudge) -> None:
    found = verdict(
        judge, "Hibvoskor stores its data in SQLite.", "Tortorlan stores its data in SQLite.", 0.9
    )

    assert found.relation not in (Relation.DUPLICATE, Relation.EVOLUTION) or found.sure < PROPOSE_AT


def test_who_sits_in_one_story_may_stand_in_the_next(judge: LocalJudge) -> None:
    one = "We talked about the office, and I was sitting by the window with a cup of tea."
    two = "After the talk about the office party everybody kept standing around the buffet."

    assert verdict(judge, one, two, 0.5).relation in DULL


def test_the_longer_the_texts_the_less_sure_a_conflict_is(judge: LocalJudge) -> None:
    said, denied = "I sent the letter to Greg.", "I've never sent the letter to Greg."
    around = " ".join(f"Then chapter{each} described harbour{each} ships." for each in range(150))

    short = verdict(judge, said, denied)
    long = verdict(judge, f"{said} {around}", denied)

    assert short.relation is Relation.TENSION
    assert long.sure < CONFLICT_AT < short.sure


# -- what may hold beside each other ----------------------------------------------------------


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ana likes tea", "Ana likes coffee"),
        ("Ana plays the violin", "Ana plays the piano"),
        ("Ben is allergic to peanuts", "Ben is allergic to shellfish"),
        ("Ben speaks French", "Ben speaks Dutch"),
        ("Ana enjoys hiking", "Ana enjoys sailing"),
        ("The importer reads CSV", "The importer reads JSON"),
        ("Ana owns a dog", "Ana owns a cat"),
        ("Ana drinks tea", "Ana drinks coffee"),
        ("Ben writes C++", "Ben writes C#"),
        ("Ana is the lead of Atlas", "Ana is the lead of Hermes"),
        ("Meeting room 4 is booked for the board", "The board booked meeting room 7"),
        ("Ana has her morning coffee", "Ana has her evening tea"),
        ("My left knee hurts", "My right knee hurts"),
        ("Some tests pass", "Not all tests pass"),
    ],
)
def test_what_may_hold_beside_each_other_is_at_most_proposed(
    judge: LocalJudge, older: str, newer: str
) -> None:
    found = verdict(judge, older, newer, 0.85)

    assert found.relation not in (Relation.EVOLUTION, Relation.TENSION) or found.sure < CONFLICT_AT


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ana lives in Ghent", "Ana lives in Oslo"),
        ("My favourite colour is blue", "My favourite colour is green"),
        ("Ana drinks tea", "Ana drinks coffee now"),
        ("All tests pass", "Not all tests pass"),
    ],
)
def test_what_cannot_hold_beside_each_other_is_settled(
    judge: LocalJudge, older: str, newer: str
) -> None:
    found = verdict(judge, older, newer, 0.85)

    assert found.relation in (Relation.EVOLUTION, Relation.TENSION)
    assert found.sure >= CONFLICT_AT


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (
            "The backup of host A goes to the tape shelf",
            "The backup of host B goes to the tape shelf",
        ),
        ("Ben's blood type is O", "Ben's blood type is A"),
        ("Turn the pump on at noon", "Turn the pump off at noon"),
        ("Ana wrote the parser for him", "Ana wrote the parser for her"),
    ],
)
def test_what_a_letter_or_a_small_word_tells_apart_is_no_copy(
    judge: LocalJudge, one: str, two: str
) -> None:
    found = verdict(judge, one, two, 0.99)

    assert found.relation is not Relation.DUPLICATE or found.sure < PROPOSE_AT
