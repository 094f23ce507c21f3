"""Whether a newer text itself tells that what an older one states is over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.change_words import WORD_LISTS
from madeleine.language.replacements import (
    _COMPILED_PHRASES,
    _read_all_changes,
    _read_changes,
    find_replacement,
    render_replacement,
    tell_same_change,
)
from madeleine.language.sentences import read_sentences

CELERY = "We use Celery with Redis for background jobs because the team knows it."
SWITCHED = (
    "Switched background jobs from Celery to Arq: async, less memory, and Celery's beat kept"
    " double firing."
)
GONE = "Background jobs run on Arq now, Celery is gone."

TOLD = [
    (CELERY, SWITCHED),
    (CELERY, GONE),
    ("Our CI is Jenkins.", "Jenkins is gone, we use Buildkite."),
    ("We use Jenkins for CI.", "We moved off Jenkins to Buildkite."),
    ("Our database is Postgres.", "We don't use Postgres any more, it's MySQL."),
    ("Ana lives in Izmir.", "Ana left Izmir for Perth."),
    ("Ana plays the cello.", "Ana gave up the cello and took up rowing."),
    ("Ana has a dog.", "Ana has no dog any more."),
    ("Backups of Harbor go to Dropbox.", "Backups of Harbor no longer go to Dropbox."),
    ("The crawler uses DuckDB.", "Replaced DuckDB with MongoDB in the crawler."),
    ("The user prefers tabs.", "The user now prefers spaces rather than tabs."),
    ("The timeout is 30 seconds.", "Raised the timeout from 30 s to 60 s."),
    ("The hearing is on 3 May.", "Hearing postponed from 3 May to 21 June."),
    ("Standup is at 9:30.", "Standup was moved from 9:30 to 10:00."),
    ("Jonas is on-call lead.", "Mia took over from Jonas as on-call lead."),
    ("My editor is Vim.", "I switched from Vim to Helix."),
    ("Yoga is on Tuesdays.", "Yoga isn't on Tuesdays any more."),
    ("The kiosk app is written in Electron.", "We swapped Electron for Tauri in the kiosk app."),
]

WHY = [
    *("because it is async and small", "since workers kept hanging", "because they never answered"),
    *("since this one still gets fixes", "due to some licence that nobody read"),
    *("because that may run on a Pi", "since it needs no broker", "because it also does cron"),
    *("since nobody here knows the other one", "because the docs are good"),
]
LEFT_IN_PART = [
    *("because billing still needs Celery", "since Celery stays for mail", "for some queues"),
    *("as only mail keeps Celery", "after which some went back", "which also runs beside it"),
    *("but not for mail", "when it rains", "for the queues that others run"),
]


@pytest.mark.parametrize("why", WHY)
@pytest.mark.parametrize("comma", ["", ","])
def test_a_reason_takes_nothing_back_of_a_told_change(why: str, comma: str) -> None:
    told = f"Switched background jobs from Celery to Arq{comma} {why}."

    assert find_replacement("We use Celery for background jobs.", told) is not None


@pytest.mark.parametrize("rest", LEFT_IN_PART)
def test_what_follows_a_change_may_say_that_some_of_it_stays(rest: str) -> None:
    told = f"Switched background jobs from Celery to Arq {rest}."

    assert find_replacement("We use Celery for background jobs.", told) is None


FRAMES = [
    *("Maybe {0}", "If {0} tell me.", "Is it true that {0}?", "Plan: {0}", "Proposal: {0}"),
    *("Bob says {0}", "In 2019 {0}", "In the tutorial {0}", "Tomorrow {0}", "It is false that {0}"),
    *("{0} Rolled back today.", "{0} Just kidding.", "{0} That was a rumour.", "{0} False alarm."),
    *("{0} For a week.", "{0} Only in staging.", "{0} Not yet, though.", "{0} Until Monday."),
    *("{0} As an experiment.", "{0} Scratch that.", "{0} We reverted that.", "{0} Next month."),
]


@pytest.mark.parametrize(("older", "newer"), TOLD)
def test_a_told_change_ends_what_the_older_text_states(older: str, newer: str) -> None:
    assert find_replacement(older, newer) is not None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ben uses Vim.", "I no longer use Vim."),
        ("Ben uses Vim.", "Switched from Vim to Emacs."),
        ("Ben lives in Oslo.", "I moved from Oslo to Bergen."),
        ("Ana lives in Oslo.", "Moved from Oslo to Bergen."),
        ("Ben works at Fiat.", "We switched from Fiat to Volvo."),
        ("My brother lives in Oslo.", "I moved from Oslo to Bergen."),
        ("My doctor works at Fiat.", "I no longer work at Fiat."),
        ("Our landlord lives in Oslo.", "We moved from Oslo to Bergen."),
        ("Acme uses Jenkins.", "Jenkins is gone, we use Argo."),
        ("IBM uses Jenkins.", "Jenkins is gone, we use Argo."),
        ("Billing uses Redis for locks.", "We no longer use Redis."),
        ("The docs team uses Sphinx.", "Switched from Sphinx to MkDocs."),
        ("Editor: Vim", "Vim is gone."),
    ],
)
def test_a_change_without_a_subject_ends_nothing_that_is_said_of_others(
    older: str, newer: str
) -> None:
    assert find_replacement(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ben takes the train.", "Ben took the bus instead of the train today."),
        ("We deploy with Jenkins.", "Today we deployed with Argo instead of Jenkins."),
        ("We order from Luigi.", "Today we ordered from Mario instead of Luigi."),
        ("Eva drives a Volvo.", "Eva drove a Tesla instead of the Volvo yesterday."),
        ("We host on AWS.", "Yesterday we hosted on GCP instead of AWS."),
        ("Eva eats sugar.", "Eva gave up sugar for January."),
        ("Eva eats meat.", "Eva gave up meat for Lent."),
        ("Eva uses Vim.", "Eva dropped Vim for the holidays."),
        ("Noor drinks coffee.", "Noor gave up coffee for Ramadan."),
    ],
)
def test_one_occasion_or_a_season_ends_no_habit(older: str, newer: str) -> None:
    assert find_replacement(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We deploy with Jenkins.", "We replaced Jenkins with Jenkins LTS for deploys."),
        (
            "The kitchen light uses a halogen bulb.",
            "Replaced the halogen bulb in the kitchen light with a new halogen bulb.",
        ),
        ("Our printer is a Brother.", "Replaced the Brother with another Brother."),
    ],
)
def test_a_thing_replaced_by_its_like_is_still_there(older: str, newer: str) -> None:
    assert find_replacement(older, newer) is None


@pytest.mark.parametrize("frame", FRAMES)
def test_what_is_asked_planned_denied_reported_or_temporary_ends_nothing(frame: str) -> None:
    framed = [(older, frame.format(newer[0].lower() + newer[1:])) for older, newer in TOLD]

    assert [pair for pair in framed if find_replacement(*pair)] == []


def test_it_says_what_took_the_place_of_what() -> None:
    found = find_replacement(CELERY, SWITCHED)

    assert found is not None
    assert (found.left, found.taken) == ("Celery", "Arq")
    assert render_replacement(found) == "the newer one says that Arq took the place of Celery"


def test_one_that_agrees_with_the_newer_is_not_ended() -> None:
    assert find_replacement(SWITCHED, GONE) is None
    assert tell_same_change(SWITCHED, GONE)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Sender queue is RabbitMQ.", "Receiver queue was moved off RabbitMQ to SQS."),
        ("Our images are WebP.", "Product hero images switched from WebP to AVIF."),
        ("Client Hart uses DATEV.", "Client Hartwig switched from DATEV to Lexware."),
        ("My brother Marco lives in Lisbon.", "My cousin Marco moved from Lisbon to Porto."),
        ("package-a depends on lodash.", "package-b no longer depends on lodash."),
        ("The left sensor runs on I2C.", "The right sensor was switched from I2C to SPI."),
        ("The Monday class is in room 1.", "The Wednesday class moved from room 1 to room 2."),
        ("The class on Monday is in room 1.", "The class on Friday moved from room 1 to room 2."),
        ("The package registry is Nexus.", "The build registry moved from Nexus to Artifactory."),
        (
            "The bus to the campus is line 12.",
            "The bus from the campus changed from line 12 to 21.",
        ),
        ("Data science works in Databricks.", "Finance stopped using Databricks."),
        ("We use Jenkins.", "I switched from Jenkins to Buildkite."),
        ("We use Celery.", "Switched the mailer from Celery to Arq."),
        ("The old server runs Debian 10.", "The new server moved from Debian 10 to Debian 12."),
        ("My sister uses WhatsApp.", "I switched from WhatsApp to Signal."),
        ("The staging cluster is on Hetzner.", "We moved from Hetzner to OVH."),
    ],
)
def test_another_scope_ends_nothing(older: str, newer: str) -> None:
    assert find_replacement(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Jenkins is slow.", "Jenkins is gone, we use Buildkite."),
        ("Jenkins needs Java 17.", "We dropped Jenkins for Buildkite."),
        ("We use Celery for jobs and Kafka for events.", "We dropped Celery for Arq."),
        ("We do not use Jenkins.", "Jenkins is gone, we use Buildkite."),
        ("Ana visited Izmir.", "Ana left Izmir for Perth."),
        ("Ana likes Izmir.", "Ana left Izmir for Perth."),
        ("I have a phone.", "I dropped my phone."),
        ("We were on Jenkins in 2019.", "We switched from Jenkins to Buildkite."),
        ("Code lives on GitHub.", "We moved from GitHub Actions to Buildkite."),
        ("We use GitHub Actions.", "We moved from GitHub to Codeberg."),
        ("Beth is the team lead.", "Teams was dropped."),
        ("The review is on Thursday at 14.", "Team shrank from 14 to 11."),
        ("Should we use Jenkins?", "We switched from Jenkins to Buildkite."),
        ("Harbor runs on Buildkite, not on Jenkins.", "Harbor switched from Jenkins to Buildkite."),
        ("We use Jenkins. The wiki password is in the safe.", "We dropped Jenkins for Buildkite."),
        ("We will use Jenkins.", "We switched from Jenkins to Buildkite."),
    ],
)
def test_an_older_text_that_does_not_state_that_value_now_is_not_ended(
    older: str, newer: str
) -> None:
    assert find_replacement(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Wir nutzen Jenkins.", "Wir sind von Jenkins zu Buildkite gewechselt."),
        ("Ana vit à Lyon.", "Ana a quitté Lyon pour Nice."),
        ("Анна живёт в Москве.", "Анна переехала из Москвы в Казань."),
        ("アナは東京に住んでいる。", "アナは東京から大阪に引っ越した。"),
        ("", "🙂"),
        ("We use Jenkins. " * 40, "We switched from Jenkins to Buildkite."),
        ("We use Jenkins.", "We switched from Jenkins to Buildkite. " * 20),
    ],
)
def test_of_other_languages_and_long_texts_nothing_is_told(older: str, newer: str) -> None:
    assert find_replacement(older, newer) is None


WORDS = """
Ana Atlas Oslo Bergen lives moved from to now no longer uses Vim not switched 80 81 is the of gone
dropped for in , . ; ? : | → and We I my replaced with any more instead
"""
TEXTS = st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join)


@given(TEXTS | st.text(max_size=80))
def test_no_text_ends_itself(text: str) -> None:
    assert find_replacement(text, text) is None


@given(TEXTS | st.text(max_size=80), TEXTS | st.text(max_size=80))
def test_any_two_texts_can_be_held_against_each_other(older: str, newer: str) -> None:
    found = find_replacement(older, newer)

    assert found is None or found.left


PHRASE_WORDS = sorted({word for turn in _COMPILED_PHRASES for word in turn.own if word.isalpha()})
OF_LISTS = sorted({each.replace("_", " ") for text in WORD_LISTS.values() for each in text.split()})
SPELLED = [
    "isn't",
    "we're",
    "9am",
    "$5",
    "80%",
    "Ana's",
    "cannot",
    "wont",
    "5a",
    "→",
    ":",
    "|",
    ",",
]
TURNS = st.lists(
    st.sampled_from([*PHRASE_WORDS, *OF_LISTS, *SPELLED, *WORDS.split()]), max_size=12
).map(" ".join)


@given(TURNS)
def test_what_is_passed_over_unread_tells_of_no_change(text: str) -> None:
    read = _read_changes.__wrapped__

    assert read(text) == _read_all_changes(read_sentences(text))
