"""Topics of the map: groups that are there, named by words that tell them apart."""

from __future__ import annotations

import numpy as np

from madeleine.rules.map_topics import WordTable, find_topics, group_places

WORDS = ("note", "bread", "flour", "boat", "mast", "boats")
GROUP_WORDS = {0: ("bread", "flour"), 1: ("boat", "boats", "mast")}


def two_fields(each: int = 60) -> tuple[np.ndarray, WordTable]:
    """Two groups far apart; all hold `note`, each group words of its own."""
    rng = np.random.default_rng(3)
    places = np.vstack([rng.normal(at, 10, (each, 2)) for at in (-200, 200)]).astype(np.float32)
    pairs = [
        (holder, WORDS.index(word))
        for holder in range(2 * each)
        for word in ("note", *GROUP_WORDS[holder // each])
    ]
    holders, numbers = np.array(pairs).T
    return places, WordTable(holders, numbers, WORDS)


def test_groups_that_lie_apart_are_found() -> None:
    places, _ = two_fields()

    groups = group_places(places, 2, lambda: None)

    assert len(set(groups[:60])) == len(set(groups[60:])) == 1
    assert groups[0] != groups[-1]


def test_a_topic_is_named_by_what_it_holds_and_others_do_not() -> None:
    places, table = two_fields()

    topics = find_topics(places, table, lambda: None)

    names = {word for each in topics for word in each.words}
    assert "note" not in names
    assert {"bread", "boat"} <= names
    for each in topics:
        assert set(each.words) <= set(GROUP_WORDS[int(each.x > 0)])


def test_two_forms_of_one_word_do_not_make_a_name() -> None:
    places, table = two_fields()

    for each in find_topics(places, table, lambda: None):
        assert not {"boat", "boats"} <= set(each.words)


def test_nearer_levels_have_more_and_smaller_topics() -> None:
    places, table = two_fields(200)

    topics = find_topics(places, table, lambda: None)

    radius = [np.mean([each.radius for each in topics if each.level == level]) for level in (0, 1)]
    assert radius[0] > radius[1]


def test_the_same_map_has_the_same_topics() -> None:
    places, table = two_fields()

    assert find_topics(places, table, lambda: None) == find_topics(places, table, lambda: None)
