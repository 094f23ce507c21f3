"""The map of a home: made in the background, kept in a file, and made again where that is gone."""

from __future__ import annotations

import time
from pathlib import Path

from madeleine.model.draft import Draft
from madeleine.recall.map_keeper import MapKeeper
from madeleine.recall.memory_map import load_map, make_map, save_map
from madeleine.write.event_bus import BusEvent
from madeleine.write.stores import Stores
from tests.recall.asking import keep_many

TEXTS = [f"{what} number {n} lies in drawer {n}" for what in ("Rope", "Paint") for n in range(20)]


def remember_text(stores: Stores, text: str) -> str:
    return keep_many(stores, [Draft(content=text)])[0].id


def fill(stores: Stores) -> list[str]:
    return [each.id for each in keep_many(stores, [Draft(content=text) for text in TEXTS])]


def test_a_map_comes_back_from_its_file_as_it_was(stores: Stores, tmp_path: Path) -> None:
    ids = fill(stores)
    made = make_map(stores, None, lambda: None)
    assert made is not None
    save_map(made, tmp_path / "map.npz")

    kept = load_map(tmp_path / "map.npz")

    assert kept is not None
    assert set(kept.ids) == set(ids) == set(kept.rows)
    assert (kept.places == made.places).all()
    assert kept.topics == made.topics
    assert sum(kept.land[2]) == len(ids)


def test_a_file_that_is_no_map_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "map.npz").write_bytes(b"PK not a map")

    assert load_map(tmp_path / "map.npz") is None
    assert load_map(tmp_path / "none.npz") is None


def test_what_is_new_finds_a_place_and_what_was_there_stays(stores: Stores) -> None:
    fill(stores)
    before = make_map(stores, None, lambda: None)
    fresh = remember_text(stores, "Rope number 99 lies in drawer 99")

    after = make_map(stores, before, lambda: None)

    assert before is not None
    assert after is not None
    assert fresh in after.rows
    for each, row in before.rows.items():
        assert (after.places[after.rows[each]] == before.places[row]).all()


def test_nobody_waits_for_a_map_and_listeners_hear_of_it(stores: Stores, tmp_path: Path) -> None:
    ids = fill(stores)
    heard: list[BusEvent] = []
    keeper = MapKeeper(stores, tmp_path / "map.npz")

    assert keeper.current() is None
    with stores.event_bus.subscribe(heard.append):
        keeper.look(len(ids))
        for _ in range(600):
            if any(each.name == "mapped" for each in heard):
                break
            time.sleep(0.05)
    keeper.close()

    made = keeper.current()
    assert made is not None
    assert len(made) == len(ids)
    assert MapKeeper(stores, tmp_path / "map.npz").current() is not None
