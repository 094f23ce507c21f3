"""A misspelt word still finds what is meant, and tags are words too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.model.draft import Draft
from madeleine.model.embedding import QueryEmbedding
from madeleine.model.revision import read_revision
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from tests.fakes import close, make_stores
from tests.recall.asking import ask, contents, first, hit_of, keep_many

TYPESCRIPT = "Writes TypeScript with strict mode"
BUDGET = "The error budget is spent in March"
MARIA = "Maria waters the garden on Sundays"
COFFEE = "Coffee is in the blue tin"


def keep_all(stores: Stores) -> Stores:
    keep_many(stores, [Draft(each) for each in (TYPESCRIPT, BUDGET, MARIA, COFFEE)])
    return stores


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Stores]:
    """Stores without a model: words are all there is."""
    opened = keep_all(make_stores(tmp_path / "plain", with_model=False))
    yield opened
    close(opened)


@pytest.mark.parametrize(
    ("question", "found"),
    [("typsecript", TYPESCRIPT), ("what about the eror budgte?", BUDGET), ("cofee", COFFEE)],
)
def test_a_slip_of_the_finger_finds_what_is_meant(plain: Stores, question: str, found: str) -> None:
    assert first(plain, question).memory.content == found


def test_what_no_slip_explains_means_nothing_else(plain: Stores) -> None:
    assert plain.index.search.spellings(["zzzz", "typewriter", "ti"]) == {}


def test_a_name_is_not_taken_for_another(plain: Stores) -> None:
    assert contents(plain, "is Marie there") == []


def test_a_word_that_the_model_knows_as_a_whole_is_no_slip(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_all(stores)
    embedder = stores.minds.embedder
    assert embedder is not None
    read = embedder.ask

    def in_pieces(text: str) -> QueryEmbedding:
        trace = read(text)
        cut = [(0, 3), *trace.spans[1:]] if trace.spans else []
        pieces = [*cut, (3, len(text))]
        wide = len(pieces)
        return replace(
            trace,
            spans=tuple(pieces),
            tokens=trace.tokens.repeat(2, 0)[:wide],
            small=trace.small.repeat(2, 0)[:wide],
        )

    whole = [each.match["text"] for each in ask(stores, "coffe").hits]
    monkeypatch.setattr(type(embedder), "ask", lambda _, text: in_pieces(text))
    cut = [each.match["text"] for each in ask(stores, "coffe").hits]

    assert (max(whole, default=0), max(cut, default=0)) == (0, 1)


def test_a_tag_is_a_word_to_find_a_memory_by(stores: Stores) -> None:
    keep_all(stores)
    (memory,) = keep_many(stores, [Draft("Deploys to a cluster on EKS", tags=("k8s",))])

    assert hit_of(memory, ask(stores, "k8s?")).match["text"] == 1


def test_a_new_tag_counts_at_once_and_an_old_one_no_longer(plain: Stores) -> None:
    (memory,) = keep_many(plain, [Draft("Deploys to a cluster on EKS", tags=("oats",))])
    revise(plain, memory.id, read_revision({"tags": ["hops"]}, plain.config.limits))

    assert contents(plain, "hops") == [memory.content]
    assert contents(plain, "oats") == []
