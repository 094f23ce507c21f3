"""A cross-encoder's second look: it reorders, keeps to its deadline, and says when it cannot."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from madeleine.errors import MindDown
from madeleine.minds.port import Minds
from madeleine.model.words import Edge
from madeleine.recall.recall import RecallResult
from madeleine.rules.fusion import blend_with_rerank, display_score, spread_score
from madeleine.write.config import RerankerConfig
from madeleine.write.stores import Stores, VerbConfig
from tests.fakes import keep
from tests.recall.asking import ask, connect, contents, hit_of
from tests.sentences import in_words

QUESTION = "which lantern hangs in the hall?"
COLOURS = ("amber", "beige", "coral", "denim")
OUT_OF_TIME = "the cross-encoder ran out of time; the rest keep their order"


@dataclass
class Scripted:
    """A cross-encoder that says of each text what the test wants, and notes what it read."""

    says: Callable[[str], float]
    name: str = "scripted"
    read: list[str] = field(default_factory=list)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        assert question == QUESTION
        self.read += texts
        return [self.says(text) for text in texts]


def with_reranker(stores: Stores, reranker: Scripted, **given: float) -> Stores:
    minds = Minds(stores.minds.embedder, reranker=reranker)
    config = replace(RerankerConfig(deadline_ms=60_000), **given)  # type: ignore[arg-type]
    return replace(stores, minds=minds, config=VerbConfig(reranker=config))


def lanterns(stores: Stores) -> list[str]:
    """Keep one of each colour and return them in the order of plain recall."""
    for colour in COLOURS:
        keep(stores, f"the {colour} lantern hangs in the hall")
    return contents(stores, QUESTION)


def test_the_best_are_ordered_anew(stores: Stores) -> None:
    plain = lanterns(stores)
    worst_is_best = Scripted(lambda text: float(plain.index(text)))

    assert contents(with_reranker(stores, worst_is_best, blend=0.9), QUESTION) == plain[::-1]
    assert worst_is_best.read == plain


def test_it_is_blended_with_what_was_there_and_shown(stores: Stores) -> None:
    lanterns(stores)
    plain = {hit.memory.id: hit.score for hit in ask(stores, QUESTION).hits}
    enthusiast = with_reranker(stores, Scripted(lambda text: 3.0), blend=0.25)

    recalled = ask(enthusiast, QUESTION, explain=True)

    for hit in recalled.hits:
        assert hit.explained is not None
        assert hit.explained.cross_encoder == 3.0
        expected = display_score(blend_with_rerank(plain[hit.memory.id], 3.0, 0.25))
        assert hit.score == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("logit", [-1e9, -12.0, 0.0, 6.0, 1e9])
def test_whatever_it_says_a_score_stays_between_0_and_1(stores: Stores, logit: float) -> None:
    lanterns(stores)

    recalled = ask(with_reranker(stores, Scripted(lambda text: logit)), QUESTION)

    assert all(0 <= hit.score <= 1 for hit in recalled.hits)


def test_a_blend_of_nothing_changes_nothing(stores: Stores) -> None:
    plain = lanterns(stores)
    contrary = Scripted(lambda text: float(plain.index(text)))

    assert contents(with_reranker(stores, contrary, blend=0.0), QUESTION) == plain


def test_only_so_many_are_read(stores: Stores) -> None:
    plain = lanterns(stores)
    reranker = Scripted(lambda text: 0.0)

    ask(with_reranker(stores, reranker, candidates=2), QUESTION)

    assert reranker.read == plain[:2]


def test_who_runs_out_of_time_leaves_the_rest_as_they_were(stores: Stores) -> None:
    """It has read the first when its time is over."""
    plain = lanterns(stores)

    def slow(text: str) -> float:
        time.sleep(0.5)
        return 6.0

    reranker = Scripted(slow)
    recalled = ask(with_reranker(stores, reranker, deadline_ms=400), QUESTION, explain=True)

    assert reranker.read == plain[:1]
    assert [hit.memory.content for hit in recalled.hits] == plain
    assert in_words(recalled.notes) == (OUT_OF_TIME,)
    assert [logit(recalled, text) for text in plain] == [6.0, None, None, None]


def test_without_any_time_nothing_is_read(stores: Stores) -> None:
    plain = lanterns(stores)
    reranker = Scripted(lambda text: 0.0)

    recalled = ask(with_reranker(stores, reranker, deadline_ms=0), QUESTION)

    assert reranker.read == []
    assert [hit.memory.content for hit in recalled.hits] == plain
    assert in_words(recalled.notes) == (OUT_OF_TIME,)


def test_one_that_is_down_leaves_the_order_and_says_so(stores: Stores) -> None:
    plain = lanterns(stores)

    def down(text: str) -> float:
        raise MindDown("the cross-encoder", "is asleep")

    recalled = ask(with_reranker(stores, Scripted(down)), QUESTION)

    assert [hit.memory.content for hit in recalled.hits] == plain
    assert len(in_words(recalled.notes)) == 1
    assert in_words(recalled.notes)[0].startswith("not reranked: ")
    assert "is asleep" in in_words(recalled.notes)[0]


def test_without_one_recall_says_nothing_about_it(stores: Stores) -> None:
    lanterns(stores)

    recalled = ask(stores, QUESTION, explain=True)

    assert in_words(recalled.notes) == ()
    assert {logit(recalled, hit.memory.content) for hit in recalled.hits} == {None}


def test_of_a_long_memory_it_reads_the_passage_that_fits(stores: Stores) -> None:
    """The beginning of a long text says little about a sentence deep inside."""
    filler = "\n\n".join(
        f"Chapter {number} is about the sea and its ships." * 20 for number in range(6)
    )
    keep(stores, f"{filler}\n\nThe amber lantern hangs in the hall.\n\n{filler}", title="A book")
    reranker = Scripted(lambda text: 0.0)

    ask(with_reranker(stores, reranker), QUESTION)

    (text,) = reranker.read
    assert text.startswith("A book\n")
    assert "The amber lantern hangs in the hall." in text
    assert len(text) <= 2_000


def test_what_it_thinks_little_of_passes_little_on(stores: Stores) -> None:
    """Connections carry the score that a memory has after it was read."""
    seed = keep(stores, "the amber lantern hangs in the hall")
    neighbour = keep(stores, "oil is bought on Fridays")
    connect(stores, neighbour, Edge.PART_OF, seed)

    def about(text: str) -> float:
        return 6.0 if "lantern" in text else -12.0

    keen = ask(with_reranker(stores, Scripted(about)), QUESTION, explain=True)
    bored = ask(with_reranker(stores, Scripted(lambda text: -12.0)), QUESTION, explain=True)

    assert f"part of {seed.short_id}" in in_words(hit_of(neighbour, keen).reasons)
    passed = spread_score(min(1.0, hit_of(seed, keen).score), 1.0, 1.0, 0.5)
    explained = hit_of(neighbour, keen).explained
    assert explained is not None
    boosted = passed * math.prod(explained.boosts.values())
    assert hit_of(neighbour, keen).score == pytest.approx(boosted, abs=2e-4)
    assert hit_of(seed, bored).score < hit_of(seed, keen).score


def logit(recalled: RecallResult, content: str) -> float | None:
    (hit,) = [each for each in recalled.hits if each.memory.content == content]
    assert hit.explained is not None
    return hit.explained.cross_encoder
