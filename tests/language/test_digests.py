"""Digests: every fact of several memories once, grouped, under a title that names their theme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import pytest

from madeleine.language.extracts import (
    extract_synthesis,
    find_untold_sentences,
    is_member_alone,
)
from madeleine.language.grouping import expand_groups, group_sentences
from madeleine.language.substance import find_lost_words
from madeleine.model.memory import Memory
from madeleine.testing.making import NOON, memory_id


def told(*texts: str) -> list[Memory]:
    return [
        Memory(memory_id(at + 1), text, NOON + timedelta(days=at), NOON)
        for at, text in enumerate(texts)
    ]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Notes about one thing; what their digest is called; what it says once and not twice; and
    some of its lines."""

    title: str
    notes: Sequence[str]
    once: Sequence[str] = ()
    lines: Sequence[str] = ()


CLUSTERS = {
    "backups": Cluster(
        "Nightly backup of kilo",
        (
            "The nightly backup of kilo runs at 02:00.",
            "The nightly backup of kilo runs at 02:00. The nightly backup of kilo is kept for "
            "30 days.",
            "The nightly backup of kilo is encrypted with age. It stops if the disk is full.",
        ),
        ("02:00", "nightly backup of kilo"),
        ("- is encrypted with age. It stops if the disk is full.",),
    ),
    "a person": Cluster(
        "Marta",
        (
            "Marta plays the viola in a quartet.",
            "Marta is allergic to walnuts.",
            "Marta plays the viola in a quartet on Tuesdays.",
            "Marta does not drive at night.",
        ),
        ("quartet", "Marta"),
        ("- does not drive at night.", "- plays the viola in a quartet on Tuesdays."),
    ),
    "an incident": Cluster(
        "Checkout failed",
        (
            "Checkout failed on 3 March because the certificate had run out.",
            "After the checkout failed, Ibrahim renewed the certificate by hand.",
            "Checkout failed on 3 March because the certificate had run out. Nobody was paged.",
        ),
        ("Nobody was paged", "3 March"),
    ),
    "a garden": Cluster(
        "South bed",
        (
            "The south bed gets tomatoes this year.",
            "The south bed needs 40 litres of compost in April.",
            "Slugs came into the south bed from the hedge.",
            "The south bed needs 40 litres of compost.",
        ),
        ("40 litres",),
        ("- needs 40 litres of compost in April.",),
    ),
    "a recipe": Cluster(
        "Sourdough",
        (
            "The sourdough rests 14 hours at 18 °C.",
            "The sourdough is baked at 240 °C, not at 220 °C.",
            "Salt goes into the sourdough last.",
        ),
        ("not at 220 °C", "14 hours"),
    ),
    "signs": Cluster(
        "Pressure in loop",
        (
            "The pressure in loop A must stay < 5 bar.",
            "The pressure in loop A must stay >= 2 bar.",
            "The pressure in loop B must stay < 5 bar.",
        ),
        (),
        ("- in loop A must stay < 5 bar.", "- in loop A must stay >= 2 bar."),
    ),
    "a list": Cluster(
        "Release",
        (
            "Before a release:\n- run the soak\n- tag the commit",
            "A release goes out on Wednesdays.",
            "A release is never made by one person alone.",
        ),
        (),
        ("Before a release:", "- run the soak", "- tag the commit"),
    ),
    "code": Cluster(
        "Kiln",
        (
            "The kiln is started with:\n```sh\nkiln on --cone 6\n\nkiln watch\n```",
            "The kiln cools for 9 hours.",
            "The kiln cools for 9 hours with the lid closed.",
        ),
        ("9 hours", "kiln on --cone 6\n\nkiln watch"),
    ),
    "German": Cluster(
        "Der Server im Keller",
        (
            "Der Server im Keller läuft mit Debian 12.",
            "Der Server im Keller hat zwei Netzteile.",
            "Der Server im Keller hat zwei Netzteile. Er wird sonntags neu gestartet, nicht "
            "montags.",
        ),
        ("Netzteile", "nicht montags"),
        ("- hat zwei Netzteile. Er wird sonntags neu gestartet, nicht montags.",),
    ),
    "French": Cluster(
        "Le chat",
        (
            "Le chat dort sur le poêle.",
            "Le chat ne touche pas au poisson.",
            "Le chat dort sur le poêle, dès 7 h et après 18 h.",
        ),
        ("poêle",),
        ("- ne touche pas au poisson.",),
    ),
    "Japanese": Cluster(
        "バックアップ",
        (
            "バックアップは毎晩2時に動く。",
            "バックアップの鍵は金庫にある。",
            "バックアップは毎晩2時に動く。バックアップは30日間保存する。",
        ),
        ("毎晩2時", "30日間"),
    ),
    "Spanish": Cluster(
        "La furgoneta de Inés",
        (
            "La furgoneta de Inés pasa la revisión en mayo.",
            "La furgoneta de Inés no entra en el garaje pequeño.",
            "La furgoneta de Inés pasa la revisión en mayo en Vigo.",
        ),
        ("revisión",),
        ("- no entra en el garaje pequeño.",),
    ),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_digest_says_every_fact_of_its_members_and_none_twice(name: str) -> None:
    cluster = CLUSTERS[name]
    members = told(*cluster.notes)

    digest = extract_synthesis(members)

    assert find_untold_sentences(digest.content, members) == []
    assert not find_lost_words(digest.content, list(cluster.notes))
    assert all(digest.content.count(each) == 1 for each in cluster.once)
    assert set(cluster.lines) <= set(digest.content.splitlines())
    assert not is_member_alone(digest.content, members)


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_title_names_the_theme_in_the_members_own_words(name: str) -> None:
    assert extract_synthesis(told(*CLUSTERS[name].notes)).title == CLUSTERS[name].title


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_fact_that_is_taken_out_of_a_digest_is_missed(name: str) -> None:
    members = told(*CLUSTERS[name].notes)
    lines = extract_synthesis(members).content.splitlines()

    for place, line in enumerate(lines):
        without = "\n".join(lines[:place] + lines[place + 1 :])
        assert not line.strip("`") or find_untold_sentences(without, members), line


def test_the_order_in_which_members_are_given_does_not_matter() -> None:
    members = told(*CLUSTERS["a person"].notes)

    assert extract_synthesis(members[::-1]) == extract_synthesis(members)


def test_what_is_denied_is_not_taken_for_what_is_said() -> None:
    digest = extract_synthesis(told("Vera uses SQLite.", "Vera no longer uses SQLite.")).content

    assert expand_groups(digest).splitlines() == [
        "Vera uses SQLite.",
        "Vera no longer uses SQLite.",
    ]


@pytest.mark.parametrize(
    "head", ["If it rains", "You must not", "Never", "The", "If Ana", "- a", "# On", "Port 8"]
)
def test_a_heading_holds_no_condition_denial_or_mark(head: str) -> None:
    sentences = [f"{head} 5 sail to Oslo.", f"{head} 6 swim to Bergen."]

    assert group_sentences(sentences) == "\n\n".join(sentences)


@pytest.mark.parametrize(
    "sentences",
    [
        ["Kilo: has 64 GB.", "Kilo: runs Debian."],
        ["Ana lives in Ghent.", "Ana lives in a flat.", "Bo sings."],
        ["Port 80 is open.", "Port 81 is shut."],
        ["Ana owes 5 €.", "Ana owes -5 €.", "Ana owes Bo."],
        ["One.", "Two."],
        [],
    ],
)
def test_grouped_sentences_can_be_read_back(sentences: list[str]) -> None:
    grouped = group_sentences(sentences)

    read = [line for line in expand_groups(grouped).splitlines() if line]
    assert sorted(each.replace(":", "") for each in read) == sorted(
        each.replace(":", "") for each in sentences
    )


def test_where_there_is_no_room_for_all_what_many_say_comes_first() -> None:
    members = told(
        "Backups run at night. Ana likes tea.",
        "The backups run every night. The sky was grey.",
        "Night backups run on the small server.",
    )

    digest = extract_synthesis(members, 30).content

    assert len(digest) <= 30
    assert "ackups run" in digest
    assert "tea" not in digest


def test_there_is_room_for_what_only_one_says() -> None:
    digest = extract_synthesis(told("Backups run at night. Ana likes tea.", "It rains."), 200)

    assert "Ana likes tea." in digest.content


def test_a_digest_that_is_too_long_still_tells_a_denial_beside_what_it_denies() -> None:
    texts = ["Backups run at night.", "Backups do not run at night.", "Backups run, as Ana says."]
    members = told(*texts, *(f"Shelf {each} is oak." for each in range(40)))

    digest = expand_groups(extract_synthesis(members, 120).content)

    assert {"Backups run at night.", "Backups do not run at night."} <= set(digest.splitlines())


def test_texts_that_say_the_same_are_told_once() -> None:
    members = told(*["Backups run at night."] * 8)

    digest = extract_synthesis(members)

    assert (digest.title, digest.content) == ("Backups run at night", "Backups run at night.")
    assert is_member_alone(digest.content, members)


def test_texts_without_anything_in_common_still_have_a_title() -> None:
    made = extract_synthesis(told("Tea.", "Rain"), 100)

    assert made.title
    assert made.content == "Tea.\n\nRain"
