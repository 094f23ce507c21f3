"""The local judge with a reader of pairs: what it asks, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from madeleine.errors import MindDown
from madeleine.minds.judges.local import LocalJudge
from madeleine.minds.judges.weights import shipped_weights
from madeleine.minds.port import RelationChances, TextPair
from madeleine.model.memory import Memory, Origin
from madeleine.model.verdict import MemoryPair, Relation, SharedWords, Verdict

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MERGE_AT, PROPOSE_AT = 0.97, 0.60


BOAT = "The boat is heated with wood."
DIESEL = "Diesel heating was put into the boat."


@dataclass
class SetReader:
    """Says of every pair what it was told to say."""

    always: Mapping[Relation, float]
    waiting: Sequence[TextPair] = ()
    down: bool = False
    in_store: Mapping[Relation, float] = field(default_factory=dict)
    unread: float = 0.0
    """How likely a pair is the same or an update that is not read."""
    name: str = "set"
    asked: list[TextPair] = field(default_factory=list)

    def read(self, pairs: Sequence[TextPair]) -> list[RelationChances | None]:
        self.asked += pairs
        if self.down and pairs:
            raise MindDown(self.name, "its file is gone")
        return [None if pair in self.waiting else whole(self.always) for pair in pairs]

    def weigh_in_store(self, pair: MemoryPair, read: RelationChances | None) -> RelationChances:
        return whole(self.in_store) if read is not None else {Relation.NONE: 1 - self.unread}

    def begin_run(self) -> None:
        pass

    def release(self) -> None:
        pass


def whole(some: Mapping[Relation, float]) -> RelationChances:
    left = (1 - sum(some.values())) / (len(Relation) - len(some))
    return {each: some.get(each, left) for each in Relation}


def memory(text: str, days: int, title: str | None = None) -> Memory:
    made = NOON + timedelta(days=days)
    return Memory(f"{days:032x}", text, made, made, title=title, origin=Origin())


def verdict(reader: SetReader, older: str, newer: str, similarity: float = 0.7) -> Verdict:
    judge = LocalJudge(shipped_weights(), reader)
    (found,) = judge.judge([MemoryPair(memory(older, 0), memory(newer, 3), similarity)])
    assert found is not None
    return found


@pytest.mark.parametrize("relation", Relation)
def test_what_is_read_comes_out_with_its_chance(relation: Relation) -> None:
    reader = SetReader({relation: 0.81})

    found = verdict(reader, "The bakery closes early in spring.", "Spring hours of the shop.")

    assert (found.relation, found.sure) == (relation, 0.81)
    assert found.reason


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We use Celery for background jobs", "Switched background jobs from Celery to Arq"),
        ("Vera owns billing", "Vera owns billing."),
        ("Мы используем PostgreSQL", "Мы используем PostgreSQL."),
    ],
)
def test_where_a_rule_is_certain_nothing_is_read(older: str, newer: str) -> None:
    reader = SetReader({Relation.NONE: 0.99})

    found = verdict(reader, older, newer, 0.95)

    assert reader.asked == []
    assert found.relation in (Relation.EVOLUTION, Relation.DUPLICATE)


def test_the_older_text_is_read_first_with_a_title_that_says_more() -> None:
    reader = SetReader({Relation.RELATED_TO: 0.9})
    older = memory("Chosen because one file is easy to back up.", 0, title="SQLite for the index")
    newer = memory("The index is large by now.", 3, title="The index")

    LocalJudge(shipped_weights(), reader).judge([MemoryPair(older, newer, 0.6)])

    assert reader.asked == [
        (
            "SQLite for the index. Chosen because one file is easy to back up.",
            "The index is large by now.",
        )
    ]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Vera owns 3 services", "Vera looks after 4 services"),
        ("Zone B gets the new pump", "The new pump goes to zone C"),
        ("The train leaves from Oslo at nine", "At nine the train leaves to Oslo"),
        ("Backups run at 5 am", "The backup runs at 6 am"),
        ("Petra signs the contract", "The contract is signed by Vera"),
        ("Keep the heater on at night", "At night the heater stays off"),
        ("Pay 30 euros to Ana", "Ana gets 300 euros"),
        ("He waters the plants for her", "He waters the plants for him"),
        ("Timeout is 5 s", "The timeout is 5 ms"),
        ("Use the left lane", "Use the right lane"),
    ],
)
def test_what_a_number_a_name_or_a_small_word_tells_apart_is_asked_about(
    older: str, newer: str
) -> None:
    found = verdict(SetReader({Relation.DUPLICATE: 0.995}), older, newer, 0.9)

    assert found.relation is not Relation.DUPLICATE or found.sure < MERGE_AT


def test_a_restatement_in_other_words_is_sure_enough_to_merge() -> None:
    found = verdict(
        SetReader({Relation.DUPLICATE: 0.995}), "Chose SQLite for Ormah", "Ormah uses SQLite", 0.97
    )

    assert found.relation is Relation.DUPLICATE
    assert found.sure >= MERGE_AT


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Backups are kept for 30 days", "We keep backups for thirty days"),
        (
            "Invoices are sent on the 5th of each month",
            "We send invoices on the fifth of every month",
        ),
    ],
)
def test_a_number_in_words_is_no_update(older: str, newer: str) -> None:
    found = verdict(SetReader({Relation.EVOLUTION: 0.9}), older, newer, 0.9)

    assert found.relation is Relation.DUPLICATE
    assert found.sure >= 0.9


def test_what_reads_as_the_same_but_for_a_number_is_an_update() -> None:
    reader = SetReader({Relation.DUPLICATE: 0.94})

    found = verdict(reader, "Scratch files go after 21 days", "On scratch files last 14 days", 0.8)

    assert (found.relation, found.sure) == (Relation.EVOLUTION, 0.94)
    assert found.reason == "21 became 14"


def test_another_trait_of_the_same_thing_replaces_nothing() -> None:
    reader = SetReader({Relation.EVOLUTION: 0.95})
    boat = "The sailing boat is painted blue"

    other = verdict(reader, boat, "The sailing boat lies in Roskilde in winter", 0.8)
    changed = verdict(reader, boat, "The sailing boat was repainted and is green now", 0.8)

    assert other.sure < 0.3
    assert changed.sure == 0.95


def test_what_a_note_needs_does_not_replace_it() -> None:
    reader = SetReader({Relation.EVOLUTION: 0.48})

    found = verdict(reader, "The report needs the night import", "The night import runs at 01:30")

    assert found.relation is Relation.DEPENDS_ON


def test_texts_that_a_comma_tells_apart_are_the_same_whatever_is_read_of_them() -> None:
    """The network was taught on restatements in other words, and misreads what is nearly equal."""
    one = "The ferry to the island leaves at nine from pier four."
    other = "The ferry to the island leaves at nine, from pier four."

    found = verdict(SetReader({Relation.NONE: 0.59, Relation.EVOLUTION: 0.22}), one, other, 0.974)

    assert found.relation is Relation.DUPLICATE
    assert found.sure >= PROPOSE_AT


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We never deploy on Friday", "Deploys on Friday are not done by us"),
        ("Vera never signs invoices", "Invoices are not signed by Vera"),
        ("The shop isn't open on Sundays", "On Sundays the shop doesn't open"),
        ("Nobody may push to main", "Pushing to main is not allowed"),
    ],
)
def test_what_both_deny_is_no_likely_conflict(older: str, newer: str) -> None:
    for relation in (Relation.EVOLUTION, Relation.TENSION):
        found = verdict(SetReader({relation: 0.97}), older, newer)

        assert found.relation is not relation or found.sure < PROPOSE_AT


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Deploys happen on Friday", "Never deploy on Friday"),
        ("The gate is locked at night", "The gate is not locked at night"),
        ("Vera owns billing", "Vera doesn't own billing"),
    ],
)
def test_a_plain_denial_is_told_by_signs_whatever_is_read(older: str, newer: str) -> None:
    found = verdict(SetReader({Relation.DUPLICATE: 0.99}), older, newer)

    assert found.relation in (Relation.TENSION, Relation.EVOLUTION)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Chose SQLite for Ormah", "Ormah uses SQLite"),
        ("The boiler was chosen by Vera and Hugo", "Vera and Hugo use the boiler"),
    ],
)
def test_what_says_nothing_new_replaces_nothing(older: str, newer: str) -> None:
    read = {Relation.EVOLUTION: 0.6, Relation.DUPLICATE: 0.35}

    found = verdict(SetReader(read), older, newer)

    assert found.relation is Relation.DUPLICATE
    assert PROPOSE_AT <= found.sure < MERGE_AT


@pytest.mark.parametrize("relation", [Relation.EVOLUTION, Relation.TENSION])
def test_a_conflict_of_texts_little_alike_is_not_sure_enough_to_ask(relation: Relation) -> None:
    """Of all the pairs of a store far more are unlike than among those that were learnt."""
    texts = "The kiln is fired on Mondays.", "Glazes dry for two days."

    near = verdict(SetReader({relation: 0.9}), *texts, similarity=0.65)
    far = verdict(SetReader({relation: 0.9}), *texts, similarity=0.45)

    assert (near.relation, near.sure) == (relation, 0.9)
    assert far.relation is relation
    assert far.sure < PROPOSE_AT


def test_a_text_too_long_to_be_read_whole_is_told_by_signs() -> None:
    reader = SetReader({Relation.DUPLICATE: 0.99})
    long = "The parser reads TOML. " + "It was written in the spring of last year by Vera. " * 20

    found = verdict(reader, long, "The importer depends on the parser")

    assert reader.asked == []
    assert found.relation is not Relation.DUPLICATE


def test_a_reader_that_is_down_leaves_signs_and_a_problem() -> None:
    judge = LocalJudge(shipped_weights(), SetReader({Relation.NONE: 0.9}, down=True))
    pair = MemoryPair(memory("Likes dark mode", 0), memory("Dislikes dark mode", 3), 0.8)

    (found,) = judge.judge([pair])

    assert found is not None
    assert found.relation is Relation.TENSION
    (problem,) = judge.problems()
    assert "its file is gone" in problem
    assert judge.problems() == {}


def test_a_pair_that_waits_to_be_read_has_no_verdict_and_is_told_of() -> None:
    pair = "Shop shuts at noon on Sundays.", "On Sundays the shop is open until noon."
    judged = MemoryPair(memory(pair[0], 0), memory(pair[1], 3), 0.8)

    judge = LocalJudge(shipped_weights(), SetReader({Relation.NONE: 0.99}, waiting=[pair]))

    assert judge.judge([judged]) == [None]
    assert judge.problems() == {"pairs that wait to be read in another run": 1}


def test_a_judge_with_a_reader_goes_by_another_name() -> None:
    """So what was looked at without one is looked at again."""
    alone = LocalJudge(shipped_weights())
    reading = LocalJudge(shipped_weights(), SetReader({Relation.NONE: 1.0}))

    assert reading.name != alone.name
    assert "set" in reading.name


def in_store(
    reader: SetReader,
    similarity: float,
    older: str = BOAT,
    newer: str = DIESEL,
    for_links: bool = False,
) -> Verdict:
    shared = SharedWords(0.5, 2.0, 1)
    pair = MemoryPair(memory(older, 0), memory(newer, 3), similarity, shared, for_links)
    (found,) = LocalJudge(shipped_weights(), reader).judge([pair])
    assert found is not None
    return found


def test_among_all_that_is_near_in_a_store_another_chance_counts() -> None:
    reader = SetReader({Relation.EVOLUTION: 0.95}, in_store={Relation.EVOLUTION: 0.62}, unread=0.5)

    found = in_store(reader, 0.45)

    assert (found.relation, found.sure) == (Relation.EVOLUTION, 0.62)


@pytest.mark.parametrize(
    ("read", "newer"),
    [(0.2, DIESEL), (0.9, "The boat is also heated with diesel.")],
)
def test_what_reads_as_no_update_or_adds_something_is_not_sure_enough_to_ask(
    read: float, newer: str
) -> None:
    reader = SetReader({Relation.EVOLUTION: read}, in_store={Relation.EVOLUTION: 0.9}, unread=0.5)

    found = in_store(reader, 0.8, newer=newer)

    assert found.relation is Relation.EVOLUTION
    assert found.sure < 0.6


def test_what_shares_hardly_anything_is_not_read() -> None:
    reader = SetReader({Relation.EVOLUTION: 0.95}, unread=0.005)

    found = in_store(reader, 0.45)

    assert (found.relation, reader.asked) == (Relation.NONE, [])


@pytest.mark.parametrize(
    ("unread", "for_links", "read"), [(0.04, False, 0), (0.06, False, 1), (0.005, True, 1)]
)
def test_what_is_alike_and_shares_little_is_read_for_links_only(
    unread: float, for_links: bool, read: int
) -> None:
    reader = SetReader({Relation.EVOLUTION: 0.95}, in_store={Relation.NONE: 0.9}, unread=unread)

    found = in_store(reader, 0.65, for_links=for_links)

    assert found.relation is Relation.NONE
    assert len(reader.asked) == read
