"""The model that reads two notes together, as it comes with the install."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import madeleine_relations
import pytest

from madeleine.errors import MindDown
from madeleine.minds.cache import EmbeddingCache
from madeleine.minds.port import TextPair
from madeleine.minds.relation_reader import (
    LocalRelationReader,
    RelationCalibration,
    RelationNetwork,
    load_relation_network,
    read_calibration,
    why_no_relation_reader,
)
from madeleine.model.verdict import Relation

MANY = 1_000
PAIRS: list[TextPair] = [
    ("Rent is due on the first of the month.", "The rent must be paid by the first of each month."),
    ("Milk comes on Tuesdays.", "From now on the milk comes on Fridays instead of Tuesdays."),
    ("The lift needs a new cable.", "Marta prefers tea in the afternoon."),
]


def installed_network() -> RelationNetwork:
    network = load_relation_network()
    assert network is not None, why_no_relation_reader()
    return network


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    opened = EmbeddingCache.open(tmp_path / "embeddings.db")
    yield opened
    opened.close()


@pytest.fixture
def reader(cache: EmbeddingCache) -> LocalRelationReader:
    return LocalRelationReader(installed_network(), cache, MANY)


@pytest.fixture
def movable(tmp_path: Path) -> RelationNetwork:
    """A network whose files may be taken away."""
    folder = tmp_path / "weights"
    shutil.copytree(madeleine_relations.folder(), folder)
    return RelationNetwork(folder, "movable", 160, installed_network().calibration)


def test_a_pair_has_a_chance_of_every_relation(reader: LocalRelationReader) -> None:
    for found in reader.read([*PAIRS, ("", ""), ("x" * 9_000, "y " * 9_000)]):
        assert found is not None
        assert set(found) == set(Relation)
        assert sum(found.values()) == pytest.approx(1)


def test_a_reading_does_not_depend_on_its_company() -> None:
    network = installed_network()

    together = network.read_logits(PAIRS)

    assert [network.read_logits([pair])[0] for pair in PAIRS] == together
    assert network.read_logits([PAIRS[1][::-1]])[0] != together[1]


def test_what_says_the_same_does_so_whichever_comes_first(reader: LocalRelationReader) -> None:
    (found,), (turned,) = reader.read([PAIRS[0]]), reader.read([PAIRS[0][::-1]])

    assert found is not None
    assert turned is not None
    assert found[Relation.DUPLICATE] > 0.9
    assert found[Relation.DUPLICATE] == pytest.approx(turned[Relation.DUPLICATE])


def test_a_network_that_was_let_go_of_reads_the_same_again() -> None:
    network = installed_network()
    before = network.read_logits(PAIRS)

    network.release()

    assert network.read_logits(PAIRS) == before


def test_no_pair_is_read_twice(movable: RelationNetwork, cache: EmbeddingCache) -> None:
    before = LocalRelationReader(movable, cache, MANY).read(PAIRS)
    movable.release()
    shutil.rmtree(movable.folder)
    cache.flush()

    again = LocalRelationReader(movable, cache, MANY)

    assert again.read([*PAIRS, PAIRS[0]]) == [*before, before[0]]
    with pytest.raises(MindDown, match="movable"):
        again.read([("another", "pair")])


def test_what_a_run_has_no_room_for_waits_and_what_was_read_does_not(
    cache: EmbeddingCache,
) -> None:
    network, plain = installed_network(), [*PAIRS[1:], ("A", "B")]
    bounded = LocalRelationReader(network, cache, 2)

    first = bounded.read(plain)
    same_run = bounded.read(plain)
    bounded.begin_run()
    next_run = bounded.read(plain)

    assert first[0] is not None
    assert first[2] is None
    assert same_run == first
    assert next_run[:2] == first[:2]
    assert next_run[2] is not None


def test_another_calibration_needs_no_second_reading(
    movable: RelationNetwork, cache: EmbeddingCache
) -> None:
    (before,) = LocalRelationReader(movable, cache, MANY).read(PAIRS[2:])
    warmer = replace(movable.calibration, temperature=50.0)
    shutil.rmtree(movable.folder)

    other = RelationNetwork(movable.folder, movable.name, 160, warmer)
    (after,) = LocalRelationReader(other, cache, MANY).read(PAIRS[2:])

    assert before is not None
    assert after is not None
    assert max(after.values()) < max(before.values())


def test_what_is_kept_and_makes_no_sense_is_read_again(
    reader: LocalRelationReader, cache: EmbeddingCache
) -> None:
    before = reader.read(PAIRS)
    cache.flush()
    cache._connection.execute("UPDATE traces SET vector = ?", (b"\xff" * 32,))

    assert reader.read(PAIRS) == before


def test_kept_readings_are_no_vectors_of_the_sentence_model(
    reader: LocalRelationReader, cache: EmbeddingCache
) -> None:
    reader.read(PAIRS)

    assert set(cache.models()) == {reader.name}
    assert cache.dimension("all-MiniLM") is None


def test_a_model_that_does_not_load_is_said(movable: RelationNetwork) -> None:
    (movable.folder / "model.onnx").write_bytes(b"no model")

    with pytest.raises(MindDown, match="cannot be loaded"):
        movable.read_logits(PAIRS)


def test_a_model_of_another_shape_is_refused(movable: RelationNetwork) -> None:
    few = RelationCalibration(("same", "update"), 1.0, (0.0, 0.0), 1.0, 0.0)
    other = RelationNetwork(movable.folder, "few", 160, few)

    with pytest.raises(MindDown, match="8 numbers"):
        other.read_logits(PAIRS)


def test_a_missing_package_is_said_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "madeleine_relations", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert load_relation_network() is None
    assert "madeleine_relations" in why_no_relation_reader()


def test_calibration_is_read_in_the_order_of_the_answers(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    curve = {"slope": 1.5, "shift": 0.5}
    told = {"temperature": 2.0, "bias": {"update": 0.5, "same": -0.5}, "same_both_ways": curve}
    path.write_text(json.dumps(told), encoding="utf-8")

    found = read_calibration(path, ["same", "update"])

    assert found == RelationCalibration(("same", "update"), 2.0, (-0.5, 0.5), 1.5, 0.5)
    assert found.chances((0.0, 0.0))[Relation.EVOLUTION] > 0.7


def test_the_lower_of_two_chances_of_the_same_counts() -> None:
    calibration = RelationCalibration(("same", "update"), 1.0, (0.0, 0.0), 1.0, 0.0)
    surely = {Relation.DUPLICATE: 0.9, Relation.EVOLUTION: 0.1}
    hardly = {Relation.DUPLICATE: 0.3, Relation.EVOLUTION: 0.7}

    found = calibration.chances_both_ways(surely, hardly)

    assert found[Relation.DUPLICATE] == pytest.approx(0.3)
    assert found[Relation.EVOLUTION] == pytest.approx(0.7)
