"""What every index must do, whatever it is built on.

One suite over every engine that the fixture `make_index` opens. `index_candidates.py` goes on with
what recall draws from an index.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from madeleine.errors import Rejected
from madeleine.index.graph import EdgeRow
from madeleine.index.log import ParseProblem
from madeleine.index.port import Index, IndexBatch, MemoryPut
from madeleine.index.sqlite import SqliteIndex
from madeleine.language.claims import claim_address, claim_value_key
from madeleine.language.standing import READ_KEY, SET_KEY, STANDING_KEYS
from madeleine.language.text_keys import same_text_key
from madeleine.model.event import Event, EventKind, JournalCursor
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Claim, Connection, Memory, Origin, Usage
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.query import Filter
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, Edge, MemoryKind, MemoryType, Tier
from madeleine.rules.usage import AdoptedCounters, MemoryUse, fold_uses
from madeleine.testing.engines import Maker
from madeleine.testing.making import (
    DIMENSION,
    NOON,
    event,
    ids,
    keep,
    memory,
    memory_id,
    put,
    stored,
    trace,
    unit,
)

ANY = Filter()
ALL = Filter(outdated=True)

EXAMPLES = settings().max_examples * 2 // 3  # more with a profile of hypothesis that has more


# --- memories -----------------------------------------------------------------------------


def test_tags_come_by_use_and_by_their_beginning(index: Index) -> None:
    keep(index, memory(1, "one", tags=("fruit", "friend")))
    keep(index, memory(2, "two", tags=("fruit", "猫", "pome")))
    keep(index, memory(3, "three", tags=("pome",)))

    assert index.search.tags("", 3) == [("fruit", 2), ("pome", 2), ("friend", 1)]
    assert index.search.tags("fr", 10) == [("fruit", 2), ("friend", 1)]
    assert index.search.tags("猫", 10) == [("猫", 1)]
    assert index.search.tags("x", 10) == []


def test_a_memory_comes_back_as_it_was_put(index: Index) -> None:
    made = memory(
        1,
        "body\r\nwith \x00 and 猫 and ‏عربي‏",
        type=MemoryType.DECISION,
        tier=Tier.CORE,
        space="atlas",
        title="A title",
        tags=("one", "two-words", "猫"),
        source="agent:codex",
        confidence=0.25,
        valid_until=NOON + timedelta(microseconds=1),
        superseded_by=memory_id(9),
        origin=Origin("session", 3, "alice", "file:///x"),
        claim=Claim("the server", "port", "80 | 90"),
        idempotency_key="key",
        connections=(
            Connection(memory_id(2), Edge.SUPPORTS, 0.75, "because", "linker", NOON, "causal", 0.5),
            Connection(memory_id(0), Edge.PART_OF),
        ),
    )

    index.write(IndexBatch(puts=[put(made, path="sub/folder.md")]))

    assert index.search.get(made.id) == stored(made, "sub/folder.md")
    assert index.search.memories([memory_id(5), made.id]) == {made.id: made}
    assert index.search.get(memory_id(5)) is None


def test_putting_a_memory_again_replaces_what_it_said(index: Index) -> None:
    keep(index, memory(1, "green apples", tags=("fruit",)))

    keep(index, memory(1, "red pears", tags=("pome",)))

    assert index.search.search_text(["apples"], ANY, NOON, 10) == []
    assert ids(index.search.search_text(["pears"], ANY, NOON, 10)) == [memory_id(1)]
    assert index.search.count(Filter(tags=("fruit",)), NOON) == 0
    assert index.search.count(Filter(tags=("pome",)), NOON) == 1
    assert index.search.counts().memories == 1


def test_a_dropped_memory_is_found_by_nothing(index: Index) -> None:
    index.write(
        IndexBatch(puts=[put(memory(1, "green apples", tags=("fruit",)), unit(1, 0, 0, 0))])
    )

    index.write(IndexBatch(drops=[memory_id(1), memory_id(7)]))

    assert index.search.get(memory_id(1)) is None
    assert index.search.search_text(["apples"], ANY, NOON, 10) == []
    assert index.search.search_vector(unit(1, 0, 0, 0), ANY, NOON, 10) == []
    assert index.search.listing(Filter(tags=("fruit",)), NOON, 10) == []
    assert index.search.vectors([memory_id(1)]) == {}
    assert index.search.fingerprints() == {}


def test_a_put_drops_whatever_stood_at_its_path_before(index: Index) -> None:
    index.write(IndexBatch(puts=[put(memory(1), path="a.md"), put(memory(2), path="b.md")]))

    index.write(IndexBatch(puts=[put(memory(3), path="a.md")]))

    assert index.search.get(memory_id(1)) is None
    assert index.search.id_at("a.md") == memory_id(3)
    assert index.search.id_at("b.md") == memory_id(2)
    assert index.search.id_at("c.md") is None


def test_two_files_may_swap_their_names_in_one_batch(index: Index) -> None:
    index.write(IndexBatch(puts=[put(memory(1), path="a.md"), put(memory(2), path="b.md")]))

    index.write(IndexBatch(puts=[put(memory(1), path="b.md"), put(memory(2), path="a.md")]))

    assert index.search.id_at("a.md") == memory_id(2)
    assert index.search.id_at("b.md") == memory_id(1)
    assert index.search.path_of(memory_id(1)) == "b.md"
    assert index.search.path_of(memory_id(2)) == "a.md"
    assert index.search.path_of(memory_id(3)) is None


def test_a_memory_dropped_and_put_in_one_batch_is_there(index: Index) -> None:
    index.write(IndexBatch(puts=[put(memory(1), path="old.md")]))

    index.write(IndexBatch(drops=[memory_id(1)], puts=[put(memory(1), path="new.md")]))

    assert index.search.id_at("new.md") == memory_id(1)
    assert index.search.id_at("old.md") is None


@pytest.mark.parametrize(
    "prefix", ["%", "_", "0000000%", "*", "[0-9]", "", "\udcff", "é", "0000001_"]
)
def test_a_wildcard_in_an_id_matches_nothing(index: Index, prefix: str) -> None:
    keep(index, memory(1), memory(2))

    assert index.search.ids_with_prefix(prefix) == []


def test_an_id_prefix_finds_what_begins_with_it_in_any_case(index: Index) -> None:
    keep(index, memory(0xABC1), memory(0xABC2), memory(0xDEF1))

    assert index.search.ids_with_prefix("0000ABC") == [memory_id(0xABC1), memory_id(0xABC2)]
    assert index.search.ids_with_prefix("0000abc", limit=1) == [memory_id(0xABC1)]
    assert index.search.ids_with_prefix(memory_id(0xDEF1)) == [memory_id(0xDEF1)]


def test_the_same_text_is_the_oldest_current_one_in_its_space(index: Index) -> None:
    key = same_text_key("likes  tea")
    later = NOON + timedelta(days=1)
    keep(
        index,
        memory(1, "likes tea", superseded_by=memory_id(9)),
        memory(2, "likes tea", valid_until=later),
        memory(3, "likes\ntea"),
        memory(4, "likes tea"),
        memory(5, "likes tea", space="atlas"),
    )

    assert index.search.same_text(None, key, NOON)[0] == memory_id(2)
    assert index.search.same_text(None, key, later)[0] == memory_id(3)
    assert index.search.same_text("atlas", key, NOON) == [memory_id(5)]
    assert index.search.same_text("other", key, NOON) == []
    assert index.search.same_text(None, same_text_key("likes coffee"), NOON) == []


def test_claims_at_an_address_are_the_current_ones_oldest_first(index: Index) -> None:
    later = NOON + timedelta(days=1)
    port, other = Claim("Server", "port", "80"), Claim("server", "Port ", "90")
    keep(
        index,
        memory(5, claim=port, space="atlas"),
        memory(4, claim=other, valid_until=later),
        memory(3, claim=port, superseded_by=memory_id(4)),
        memory(2, claim=replace(port, subject="client")),
        memory(1),
    )
    at = claim_address(port)

    assert index.search.claims(at, NOON) == [memory_id(4), memory_id(5)]
    assert index.search.claims(at, later) == [memory_id(5)]
    assert index.search.claims(at, NOON, but=claim_value_key(other)) == [memory_id(5)]
    assert index.search.claims("nowhere", NOON) == []
    keep(index, memory(5))
    index.write(IndexBatch(drops=[memory_id(4)]))
    assert index.search.claims(at, NOON) == []


def test_contested_is_what_claims_that_meet_do_not_agree_on(index: Index) -> None:
    def claiming(number: int, subject: str, value: str, **fields: Any) -> Memory:
        return memory(number, claim=Claim(subject, "port", value), **fields)

    keep(
        index,
        claiming(1, "agreed", "80"),
        claiming(2, "agreed", " 80"),
        claiming(3, "apart", "80", space="atlas"),
        claiming(4, "apart", "90", space="orion"),
        claiming(5, "global", "80"),
        claiming(6, "global", "90", space="orion"),
        claiming(7, "within", "80", space="atlas"),
        claiming(8, "within", "90", space="atlas"),
        claiming(9, "over", "80"),
        claiming(10, "over", "90", valid_until=NOON),
    )

    assert index.search.contested_addresses(NOON, 9) == ["global\nport", "within\nport"]
    assert index.search.contested_addresses(NOON, 1) == ["global\nport"]
    assert index.search.contested_addresses(NOON, 0) == []


def test_a_memory_is_found_by_what_it_claims(index: Index) -> None:
    keep(index, memory(1, "it is Cork now", claim=Claim("Ana", "residence", "Cork")))

    assert ids(index.search.search_text(["residence"], ANY, NOON, 9)) == [memory_id(1)]
    keep(index, memory(1, "it is Cork now"))
    assert index.search.search_text(["residence"], ANY, NOON, 9) == []


def test_an_idempotency_key_names_its_memory(index: Index) -> None:
    keep(index, memory(1, idempotency_key="call-1"), memory(2))

    assert index.search.with_idempotency_key("call-1") == memory_id(1)
    assert index.search.with_idempotency_key("call-2") is None


def test_the_oldest_self_is_the_self(index: Index) -> None:
    assert index.graph.self_id() is None

    keep(index, memory(2, source=SELF_SOURCE), memory(1, source=SELF_SOURCE), memory(0))

    assert index.graph.self_id() == memory_id(1)


def test_a_listing_is_newest_first_and_can_be_paged(index: Index) -> None:
    keep(index, *(memory(number) for number in (3, 1, 2)), memory(4, created=memory(3).created))

    assert ids(index.search.listing(ANY, NOON, 10)) == [memory_id(each) for each in (4, 3, 2, 1)]
    assert ids(index.search.listing(ANY, NOON, 2, 1)) == [memory_id(3), memory_id(2)]
    assert index.search.listing(ANY, NOON, 0) == []
    assert index.search.count(ANY, NOON) == 4


def test_counts_say_how_much_there_is(index: Index) -> None:
    link = Connection(memory_id(9))
    first = memory(1, space="atlas", tier=Tier.CORE, connections=(link,))
    index.write(
        IndexBatch(
            puts=[put(first, unit(1, 0, 0, 0)), put(memory(2, type=MemoryType.GOAL))],
            events=[event(EventKind.RUN, 1, job="x")],
            unreadable={"broken.md": (3, "unclosed quote")},
        )
    )

    counts = index.search.counts()

    assert (counts.memories, counts.edges, counts.unembedded) == (2, 1, 1)
    assert (counts.unreadable, counts.events) == (1, 1)
    assert counts.by_type == {"fact": 1, "goal": 1}
    assert counts.by_tier == {"core": 1, "working": 1}
    assert counts.by_space == {"atlas": 1, "global": 1}


def test_core_memories_come_least_important_first_without_the_self(index: Index) -> None:
    core = [memory(number, tier=Tier.CORE) for number in (1, 2, 3)]
    keep(index, *core, memory(4, tier=Tier.CORE, source=SELF_SOURCE), memory(5))
    scores = {memory_id(1): {"importance": 0.9}, memory_id(3): {"importance": 0.1}}

    index.write(IndexBatch(events=[event(EventKind.SCORED, 1, scores=scores)]))

    assert index.search.core_by_importance() == [
        (memory_id(3), 0.1),
        (memory_id(2), 0.5),
        (memory_id(1), 0.9),
    ]


def test_what_names_a_successor_is_found_by_it(index: Index) -> None:
    keep(index, memory(1, superseded_by=memory_id(3)), memory(2), memory(3))

    assert index.graph.superseded_by(memory_id(3)) == [memory_id(1)]
    assert index.graph.superseded_by(memory_id(2)) == []


def test_nothing_of_a_refused_batch_is_there(index: Index) -> None:
    good, bad = put(memory(1), unit(1, 0, 0, 0)), put(memory(2), np.ones(7, np.float32))

    with pytest.raises(Rejected):
        index.write(IndexBatch(puts=[good, bad], events=[event(EventKind.RUN, 1)]))

    assert index.search.counts().memories == 0
    assert index.log.event("event-0001") is None
    assert index.search.search_vector(unit(1, 0, 0, 0), ANY, NOON, 5) == []


def test_clearing_leaves_an_index_that_can_be_filled_again(index: Index) -> None:
    batch = IndexBatch(
        puts=[put(memory(1, "green apples", tags=("fruit",)), unit(1, 0, 0, 0))],
        events=[event(EventKind.USED, 1, memory=memory_id(1))],
        positions={"desk": JournalCursor(3, "x")},
    )
    index.write(batch)
    before = index.search.get(memory_id(1))

    index.clear()

    assert index.search.counts().memories == index.search.counts().events == 0
    assert index.log.positions() == {}
    assert index.search.search_text(["apples"], ANY, NOON, 5) == []
    assert index.search.search_vector(unit(1, 0, 0, 0), ANY, NOON, 5) == []
    index.write(batch)
    assert index.search.get(memory_id(1)) == before
    assert len(index.search.search_vector(unit(1, 0, 0, 0), ANY, NOON, 5)) == 1


def test_a_rebuild_is_seen_all_at_once(index: Index) -> None:
    index.write(IndexBatch(puts=[put(memory(1, "green apples"), unit(1, 0, 0, 0))]))

    fresh = index.fresh()
    fresh.write(IndexBatch(puts=[put(memory(2, "red pears"), unit(0, 1, 0, 0))]))
    fresh.write(IndexBatch(puts=[put(memory(3, "red plums"), unit(0, 0, 1, 0))]))
    assert ids(index.search.listing(ANY, NOON, 5)) == [memory_id(1)]
    index.replace_with(fresh)

    assert ids(index.search.listing(ANY, NOON, 5)) == [memory_id(3), memory_id(2)]
    assert index.search.search_text(["apples"], ANY, NOON, 5) == []
    assert ids(index.search.search_vector(unit(0, 0, 1, 0), ANY, NOON, 1)) == [memory_id(3)]
    keep(index, memory(4))
    assert index.search.counts().memories == 3


def test_an_abandoned_rebuild_leaves_nothing_for_the_next_one(index: Index) -> None:
    abandoned = index.fresh()
    keep(abandoned, memory(7))
    abandoned.close()

    fresh = index.fresh()

    assert fresh.search.counts().memories == 0
    fresh.close()


# --- words --------------------------------------------------------------------------------


def test_a_word_in_the_title_outranks_the_same_word_in_the_text(index: Index) -> None:
    keep(
        index,
        memory(1, "sqlite " * 8 + "is embedded", title="About databases here"),
        memory(2, "one writer at a time " * 3, title="Use sqlite"),
    )

    found = index.search.search_text(["sqlite"], ANY, NOON, 10)

    assert ids(found) == [memory_id(2), memory_id(1)]
    assert all(hit.score > 0 for hit in found)


def test_a_tag_weighs_more_than_a_word_of_the_text_and_less_than_the_title(index: Index) -> None:
    keep(
        index,
        memory(1, "sqlite is what it says", title="Some title"),
        memory(2, "nothing of the kind", title="Some title", tags=("sqlite",)),
        memory(3, "nothing of the kind", title="Some sqlite"),
    )

    found = index.search.search_text(["sqlite"], ANY, NOON, 10)

    assert ids(found) == [memory_id(3), memory_id(2), memory_id(1)]


def test_any_of_the_words_will_do_and_more_are_better(index: Index) -> None:
    keep(index, memory(1, "green pears"), memory(2, "green apples"), memory(3, "red plums"))

    found = index.search.search_text(["green", "apples"], ANY, NOON, 10)

    assert ids(found) == [memory_id(2), memory_id(1)]
    assert ids(index.search.search_text(["green", "apples"], ANY, NOON, 1)) == [memory_id(2)]


def test_equal_scores_are_ordered_by_id(index: Index) -> None:
    keep(index, *(memory(number, "the same words") for number in (5, 2, 9, 1)))

    found = index.search.search_text(["same"], ANY, NOON, 10)

    assert ids(found) == [memory_id(each) for each in (1, 2, 5, 9)]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Café au lait", "cafe"),
        ("cafe\u0301 au lait", "café"),
        ("she runs daily", "running"),
        ("私は猫が好きです", "猫が好き"),
        ("私は猫が好きです", "猫"),
        ("猫", "猫"),
        ("我喜欢喝绿茶", "绿茶"),
        ("ฉันรักแมวมาก", "แมว"),
        ("고양이를 좋아해요", "고양이"),
        ("Pythonの入門書", "python"),
        ("カタカナ", "ｶﾀｶﾅ"),
        ("हिन्दी में लिखा", "हिन्दी"),
        ("uses C++ and sub_modules", "sub_modules"),
        ("state-of-the-art", "state-of-the-art"),
    ],
)
def test_words_are_found_in_many_scripts(index: Index, text: str, question: str) -> None:
    keep(index, memory(1, text), memory(2, "unrelated english words"))

    assert ids(index.search.search_text([question], ANY, NOON, 10)) == [memory_id(1)]


def test_a_title_without_spaces_outranks_a_text_without_spaces(index: Index) -> None:
    keep(
        index,
        memory(1, "猫が好きです猫が好きです", title="犬の話"),
        memory(2, "犬の話と鳥の話", title="猫が好き"),
    )

    assert ids(index.search.search_text(["猫が好き"], ANY, NOON, 10)) == [
        memory_id(2),
        memory_id(1),
    ]


@pytest.mark.parametrize(
    "term",
    ['"', '""', '"x', "*", "x*", "NEAR(", "NEAR(a b, 2)", "AND", "OR", "NOT", "title:x", "a\x00b",
     "\x00", "", "   ", "🙂", "-x", "^x", "{a b}:c", "(", "\ud800", "'; DROP TABLE nodes; --"],
)  # fmt: skip
def test_no_term_is_ever_taken_for_syntax(index: Index, term: str) -> None:
    keep(index, memory(1, "ordinary words"))

    index.search.search_text([term], ANY, NOON, 10)

    assert ids(index.search.search_text([term, "ordinary"], ANY, NOON, 10)) == [memory_id(1)]


@given(terms=st.lists(st.text(st.characters(), max_size=12), max_size=6))
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_text_may_be_asked_for(index: Index, terms: list[str]) -> None:
    keep(index, memory(1, "ordinary words"))

    assert memory_id(1) in ids(index.search.search_text([*terms, "ordinary"], ANY, NOON, 10))


@given(content=st.text(st.characters(codec="utf-8"), min_size=1, max_size=60))
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_text_can_be_kept_replaced_and_dropped(index: Index, content: str) -> None:
    made = memory(1, content, title=content[:10])
    keep(index, made)
    assert index.search.memories([made.id]) == {made.id: made}

    keep(index, memory(1, "ordinary words"))
    assert ids(index.search.search_text(["ordinary"], ANY, NOON, 5)) == [made.id]

    index.write(IndexBatch(drops=[made.id]))
    assert index.search.search_text(["ordinary"], ANY, NOON, 5) == []


# --- meaning ------------------------------------------------------------------------------


def test_the_nearest_in_meaning_come_first(index: Index) -> None:
    vectors = {1: unit(1, 0, 0, 0), 2: unit(1, 1, 0, 0), 3: unit(0, 0, 1, 0), 4: unit(-1, 0, 0, 0)}
    index.write(IndexBatch(puts=[put(memory(number), each) for number, each in vectors.items()]))

    found = index.search.search_vector(unit(1, 0.1, 0, 0), ANY, NOON, 3)

    assert ids(found) == [memory_id(1), memory_id(2), memory_id(3)]
    assert found[0].score == pytest.approx(0.995, abs=0.001)


def test_only_what_is_at_least_so_close_is_found_when_that_is_asked(index: Index) -> None:
    vectors = {1: unit(1, 0, 0, 0), 2: unit(1, 1, 0, 0), 3: unit(0, 0, 1, 0)}
    index.write(IndexBatch(puts=[put(memory(number), each) for number, each in vectors.items()]))

    for least, expected in ((0.9, [1]), (0.65, [1, 2]), (-1.0, [1, 2, 3])):
        found = index.search.search_vector(unit(1, 0, 0, 0), ANY, NOON, 5, least=least)
        assert ids(found) == [memory_id(each) for each in expected]


def test_equal_vectors_are_ordered_by_id(index: Index) -> None:
    same = unit(0.3, 0.2, 0.9, 0.1)
    index.write(IndexBatch(puts=[put(memory(number), same) for number in (8, 3, 5, 1)]))

    assert ids(index.search.search_vector(same, ANY, NOON, 3)) == [
        memory_id(each) for each in (1, 3, 5)
    ]


def test_a_vector_goes_with_its_text_unless_it_still_fits(index: Index) -> None:
    index.write(
        IndexBatch(puts=[put(memory(1), unit(1, 0, 0, 0)), put(memory(2), unit(0, 1, 0, 0))])
    )

    index.write(
        IndexBatch(
            puts=[
                MemoryPut(stored(memory(1, tier=Tier.CORE)), keep_traces=True),
                MemoryPut(stored(memory(2, "another text"))),
                MemoryPut(stored(memory(3)), keep_traces=True),
            ]
        )
    )

    core = Filter(tiers=(Tier.CORE,))
    assert ids(index.search.search_vector(unit(1, 1, 0, 0), ANY, NOON, 5)) == [memory_id(1)]
    assert ids(index.search.search_vector(unit(1, 1, 0, 0), core, NOON, 5)) == [memory_id(1)]
    assert index.search.unembedded_ids(10) == [memory_id(2), memory_id(3)]
    assert set(index.search.vectors([memory_id(1), memory_id(2)])) == {memory_id(1)}


def test_vectors_can_be_given_later(index: Index) -> None:
    keep(index, memory(1), memory(2))
    assert index.search.unembedded_ids(1) == [memory_id(1)]

    index.set_traces(
        {memory_id(2): [trace(unit(0, 1, 0, 0))], memory_id(9): [trace(unit(1, 0, 0, 0))]}
    )

    assert index.search.unembedded_ids(10) == [memory_id(1)]
    assert ids(index.search.search_vector(unit(0, 1, 0, 0), ANY, NOON, 5)) == [memory_id(2)]
    np.testing.assert_allclose(index.search.vectors([memory_id(2)])[memory_id(2)], unit(0, 1, 0, 0))


@pytest.mark.parametrize("bad", [np.ones(3), np.ones((1, 4)), np.array([1, 2, np.nan, 0])])
def test_a_vector_that_cannot_be_the_models_is_rejected(
    index: Index, bad: NDArray[np.float64]
) -> None:
    vector = bad.astype(np.float32)
    keep(index, memory(1))

    with pytest.raises(Rejected):
        index.set_traces({memory_id(1): [trace(vector)]})
    with pytest.raises(Rejected):
        index.search.search_vector(vector, ANY, NOON, 5)

    assert index.search.unembedded_ids(5) == [memory_id(1)]


def test_a_filter_finds_the_one_match_among_many(index: Index) -> None:
    facts = [put(memory(number, "about tea"), unit(1, 0, 0, 0)) for number in range(1, 201)]
    odd = memory(500, "tea, if at all", type=MemoryType.DECISION, tags=("rare",))
    index.write(IndexBatch(puts=[*facts, put(odd, unit(0, 0, 0, 1))]))

    for chosen in (Filter(types=(MemoryType.DECISION,)), Filter(tags=("rare",))):
        assert ids(index.search.search_text(["tea"], chosen, NOON, 1)) == [odd.id]
        assert ids(index.search.search_vector(unit(1, 0, 0, 0), chosen, NOON, 1)) == [odd.id]
        assert ids(index.search.listing(chosen, NOON, 1)) == [odd.id]


# --- filters ------------------------------------------------------------------------------

SPACES = (None, "atlas", "blog")
TAGS = ("red", "blue", "green")
TIMES = [NOON + timedelta(days=number) for number in range(-3, 4)]

some = st.sampled_from
made_memories: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.builds(
        dict,
        type=some(list(MemoryType)[:3]),
        tier=some(list(Tier)),
        space=some(SPACES),
        tags=st.lists(some(TAGS), max_size=2, unique=True).map(tuple),
        created=some(TIMES),
        valid_until=st.none() | some(TIMES),
        superseded_by=st.none() | st.just(memory_id(999)),
    ),
    max_size=12,
)
filters = st.builds(
    Filter,
    types=st.lists(some(list(MemoryType)[:4]), max_size=2).map(tuple),
    tiers=st.lists(some(list(Tier)), max_size=2).map(tuple),
    spaces=st.lists(some((*SPACES, "empty")), max_size=2).map(tuple),
    tags=st.lists(some((*TAGS, "none")), max_size=2).map(tuple),
    created_after=st.none() | some(TIMES),
    created_before=st.none() | some(TIMES),
    as_of=st.none() | some(TIMES),
    outdated=st.booleans(),
)


def passes(made: Memory, chosen: Filter, now: datetime) -> bool:
    """The rule of every filter, once more and as plainly as possible."""
    return (
        (not chosen.types or made.type in chosen.types)
        and (not chosen.tiers or made.tier in chosen.tiers)
        and (not chosen.spaces or made.space in chosen.spaces)
        and (not chosen.tags or bool(set(made.tags) & set(chosen.tags)))
        and (chosen.created_after is None or made.created >= chosen.created_after)
        and (chosen.created_before is None or made.created < chosen.created_before)
        and (chosen.as_of is None or made.created <= chosen.as_of)
        and (chosen.outdated or not outdated(made, chosen.as_of, now))
    )


def outdated(made: Memory, as_of: datetime | None, now: datetime) -> bool:
    if made.valid_until is not None and made.valid_until <= (as_of or now):
        return True
    return made.superseded_by is not None and (as_of is None or made.valid_until is None)


@pytest.mark.proves("I11")
@given(fields=made_memories, chosen=filters)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_search_obeys_every_filter(
    index: Index, fields: list[dict[str, Any]], chosen: Filter
) -> None:
    memories = [memory(number, "a word", **each) for number, each in enumerate(fields)]
    index.clear()
    index.write(IndexBatch(puts=[put(each, unit(1, 2, 3, 4)) for each in memories]))

    wanted = {each.id for each in memories if passes(each, chosen, NOON)}

    assert set(ids(index.search.search_text(["word"], chosen, NOON, 50))) == wanted
    assert set(ids(index.search.search_vector(unit(1, 0, 0, 0), chosen, NOON, 50))) == wanted
    assert set(ids(index.search.listing(chosen, NOON, 50))) == wanted
    assert index.search.count(chosen, NOON) == len(wanted)
    assert (
        index.search.select_allowed([memory_id(77), *(each.id for each in memories)], chosen, NOON)
        == wanted
    )


# --- graph --------------------------------------------------------------------------------


def test_reindexing_a_memory_keeps_every_connection_that_points_to_it(index: Index) -> None:
    link = Connection(memory_id(2), Edge.SUPPORTS, 0.9, "why", "alice", NOON, "causal", 0.5)
    keep(index, memory(1, connections=(link,)), memory(2, "old"))

    keep(index, memory(2, "new"))

    row = EdgeRow(memory_id(1), link)
    assert index.graph.edges([memory_id(2)]) == [row]
    assert index.graph.edges([memory_id(1), memory_id(2)]) == [row]
    assert index.graph.edges([memory_id(3)]) == []


def test_a_dangling_connection_is_kept_and_resolves_when_its_target_comes(index: Index) -> None:
    link = Connection(memory_id(2))
    keep(index, memory(1, connections=(link,)))
    assert index.graph.edges([memory_id(1)]) == [EdgeRow(memory_id(1), link, resolved=False)]

    keep(index, memory(2))
    assert index.graph.edges([memory_id(2)]) == [EdgeRow(memory_id(1), link, resolved=True)]

    index.write(IndexBatch(drops=[memory_id(2)]))
    assert index.graph.edges([memory_id(2)]) == [EdgeRow(memory_id(1), link, resolved=False)]


def test_a_connection_taken_out_of_the_file_is_gone(index: Index) -> None:
    keep(index, memory(1, connections=(Connection(memory_id(2)), Connection(memory_id(3)))))

    keep(index, memory(1, connections=(Connection(memory_id(3)),)))

    assert [row.connection.target for row in index.graph.edges([memory_id(1)])] == [memory_id(3)]
    index.write(IndexBatch(drops=[memory_id(1)]))
    assert index.graph.edges([memory_id(3)]) == []


def test_two_memories_may_be_connected_in_more_than_one_way(index: Index) -> None:
    links = (Connection(memory_id(2), Edge.SUPPORTS), Connection(memory_id(2), Edge.PART_OF))

    keep(index, memory(1, connections=links), memory(2))

    assert {row.connection.edge for row in index.graph.edges([memory_id(2)])} == {
        Edge.SUPPORTS,
        Edge.PART_OF,
    }
    found = index.search.get(memory_id(1))
    assert found is not None
    assert found.memory.connections == links


def test_the_self_defines_whatever_is_tagged_about_self(index: Index) -> None:
    own = (Connection(memory_id(2), Edge.DEFINES, 0.3, "said so"),)
    keep(
        index,
        memory(1, source=SELF_SOURCE, tags=(ABOUT_SELF,), connections=own),
        memory(2, tags=(ABOUT_SELF,)),
        memory(3, tags=(ABOUT_SELF, "x")),
        memory(4),
    )

    written = EdgeRow(memory_id(1), own[0])
    implied = EdgeRow(memory_id(1), Connection(memory_id(3), Edge.DEFINES, 1.0), implied=True)
    assert index.graph.edges([memory_id(1)]) == [written, implied]
    assert index.graph.edges([memory_id(2)]) == [written]
    assert index.graph.edges([memory_id(3), memory_id(4)]) == [implied]
    assert index.search.counts().edges == 1


# --- files --------------------------------------------------------------------------------


def test_an_unreadable_file_keeps_its_row_and_has_no_fingerprint(index: Index) -> None:
    index.write(IndexBatch(puts=[put(memory(1), path="a.md"), put(memory(2), path="b.md")]))

    index.write(
        IndexBatch(unreadable={"a.md": (4, "unclosed quote"), "new.md": (1, "no front matter")})
    )

    assert index.search.unreadable() == [
        ParseProblem("a.md", 4, "unclosed quote"),
        ParseProblem("new.md", 1, "no front matter"),
    ]
    assert index.search.get(memory_id(1)) is not None
    assert set(index.search.fingerprints()) == {"b.md"}


def test_a_file_that_is_put_dropped_or_gone_is_no_longer_unreadable(index: Index) -> None:
    index.write(IndexBatch(puts=[put(memory(2), path="b.md")]))
    index.write(IndexBatch(unreadable=dict.fromkeys(("a.md", "b.md", "c.md"), (1, "bad"))))

    index.write(
        IndexBatch(
            puts=[put(memory(1), path="a.md")], drops=[memory_id(2)], readable_again=["c.md"]
        )
    )

    assert index.search.unreadable() == []
    size = len(memory(1).content)
    assert index.search.fingerprints() == {"a.md": Fingerprint(size, size)}


# --- the journal --------------------------------------------------------------------------


def test_uses_are_folded_into_the_counters(index: Index) -> None:
    made = memory(1)
    keep(index, made)
    uses = [MemoryUse(NOON + timedelta(days=day), "s", 1 + day) for day in range(3)]

    index.write(
        IndexBatch(
            events=[
                Event(f"u{number}", use.at, EventKind.USED, "desk",
                      {"memory": made.id, "session": "s", "n": use.count})
                for number, use in enumerate(uses)
            ]
        )
    )  # fmt: skip

    found = index.search.memories([made.id])[made.id]
    assert found.usage == fold_uses(made.created, uses)
    assert found.access_count == 6


def test_an_event_counts_once_however_often_it_comes(index: Index) -> None:
    keep(index, memory(1))
    used = event(EventKind.USED, 1, memory=memory_id(1))

    index.write(IndexBatch(events=[used, used]))
    index.write(IndexBatch(events=[used]))

    assert index.search.memories([memory_id(1)])[memory_id(1)].access_count == 1
    assert index.search.counts().events == 1
    assert index.log.event("event-0001") == used
    assert index.log.event("event-0002") is None


def test_adopted_counters_are_the_base_and_scores_win_over_them(index: Index) -> None:
    keep(index, memory(1), memory(2))
    counters: dict[str, Any] = {
        "access_count": 7,
        "last_accessed": "2026-11-01T00:00:00Z",
        "stability": 3.5,
        "importance": 0.8,
        "last_review": "nonsense",
    }
    adopted = [
        event(EventKind.ADOPTED, number, memory=memory_id(number), **counters) for number in (1, 2)
    ]
    scored = event(
        EventKind.SCORED, 3, scores={memory_id(2): {"importance": 0.2, "relevance": 0.6}}
    )

    index.write(IndexBatch(events=[*adopted, scored]))

    found = index.search.memories([memory_id(1), memory_id(2)])
    expected = fold_uses(
        memory(1).created,
        [],
        AdoptedCounters(7, datetime.fromisoformat("2026-11-01T00:00:00Z"), None, 3.5, 0.8),
    )
    assert found[memory_id(1)].usage == expected
    assert found[memory_id(2)].importance == 0.2
    assert found[memory_id(2)].relevance == 0.6
    assert found[memory_id(2)].access_count == 7


def test_a_memory_without_events_has_plain_counters(index: Index) -> None:
    keep(index, memory(1))

    assert index.search.memories([memory_id(1)])[memory_id(1)].usage == Usage()


def test_a_use_today_is_told_by_session_and_utc_day(index: Index) -> None:
    index.write(IndexBatch(events=[event(EventKind.USED, 1, memory=memory_id(1), session="s")]))
    index.write(IndexBatch(events=[event(EventKind.USED, 2, memory=memory_id(2))]))

    assert index.log.used_today([memory_id(1)], "s", NOON + timedelta(hours=11))
    assert not index.log.used_today([memory_id(1)], "s", NOON + timedelta(hours=12))
    assert not index.log.used_today([memory_id(1)], None, NOON)
    assert index.log.used_today([memory_id(2)], None, NOON) == {memory_id(2)}
    assert not index.log.used_today([memory_id(2)], "s", NOON)


def test_a_whisper_today_counts_only_where_it_is_asked_for(index: Index) -> None:
    both = [memory_id(1), memory_id(2)]
    whispered = event(EventKind.USED, 1, memory=memory_id(1), session="s", how="whispered", n=0)
    recalled = event(EventKind.USED, 2, memory=memory_id(2), session="s", how="recalled")
    index.write(IndexBatch(events=[whispered, recalled]))

    assert index.log.used_today(both, "s", NOON) == {memory_id(2)}
    assert index.log.used_today(both, "s", NOON, whispers=True) == set(both)


def test_a_birth_that_moves_folds_the_uses_anew(index: Index) -> None:
    later = memory(1, created=NOON - timedelta(days=1))
    keep(index, memory(1))
    index.write(IndexBatch(events=[event(EventKind.USED, 1, memory=memory_id(1))]))

    keep(index, later)

    assert index.search.memories([later.id])[later.id].usage == fold_uses(
        later.created, [MemoryUse(NOON)]
    )


def test_history_tells_what_happened_newest_first(index: Index) -> None:
    edits = [{"memory": memory_id(1), "path_before": "a.md"}, {"memory": memory_id(2)}]
    happened = [
        event(EventKind.REMEMBERED, 1, 0, memory=memory_id(1), change="c1", by="cli"),
        event(EventKind.CHANGED, 2, 1, change="c2", verb="merge", edits=edits),
        event(EventKind.FEEDBACK, 3, 2, memory=memory_id(1), signal="useful"),
        event(EventKind.USED, 4, 3, memory=memory_id(1)),
        event(EventKind.REVIEWED, 5, 4, memory=memory_id(2), answer="keep"),
    ]

    index.write(IndexBatch(events=happened))

    assert index.log.history(memory_id(1)) == [happened[2], happened[1], happened[0]]
    assert index.log.history(memory_id(1), 1) == [happened[2]]
    assert index.log.history(memory_id(2)) == [happened[4], happened[1]]


def test_changes_are_found_by_id_by_prefix_and_by_run(index: Index) -> None:
    first = event(EventKind.CHANGED, 1, 0, change="abcdef-1", run="run-1", edits=[])
    second = event(EventKind.CHANGED, 2, 1, change="abcxyz-2", run="run-1", edits=[])
    third = event(EventKind.REMEMBERED, 3, 2, change="zzzzzz-3", memory=memory_id(1))
    index.write(
        IndexBatch(events=[first, second, third, event(EventKind.SETTLED, 4, change="abcdef-1")])
    )

    assert index.log.changes("abcdef-1") == [first]
    assert index.log.changes("abcdef") == [first]
    assert index.log.changes("abc") == []
    assert index.log.changes("run-1") == [second, first]
    assert index.log.changes("zzzzzz-3") == [third]
    assert index.log.changes("zzz%zz") == index.log.changes("______") == index.log.changes("") == []


def test_a_change_is_open_until_it_is_settled(index: Index) -> None:
    begun = [
        event(EventKind.CHANGED, number, number, change=f"c{number}", edits=[]) for number in (1, 2)
    ]
    index.write(
        IndexBatch(events=[*begun, event(EventKind.REMEMBERED, 3, change="c3", memory="m")])
    )
    assert index.log.unsettled_changes() == begun

    index.write(IndexBatch(events=[event(EventKind.SETTLED, 4, 5, change="c1", outcome="done")]))

    assert index.log.unsettled_changes() == [begun[1]]
    assert index.log.outcome("c1") == "done"
    assert index.log.outcome("c2") is None


def test_the_first_time_is_that_of_the_oldest_memory(index: Index) -> None:
    assert index.search.first_known() is None

    keep(index, memory(1, created=NOON), memory(2, created=NOON - timedelta(days=9)))

    assert index.search.first_known() == NOON - timedelta(days=9)


def test_of_a_run_it_is_known_how_much_still_holds(index: Index) -> None:
    made = [
        event(EventKind.CHANGED, number, number, change=f"c{number}", run="one", edits=[])
        for number in (1, 2, 3)
    ]
    scored = event(EventKind.SCORED, 4, 4, change="c4", run="other", scores={})
    over = [
        event(EventKind.SETTLED, 5, 5, change="c1", outcome="undone"),
        event(EventKind.SETTLED, 6, 5, change="c2", outcome="done"),
        event(EventKind.SETTLED, 7, 5, change="c3", outcome="dropped"),
    ]

    index.write(IndexBatch(events=[*made, scored, *over]))

    assert index.log.in_force(["one", "other", "none"]) == {"one": (3, 1), "other": (1, 1)}
    assert index.log.in_force([]) == {}


def test_recent_events_are_the_newest_of_their_kinds(index: Index) -> None:
    runs = [event(EventKind.RUN, number, number, job="decay") for number in range(4)]
    judged = event(EventKind.JUDGED, 9, 2.5, pair=[memory_id(1), memory_id(2)])
    index.write(IndexBatch(events=[*runs, judged]))

    assert index.log.recent_events(["run"], 2) == [runs[3], runs[2]]
    assert index.log.recent_events(["run", "judged"], 2) == [runs[3], judged]
    assert index.log.recent_events([], 9) == [runs[3], judged, runs[2], runs[1], runs[0]]
    assert index.log.recent_events(["state"], 5) == []


def test_a_proposal_waits_until_it_is_decided(index: Index) -> None:
    body: dict[str, Any] = {
        "type": "merge",
        "nodes": [memory_id(1), memory_id(2)],
        "wording": "make one of these two",
        "reason": "they say the same",
        "created": "2026-11-14T00:00:00Z",
        "action": {"verb": "merge", "keep": memory_id(1), "drop": memory_id(2)},
    }
    index.write(IndexBatch(events=[event(EventKind.PROPOSED, 1, proposal="p1", **body)]))
    index.write(IndexBatch(events=[event(EventKind.PROPOSED, 2, proposal="p2", type="nonsense")]))

    waiting = Proposal(
        "p1",
        ProposalType.MERGE,
        (memory_id(1), memory_id(2)),
        "make one of these two",
        datetime.fromisoformat("2026-11-14T00:00:00Z"),
        reason="they say the same",
        action=(("drop", memory_id(2)), ("keep", memory_id(1)), ("verb", "merge")),
    )
    assert index.log.proposals() == index.log.proposals(ProposalStatus.PENDING) == [waiting]

    index.write(
        IndexBatch(events=[event(EventKind.DECIDED, 3, 9, proposal="p1", status="rejected")])
    )

    assert index.log.proposals(ProposalStatus.PENDING) == []
    (decided,) = index.log.proposals(ProposalStatus.REJECTED)
    assert decided.resolved == NOON + timedelta(minutes=9)


def _ask(index: Index, number: int, *about: int) -> None:
    body: dict[str, Any] = {"type": "merge", "nodes": [memory_id(each) for each in about]}
    told = event(EventKind.PROPOSED, number, number, proposal=f"p{number}", wording="w", **body)
    index.write(IndexBatch(events=[told]))


def test_questions_are_found_by_the_memories_that_they_name(index: Index) -> None:
    _ask(index, 1, 1, 2)
    _ask(index, 2, 2, 3)
    _ask(index, 3, 4)

    def about(*numbers: int) -> list[str]:
        found = index.log.questions_about([memory_id(each) for each in numbers])
        return [each.id for each in found]

    assert about(1) == ["p1"]
    assert about(2) == about(1, 3, 2) == ["p2", "p1"]
    assert about() == about(5) == []
    waiting = index.log.proposals()
    assert index.log.questions_about([memory_id(each) for each in (1, 2, 3, 4)]) == waiting


def test_a_question_that_was_decided_is_found_no_more_until_it_waits_again(index: Index) -> None:
    _ask(index, 1, 1)
    for number, status in ((2, "rejected"), (3, "pending")):
        decided = event(EventKind.DECIDED, number, number, proposal="p1", status=status)
        index.write(IndexBatch(events=[decided]))
        found = index.log.questions_about([memory_id(1)])
        assert [each.id for each in found] == (["p1"] if status == "pending" else [])


def test_a_question_that_was_put_anew_is_found_by_what_it_names_now(index: Index) -> None:
    _ask(index, 1, 1)
    body: dict[str, Any] = {"type": "merge", "nodes": [memory_id(2)], "wording": "w"}
    index.write(IndexBatch(events=[event(EventKind.PROPOSED, 2, 5, proposal="p1", **body)]))

    assert index.log.questions_about([memory_id(1)]) == []
    assert [each.id for each in index.log.questions_about([memory_id(2)])] == ["p1"]


def test_the_newest_state_wins(index: Index) -> None:
    newer = event(EventKind.STATE, 1, 5, key="last_decay", value={"at": [1, 2]})
    older = event(EventKind.STATE, 2, 1, key="last_decay", value="old")

    index.write(IndexBatch(events=[newer]))
    index.write(IndexBatch(events=[older, event(EventKind.STATE, 3, key="empty", value=None)]))

    assert index.log.state("last_decay") == {"at": [1, 2]}
    assert index.log.state("empty") is None
    assert index.log.state("unknown") is None


def test_positions_are_kept_with_what_was_read(index: Index) -> None:
    index.write(IndexBatch(positions={"a": JournalCursor(10, "x"), "b": JournalCursor(20, "y")}))
    index.write(IndexBatch(positions={"a": JournalCursor(15, "z")}))

    assert index.log.positions() == {"a": JournalCursor(15, "z"), "b": JournalCursor(20, "y")}


@pytest.mark.parametrize("kind", list(EventKind))
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"memory": 3, "change": 4, "proposal": [], "key": {}, "scores": [], "edits": "no"},
        {"memory": "m", "n": -1, "scores": {"m": 3}, "edits": [1, {"memory": 2}], "pair": "m"},
        {"memory": "\ud800", "session": "\ud800", "n": 10**30, "scores": {"m": {"importance": 9}}},
        {"memory": "m", "stability": float("nan"), "access_count": "seven", "importance": True},
    ],
)
def test_an_event_of_an_odd_shape_stops_nothing(
    index: Index, kind: EventKind, body: dict[str, Any]
) -> None:
    keep(index, memory(1))
    good = event(EventKind.USED, 2, memory=memory_id(1))

    index.write(IndexBatch(events=[event(kind, 1, **body), good]))
    keep(index, Memory("m", "late", NOON, NOON))

    assert index.log.event("event-0001") is not None
    assert index.search.memories([memory_id(1)])[memory_id(1)].access_count == 1
    assert index.search.memories(["m"])["m"].importance == 0.5


# --- order --------------------------------------------------------------------------------


def _story() -> tuple[list[MemoryPut], list[Event]]:
    one, two = memory_id(1), memory_id(2)
    puts = [
        put(memory(1, "green apples", connections=(Connection(two),)), unit(1, 0, 0, 0)),
        put(memory(2, "red pears", tags=(ABOUT_SELF,), tier=Tier.CORE), unit(0, 1, 0, 0)),
        put(memory(3, "the self", source=SELF_SOURCE)),
    ]
    proposal: dict[str, Any] = {
        "proposal": "p",
        "type": "link",
        "nodes": [one],
        "wording": "w",
        "action": {},
    }
    events = [
        event(EventKind.USED, 1, 0, memory=one, session="s"),
        event(EventKind.USED, 2, 5, memory=one, session="s", n=3),
        event(EventKind.USED, 3, 3000, memory=one),
        event(EventKind.ADOPTED, 4, 1, memory=one, access_count=5, stability=2.0),
        event(EventKind.ADOPTED, 5, 2, memory=one, access_count=9),
        event(EventKind.SCORED, 6, 4, scores={one: {"importance": 0.1, "relevance": 0.2}}),
        event(EventKind.SCORED, 7, 4, scores={one: {"importance": 0.3}, two: {"importance": 0.4}}),
        event(EventKind.CHANGED, 8, 6, change="change-8", run="r", edits=[{"memory": two}]),
        event(EventKind.SETTLED, 9, 7, change="change-8", outcome="done"),
        event(EventKind.SETTLED, 10, 8, change="change-8", outcome="undone"),
        event(EventKind.PROPOSED, 11, 9, **proposal),
        event(EventKind.DECIDED, 12, 10, proposal="p", status="approved"),
        event(EventKind.DECIDED, 13, 11, proposal="p", status="rejected"),
        event(EventKind.STATE, 14, 12, key="k", value=1),
        event(EventKind.STATE, 15, 13, key="k", value=2),
        event(EventKind.CHANGED, 16, 14, change="change-16", edits=[{"memory": one}]),
    ]
    return puts, events


def _answers(index: Index) -> list[object]:
    one, two, three = (memory_id(number) for number in (1, 2, 3))
    return [
        index.search.memories([one, two, three]),
        index.graph.edges([one, two, three]),
        index.search.search_text(["green", "red"], ANY, NOON, 9),
        index.search.search_vector(unit(1, 2, 0, 0), ANY, NOON, 9),
        index.search.listing(ALL, NOON, 9),
        index.search.core_by_importance(),
        index.search.counts(),
        [index.log.history(each) for each in (one, two)],
        index.log.unsettled_changes(),
        index.log.outcome("change-8"),
        index.log.proposals(),
        index.log.state("k"),
        index.log.recent_events([], 99),
        index.search.fingerprints(),
        index.search.unembedded_ids(9),
        index.graph.self_id(),
    ]


@pytest.mark.parametrize("seed", range(25))
def test_the_order_of_arrival_changes_no_answer(
    make_index: Maker, tmp_path: Path, seed: int
) -> None:
    puts, events = _story()
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    straight, shuffled = make_index(tmp_path / "one"), make_index(tmp_path / "other")
    straight.write(IndexBatch(puts=puts, events=events))
    arriving: list[MemoryPut | Event] = [*puts, *events, *events[:5], *puts[:1]]
    order = random.Random(seed)
    order.shuffle(arriving)

    while arriving:
        cut = order.randint(1, 6)
        chunk, arriving = arriving[:cut], arriving[cut:]
        shuffled.write(
            IndexBatch(
                puts=[each for each in chunk if isinstance(each, MemoryPut)],
                events=[each for each in chunk if isinstance(each, Event)],
            )
        )

    assert _answers(shuffled) == _answers(straight)
    straight.close()
    shuffled.close()


def test_what_was_written_is_there_after_opening_again(make_index: Maker, tmp_path: Path) -> None:
    puts, events = _story()
    first = make_index(tmp_path)
    first.write(IndexBatch(puts=puts, events=events))
    before = _answers(first)
    first.close()

    again = make_index(tmp_path)

    assert _answers(again) == before
    again.close()


def test_a_put_after_a_drop_finds_its_uses_again(index: Index) -> None:
    keep(index, memory(1))
    index.write(IndexBatch(events=[event(EventKind.USED, 1, memory=memory_id(1))]))
    before = index.search.get(memory_id(1))
    index.write(IndexBatch(drops=[memory_id(1)]))

    keep(index, memory(1))

    assert index.search.get(memory_id(1)) == before


@pytest.mark.timeout(240)  # thousands of writes, each several ways to a server
def test_many_batches_of_changes_keep_meaning_and_rows_together(index: Index) -> None:
    """Rows of vectors are given up and written anew all the time; none may be mixed up."""
    order = random.Random(7)
    expected: dict[str, tuple[float, ...]] = {}
    # What waits for a server takes a hundred times as long.
    steps = 3_001 if isinstance(index, SqliteIndex) else 301
    for step in range(steps):
        number = order.randrange(60)
        if order.random() < 0.2:
            index.write(IndexBatch(drops=[memory_id(number)]))
            expected.pop(memory_id(number), None)
        else:
            numbers = tuple(order.choice((-1.0, 0.5, 1.0)) for _ in range(DIMENSION))
            index.write(IndexBatch(puts=[put(memory(number, f"text {step}"), unit(*numbers))]))
            expected[memory_id(number)] = numbers

    for wanted in itertools.product((-1.0, 1.0), repeat=DIMENSION):
        query = unit(*wanted)
        found = {hit.id: hit.score for hit in index.search.search_vector(query, ANY, NOON, 100)}
        assert found.keys() == expected.keys()
        for each, numbers in expected.items():
            assert found[each] == pytest.approx(float(query @ unit(*numbers)), abs=0.002)


def test_torn_journal_lines_are_listed_until_their_file_is_read_anew(index: Index) -> None:
    index.write(IndexBatch(torn={"a.jsonl": [(3, "is not JSON"), (9, "is not JSON")]}))
    index.write(IndexBatch(torn={"b.jsonl": [(1, "has no `id`")]}))

    index.write(IndexBatch(torn={"a.jsonl": [(4, "is not JSON")]}, read_anew=["a.jsonl"]))

    assert [(each.path, each.line) for each in index.log.torn_lines()] == [
        ("a.jsonl", 4),
        ("b.jsonl", 1),
    ]


# --- triggers -------------------------------------------------------------------------------


def test_what_a_deed_is_about_is_looked_up_by_its_keys(index: Index) -> None:
    keep(
        index,
        memory(1, content="legacy/ is not touched without asking Tom"),
        memory(2, content="`*.gen.ts` are generated"),
        memory(3, content="Never terraform apply by hand"),
        memory(4, content="Nothing of the kind"),
    )

    def looked_up(*keys: str, limit: int = 9, **chosen: Any) -> list[str]:
        return index.search.triggered_memories(keys, Filter(**chosen), NOON, limit)

    ids = [memory(number).id for number in range(5)]
    assert looked_up("path:legacy") == [ids[1]]
    assert looked_up("ending:.gen.ts", "path:other") == [ids[2]]
    assert set(looked_up("path:legacy", "command:terraform apply")) == {ids[1], ids[3]}
    assert len(looked_up("path:legacy", "command:terraform apply", limit=1)) == 1
    assert looked_up("path:legacy", types=(MemoryType.GOAL,)) == []
    assert looked_up() == []


def test_a_memory_that_is_put_again_has_its_new_triggers_only(index: Index) -> None:
    keep(index, memory(1, content="legacy/ is frozen"))
    keep(index, memory(1, content="vendor/ is frozen"), memory(2, triggers=("legacy/**",)))

    assert index.search.triggered_memories(["path:vendor"], Filter(), NOON, 9) == [memory(1).id]
    assert index.search.triggered_memories(["path:legacy"], Filter(), NOON, 9) == [memory(2).id]
    index.write(IndexBatch(drops=[memory(2).id]))
    assert index.search.triggered_memories(["path:legacy"], Filter(), NOON, 9) == []


# --- standing notes -------------------------------------------------------------------------


def test_standing_notes_are_looked_up_by_their_key(index: Index) -> None:
    keep(
        index,
        memory(1, content="Never deploy on a Friday", space="atlas"),
        memory(2, content="Marta lives in Kiel", kind=MemoryKind.STANDING),
        memory(3, content="Always answer in Polish", kind=MemoryKind.PLAIN),
        memory(4, content="Please no emojis", type=MemoryType.PREFERENCE, space="tide"),
        memory(5, content="The roof was done in 2019 by Keller"),
    )

    def looked_up(*keys: str, **chosen: Any) -> set[str]:
        return {*index.search.triggered_memories(keys, Filter(**chosen), NOON, 9)}

    ids = [memory(number).id for number in range(6)]
    assert looked_up(SET_KEY) == {ids[2]}
    assert looked_up(READ_KEY) == {ids[1]}
    assert looked_up(*STANDING_KEYS) == {ids[1], ids[2], ids[4]}
    assert looked_up(*STANDING_KEYS, spaces=("atlas", None)) == {ids[1], ids[2]}


def test_a_memory_that_is_called_plain_is_no_standing_note_from_then_on(index: Index) -> None:
    keep(index, memory(1, content="Never deploy on a Friday"))
    keep(index, memory(1, content="Never deploy on a Friday", kind=MemoryKind.PLAIN))

    assert index.search.triggered_memories(STANDING_KEYS, Filter(), NOON, 9) == []
    kept = index.search.memories([memory(1).id])[memory(1).id]
    assert kept.kind is MemoryKind.PLAIN
