"""The signs by which the local judge tells what two texts are to each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.clauses import parse_text
from madeleine.language.kinds import find_kinds, find_opposites
from madeleine.language.pair_signs import (
    CONFLICT_RELATIONS,
    CONFLICT_SIGNS,
    KINSHIP_RELATIONS,
    KINSHIP_SIGNS,
    LEARNT_RELATIONS,
    NEITHER,
    SIGNS,
    JudgeHead,
    JudgeModel,
    PairSide,
    PairSigns,
    measure_signs,
    relation_chances,
    render_reason,
    same_order_share,
)
from madeleine.language.quantities import have_same_value, read_quantities
from madeleine.language.stated_relations import find_relation_phrases, find_stated_relation
from madeleine.language.stems import split_words, stem, telling_stems
from madeleine.model.verdict import Relation


def side(text: str, days: float = 0.0, session: str | None = None) -> PairSide:
    return PairSide(parse_text(None, text), frozenset(), session, text.startswith("I"), days)


def signs(older: str, newer: str, similarity: float = 0.6) -> PairSigns:
    return measure_signs(side(older), side(newer, 3.0), similarity)


def sign(older: str, newer: str, name: str) -> float:
    return signs(older, newer).row[SIGNS.index(name)]


# -- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "forms",
    [
        "miss missed missing misses",
        "use used uses using",
        "optimize optimized optimization optimizing",
        "library libraries",
        "choose chose chosen",
        "plan planned planning",
        "deploy deployed deployment",
        "process processes processed",
    ],
)
def test_forms_of_one_word_have_one_stem(forms: str) -> None:
    assert len({stem(each) for each in forms.split()}) == 1


@pytest.mark.parametrize(
    "two", ["user use", "meeting meet", "status state", "bus busy", "news new"]
)
def test_words_that_only_look_alike_have_two(two: str) -> None:
    one, other = two.split()

    assert stem(one) != stem(other)


def test_scripts_without_spaces_are_cut_into_pairs_of_characters() -> None:
    assert split_words("私は東京 3時") == ["私は", "は東", "東京", "3時"]
    assert telling_stems("私は東京に") & telling_stems("東京は広い")


def test_the_owner_of_something_is_the_same_word() -> None:
    assert telling_stems("Ormah's index") == telling_stems("the index of Ormah")


# -- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "unit", "value"),
    [
        ("with 150 commits merged", "count", {"commit", "merg"}, "150"),
        ("a quota of 1,200 calls per day", "count", {"call"}, "1200"),
        ("the port is 8788", "count", {"port"}, "8788"),
        ("it takes 250ms", "measure", {"ms"}, "250"),
        ("now at 78%", "percent", set(), "78"),
        ("it costs $5k", "money", {"$"}, "5000"),
        ("due on april 5, 2024", "date", set(), "4-5-2024"),
        ("due on 5 april", "date", set(), "4-5"),
        ("due on 2024-04-05", "date", set(), "4-5-2024"),
        ("at 3 pm sharp", "clock", set(), "15:00"),
        ("on flask 2.3.1", "version", {"flask"}, "2.3.1"),
        ("every friday", "weekday", set(), "friday"),
        ("two dogs", "count", {"dog"}, "2"),
    ],
)
def test_a_quantity_knows_what_it_measures(
    text: str, kind: str, unit: set[str], value: str
) -> None:
    (found,) = read_quantities(text)

    assert (found.kind, set(found.unit), found.value) == (kind, unit, value)


def test_a_date_without_a_year_fits_any_year() -> None:
    (one,), (two,), (three,) = (
        read_quantities(each) for each in ("april 5, 2024", "april 5", "april 6, 2024")
    )

    assert have_same_value(one, two)
    assert not have_same_value(one, three)


def test_what_is_wished_for_is_not_so_and_what_was_is_no_more() -> None:
    (aim,) = read_quantities("my goal is to reach 100 entries")
    former, now = read_quantities("it went from 12% to 1%")

    assert aim.aim
    assert (former.former, now.former) == (True, False)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My library has 45 sources.", "I've added 52 sources to my library."),
        ("The port of Harbor is 8080", "Harbor listens on port 9090 now"),
        ("The deadline of the first sprint is April 1", "The new sprint deadline is April 5"),
        ("Coverage of the parser stands at 65%", "Coverage of the parser improved to 78%"),
    ],
)
def test_a_changed_number_of_one_thing_is_seen(older: str, newer: str) -> None:
    assert signs(older, newer).number is not None
    assert sign(older, newer, "number_depth") > 0.2


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My library has 45 sources.", "My library has 45 sources by now."),
        ("Harbor has 12 tables", "Harbor has 7 contributors"),
        ("My goal is to read 20 books", "I have read 7 books"),
        ("It went from 12% to 1%", "It is at 1% still"),
        ("The harbour has 4 cranes", "Bananas cost 3 euros"),
    ],
)
def test_the_same_number_or_one_of_something_else_is_no_change(older: str, newer: str) -> None:
    assert signs(older, newer).number is None


# -- denials ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I attended a workshop on pruning.", "I've never attended any workshops."),
        ("Harbor encrypts its backups", "Harbor does not encrypt its backups"),
        ("Deploys happen on Friday", "Never deploy on Friday"),
        ("I've never pruned a tree or built a shed.", "I built a shed with Theo."),
    ],
)
def test_a_denial_meets_what_it_denies(older: str, newer: str) -> None:
    assert signs(older, newer).denial is not None
    assert sign(older, newer, "denied_share") > 0.4


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I've never pruned a tree.", "I have never pruned any trees."),
        ("Harbor encrypts its backups", "I'm not sure how to encrypt backups"),
        ("Harbor encrypts its backups", "Can you see why Lantern doesn't encrypt backups?"),
        ("The modal opens slowly", "I want changes that don't open a modal"),
    ],
)
def test_doubt_wishes_and_agreement_deny_nothing(older: str, newer: str) -> None:
    assert sign(older, newer, "denied_share") == 0


# -- values -----------------------------------------------------------------------------------


def test_a_value_that_took_anothers_place_is_named() -> None:
    found = signs("Chose SQLite for Ormah", "We switched Ormah to Postgres")

    assert found.swapped is not None
    assert render_reason(Relation.EVOLUTION, found, 0.6) == "Postgres took the place of SQLite"
    assert sign("Chose SQLite for Ormah", "We switched Ormah to Postgres", "swap_kind") > 0
    assert sign("Chose SQLite for Ormah", "Ormah uses Docker", "swap_kind") == 0


def test_names_have_kinds_and_words_have_opposites() -> None:
    assert find_kinds(telling_stems("Postgres and SQLite")) == {"database"}
    assert find_opposites(telling_stems("Likes tea"), telling_stems("Dislikes tea")) is not None
    assert (
        find_opposites(telling_stems("Likes and dislikes"), telling_stems("Dislikes tea")) is None
    )


# -- merging ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The boy is reading", "A boy is reading"),
        ("Vera owns billing", "Vera owns billing."),
        ("Vera  owns billing", "vera owns billing"),
        ("Мы пишем тесты", "Мы пишем тесты."),
    ],
)
def test_texts_that_differ_in_nothing_may_be_merged(older: str, newer: str) -> None:
    assert signs(older, newer).may_merge


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Vera owns 3 services", "Vera owns 4 services"),
        ("Harbor won 6-3 4-6", "Harbor won 7-3 4-6"),
        ("Vera owns billing", "Petra owns billing"),
        ("Vera owns billing", "Vera never owns billing"),
        ("It does not rain and it is not cold", "It does not rain and it is cold"),
        ("Take it before lunch", "Take it after lunch"),
        ("The man bites the dog", "The dog bites the man"),
        ("Moved from Oslo to Rome", "Moved from Rome to Oslo"),
        ("We will ship on Monday", "We ship on Monday"),
        ("Vera owns billing", "Vera owns billing and search"),
        ("Ich wohne in Berlin", "Ich wohne nicht in Berlin"),
        ("私は東京に住んでいます", "私は大阪に住んでいます"),
        ("word " * 3_000, "word " * 3_000 + "not"),
    ],
)
def test_texts_that_differ_in_something_that_may_matter_are_not_merged(
    older: str, newer: str
) -> None:
    assert not signs(older, newer).may_merge
    assert not signs(newer, older).may_merge


def test_order_is_compared_among_shared_words() -> None:
    assert same_order_share(["a", "b", "c"], ["a", "x", "c"]) == 1
    assert same_order_share(["a", "b"], ["b", "a"]) == 0
    assert same_order_share([], ["b"]) == 1


# -- what is said outright --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("older", "newer", "relation", "from_older"),
    [
        ("The parser reads TOML", "The importer depends on the parser", "depends_on", False),
        ("The importer requires the parser", "The parser reads TOML", "depends_on", True),
        ("The importer loads files", "The parser is part of the importer", "part_of", False),
        ("SQLite needs no server", "We took it because SQLite needs no server", "supports", True),
    ],
)
def test_a_relation_that_is_said_outright_is_believed(
    older: str, newer: str, relation: str, from_older: bool
) -> None:
    found = find_stated_relation(
        find_relation_phrases(None, older),
        parse_text(None, older),
        find_relation_phrases(None, newer),
        parse_text(None, newer),
    )

    assert found is not None
    assert (found.relation, found.from_older) == (relation, from_older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The parser reads TOML", "It depends on the weather"),
        ("The parser reads TOML", "The importer needs time"),
        ("We leave early", "That is because of it"),
    ],
)
def test_a_turn_of_phrase_about_something_else_says_nothing(older: str, newer: str) -> None:
    assert not find_stated_relation(
        find_relation_phrases(None, older),
        parse_text(None, older),
        find_relation_phrases(None, newer),
        parse_text(None, newer),
    )


# -- weighing ---------------------------------------------------------------------------------


def model(**weights: float) -> JudgeModel:
    """A model that calls an evolution what has the given signs."""
    nothing = dict.fromkeys(SIGNS, 0.0)
    against = (*map(str, CONFLICT_RELATIONS), NEITHER)
    near = tuple(map(str, KINSHIP_RELATIONS))
    return JudgeModel(
        1,
        nothing,
        dict.fromkeys(SIGNS, 1.0),
        JudgeHead(
            against,
            CONFLICT_SIGNS,
            {each: weights if each == "evolution" else {} for each in against},
            dict.fromkeys(against, 0.0),
        ),
        JudgeHead(near, KINSHIP_SIGNS, {each: {} for each in near}, dict.fromkeys(near, 0.0)),
    )


def test_chances_are_a_softmax_of_weighted_signs() -> None:
    row = [0.0] * len(SIGNS)
    row[SIGNS.index("number_depth")] = 0.5

    (found,) = relation_chances(model(number_depth=2.0), [tuple(row)])

    total = np.exp(1) + 2
    expected = [np.exp(1) / total, 1 / total, *[1 / total / 3] * 3]
    assert found == pytest.approx(expected)
    assert len(found) == len(LEARNT_RELATIONS)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_have_signs_and_chances(older: str, newer: str) -> None:
    found = signs(older, newer)

    assert len(found.row) == len(SIGNS)
    assert all(np.isfinite(found.row))
    assert relation_chances(model(gone=1.0), [found.row]).sum() == pytest.approx(1)
    assert all(render_reason(each, found, 0.5) for each in LEARNT_RELATIONS)


@given(st.text(max_size=200))
def test_a_text_never_conflicts_with_itself(text: str) -> None:
    found = signs(text, text)

    assert found.may_merge
    assert (found.number, found.opposites, found.swapped) == (None, None, None)
