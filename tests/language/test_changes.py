"""Whether a statement tells that what an older one states has changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.attributes import FAMILIES_BY_STEMS, ROLES_BY_WORDS, kinds_fit_families
from madeleine.language.changes import ChangeVerdict, judge_change
from madeleine.language.statements import Slot, parse_statement

CHANGED = (ChangeVerdict.OVER, ChangeVerdict.CHANGED)


def told(older: str, newer: str) -> ChangeVerdict:
    return judge_change(parse_statement(older), parse_statement(newer))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ana lives in Izmir.", "Ana left Izmir for Perth."),
        ("Ana drinks cocoa.", "Ana went off cocoa and now has oat latte."),
        ("Ana works at Northwind.", "Ana quit Northwind and joined Farrow."),
        ("We use Jenkins.", "We switched from Jenkins over to Buildkite."),
        ("The tests of Harbor run with nose.", "We dropped nose in favour of pytest in Harbor."),
        ("Ana is allergic to walnuts.", "Walnuts turned out to be fine for Ana."),
        ("Ana has a dog.", "Ana has no dog any more."),
        ("Ana plays the cello.", "Ana gave up the cello and took up rowing."),
        ("My favourite drink is tea.", "I prefer coffee instead of tea these days."),
        ("Harbor's lead is Mira.", "Mira handed Harbor over to Tom."),
        ("Ana is married to Tom.", "Ana divorced Tom."),
        ("The user prefers tabs.", "The user now prefers spaces rather than tabs."),
        ("Backups of Harbor go to Dropbox.", "Backups of Harbor no longer go to Dropbox."),
        ("The crawler uses DuckDB", "Replaced DuckDB with MongoDB in the crawler"),
    ],
)
def test_an_old_value_that_is_said_to_be_over_is_over(older: str, newer: str) -> None:
    assert told(older, newer) is ChangeVerdict.OVER


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ana is based in Oslo.", "Ana has relocated to Turin."),
        ("I live in Berlin.", "I moved to Lisbon last month."),
        ("Harbor is written in Elm.", "Harbor was rewritten in Gleam."),
        ("Mira is in charge of Harbor Light.", "Tom took over Harbor Light."),
        ("Harbor Light is owned by Mira.", "Harbor Light is now looked after by Tom."),
        ("The database of Harbor is Postgres.", "We migrated Harbor to CockroachDB."),
        ("Harbor listens on port 6284.", "Since the upgrade Harbor answers on 7088 instead."),
        ("Harbor is deployed to Heroku.", "Hosting of Harbor moved to Fly.io."),
        ("Harbor is deployed to Heroku.", "Harbor now runs on Hetzner."),
        ("Harbor is tested with nose.", "Harbor is now checked by running pytest."),
        ("The standup of Harbor is on Monday.", "The standup of Harbor moved to Thursday."),
        ("The rent of the office is 900 euros.", "The rent of the office was raised to 950 euros."),
        ("the billing service is hosted on Heroku", "We moved the billing service to Fly.io"),
        ("Ana's mother lives in Oslo.", "Ana's mother moved to Bergen."),
        ("Ana uses Vim as an editor.", "Ana switched to Helix."),
    ],
)
def test_a_change_of_one_attribute_is_seen_in_other_words(older: str, newer: str) -> None:
    assert told(older, newer) is ChangeVerdict.CHANGED


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "Anchor Violet Silent is written in Python.",
            "Anchor Beacon Violet was rewritten in Zig.",
        ),
        ("Wolf Cedar stores its data in Firestore.", "Anchor Cedar moved to MySQL."),
        ("Ana lives in Oslo.", "Bob moved to Oslo."),
        ("Ana prefers tea.", "Bob now prefers tea."),
        ("Ana's mother lives in Oslo.", "Ana moved to Bergen."),
        ("I live in Berlin.", "My sister moved to Lisbon."),
        ("We use Postgres.", "We migrated Anchor to MySQL."),
        ("The owner of Anchor is Hana.", "The new owner of Beacon is Hana."),
        ("Jonas leads the intranet.", "Jonas no longer leads Cobalt, Clara does."),
        ("Sprint 4 is due on May 3.", "Sprint 5 was postponed to May 9."),
        ("The search page is written in Elm.", "The search index was rewritten in Rust."),
        ("Harbor is written in Python.", "The CLI of Harbor was rewritten in Zig."),
    ],
)
def test_another_subject_replaces_nothing(older: str, newer: str) -> None:
    assert told(older, newer) in (ChangeVerdict.APART, ChangeVerdict.ELSEWHERE)


def test_two_names_in_one_sentence_are_two_things() -> None:
    older, newer = "Harbor stores its data in SQLite.", "Atlas stores its data in SQLite."

    assert told(older, newer) is ChangeVerdict.ELSEWHERE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The database of Anchor Garden is Postgres.", "Anchor Garden is now written in Python."),
        ("Harbor is written in Python.", "The tests of Harbor are now written in Zig."),
        ("Harbor is deployed to Heroku.", "Harbor switched to Postgres."),
        ("The port of Harbor is 8080.", "The timeout of Harbor was raised to 30 seconds."),
        ("Ana lives in Oslo.", "Ana now works at Farrow."),
        ("Ana lives in Oslo.", "Ana moved her desk to the window."),
        ("Harbor stores sessions in Redis.", "Harbor now stores images in Minio."),
        ("Harbor keeps its data in Postgres.", "Harbor moved its queue from Postgres to NATS."),
        ("Harbor stores its data in Cassandra.", "Harbor left Heroku and now runs on Hetzner."),
        ("Ana's editor is Vim.", "Ana has switched to buttermilk lately."),
    ],
)
def test_another_attribute_replaces_nothing(older: str, newer: str) -> None:
    assert told(older, newer) not in CHANGED


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ana plays the cello.", "Ana also took up rowing."),
        ("Harbor uses Redis.", "Harbor uses Redis and now also Postgres."),
        ("Ana has a cat.", "Ana recently adopted a dog."),
        ("Ana visited Oslo in May.", "Ana visited Lima in June."),
        ("Ana was born in Izmir.", "Ana left Izmir for Perth."),
        ("Ana lives in Oslo.", "Ana is thinking of moving to Bergen."),
        ("Ana lives in Oslo.", "Ana will move to Bergen next year."),
        ("Ana lives in Oslo.", "Ana did not move to Bergen."),
        ("Ana lives in Oslo.", "Has Ana moved to Bergen?"),
        ("Ana lives in Oslo.", "Ana left for Oslo this morning."),
        ("Ana went to Rome in April.", "Ana went to Paris in June instead."),
        ("I sent the letter to Greg", "I've never sent the letter to Greg"),
        ("The migration of Harbor is mandatory", "The migration of Harbor is optional"),
    ],
)
def test_what_is_added_wished_or_happened_once_replaces_nothing(older: str, newer: str) -> None:
    assert told(older, newer) not in CHANGED


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ana wohnt in Köln.", "Ana ist nach Wien gezogen."),
        ("Ana vit à Lyon.", "Ana a quitté Lyon pour Nice."),
        ("Анна живёт в Москве.", "Анна переехала в Казань."),
        ("アナは東京に住んでいる。", "アナは大阪に引っ越した。"),
        ("آنا تعيش في دبي", "انتقلت آنا إلى القاهرة"),
        ("", "🙂"),
    ],
)
def test_of_other_languages_nothing_is_told(older: str, newer: str) -> None:
    assert told(older, newer) not in CHANGED


def test_of_long_texts_and_lists_nothing_is_told() -> None:
    newer = "Ana left Izmir for Perth."

    assert told("Ana lives in Izmir. " * 20, newer) is ChangeVerdict.UNKNOWN
    assert (
        told("- Ana lives in Izmir\n- Bob lives in Oslo\n- so it is", newer)
        is ChangeVerdict.UNKNOWN
    )


def test_a_phrase_knows_where_it_stands() -> None:
    first, value = parse_statement("Anchor Violet moved to Fly.io").phrases
    (of, last) = parse_statement("The database of Anchor Violet is Postgres").phrases

    assert (first.stems, first.slot) == (("anchor", "violet"), Slot.FIRST)
    assert (value.slot, of.slot, last.slot) == (Slot.VALUE, Slot.OF, Slot.VALUE)
    assert last.kinds == {"database"}


def test_what_is_quoted_is_one_phrase() -> None:
    assert [each.stems for each in parse_statement("Run `npm test` to test Atlas").phrases] == [
        ("`npm test`",),
        ("atla",),
    ]


def test_a_value_of_a_known_kind_fits_only_its_attributes() -> None:
    assert kinds_fit_families(frozenset({"database"}), frozenset({"database", "host"})) is True
    assert kinds_fit_families(frozenset({"database"}), frozenset({"home"})) is False
    assert kinds_fit_families(frozenset(), frozenset({"home"})) is None


def test_ported_tells_of_a_change_and_port_does_not() -> None:
    assert ROLES_BY_WORDS[("ported",)].change
    assert ("port",) not in ROLES_BY_WORDS
    assert FAMILIES_BY_STEMS[("port",)] == {"port"}


WORDS = """
Ana Atlas Oslo Bergen lives moved from to now no longer uses Vim not port 80 81 owns by is the of
its dog , . ; ? `x y` 's also since left We I My
"""
TEXTS = st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join)


@given(TEXTS | st.text(max_size=60))
def test_no_statement_changes_itself(text: str) -> None:
    plain = parse_statement(text)

    assert judge_change(plain, plain) is not ChangeVerdict.CHANGED


@given(st.text(max_size=80) | TEXTS, st.text(max_size=80) | TEXTS)
def test_any_two_texts_can_be_held_against_each_other(older: str, newer: str) -> None:
    assert told(older, newer) in ChangeVerdict
