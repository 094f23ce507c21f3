"""What a night of the local judge puts away unasked, told through the command."""

from __future__ import annotations

import pytest

from tests.cli.running import Cli

CELERY = "We use Celery with Redis for background jobs because the team knows it."
SWITCHED = (
    "Switched background jobs from Celery to Arq: async, less memory, and Celery's beat kept"
    " double firing."
)
GONE = "Background jobs run on Arq now, Celery is gone."


def say(cli: Cli, text: str, day: int, *words: str) -> str:
    return cli.remember(text, "--space", "a", "--created", f"2026-11-{day:02d}", *words)


def is_current(cli: Cli, memory: str) -> bool:
    return cli.ok("show", memory)["memory"].get("valid_until") is None


def proposals(cli: Cli) -> list[object]:
    found = cli.ok("proposals")["proposals"]
    assert isinstance(found, list)
    return found


@pytest.mark.proves("I12")
def test_the_note_that_tells_the_change_with_its_reasons_stays(cli: Cli) -> None:
    celery = say(cli, CELERY, 9, "--type", "decision")
    switched = say(cli, SWITCHED, 11, "--type", "decision")
    cli.ok("sleep", "conflict_detector")
    gone = say(cli, GONE, 16, "--type", "decision")
    cli.ok("sleep", "conflict_detector")

    assert [is_current(cli, each) for each in (celery, switched, gone)] == [False, True, True]
    assert cli.ok("show", celery)["memory"]["superseded_by"] == switched


def test_a_change_told_later_ends_the_old_note_too(cli: Cli) -> None:
    """The note in between may be missing, or come from elsewhere."""
    celery = say(cli, CELERY, 9, "--type", "decision")
    gone = say(cli, GONE, 16, "--type", "decision")
    cli.ok("sleep", "conflict_detector")

    assert cli.ok("show", celery)["memory"]["superseded_by"] == gone


@pytest.mark.proves("I12")
@pytest.mark.parametrize(
    "said",
    [
        (
            "Ana lives in Oslo.",
            "Ana moved from Oslo to Bergen.",
            "Ana moved from Bergen back to Oslo.",
        ),
        ("Ben lives in Oslo.", "Ben moved from Oslo to Bergen.", "Ben moved back to Oslo."),
        (
            "We deploy with Jenkins.",
            "Switched deploys from Jenkins to Argo.",
            "Argo was a mistake, we deploy with Jenkins again.",
        ),
        (
            "Tickets are tracked in Jira.",
            "Moved tickets from Jira to Linear.",
            "Tickets are tracked in Jira again since May.",
        ),
    ],
)
def test_what_is_true_again_stays(cli: Cli, said: tuple[str, ...]) -> None:
    first, _, _ = [say(cli, text, 3 + day) for day, text in enumerate(said)]
    cli.ok("sleep", "conflict_detector")

    assert is_current(cli, first)


@pytest.mark.few(5)
@pytest.mark.proves("I12")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The ferry leaves pier four at nine", "The ferry leaves from pier four at 9"),
        ("The bakery opens at seven", "The bakery opens at 7 in the morning"),
        ("In the ledger floats are forbidden", "The ledger has cents as integers, never floats"),
        ("Force pushing to main is forbidden", "Never force-push main"),
        ("Players can't trade items", "Trading of items between players isn't possible"),
        ("I downloaded The Stand, 1,150 pages", "I downloaded The Shining, 450 pages"),
        ("I invested $1,000 in the Vanguard fund", "I add $100 a month to the Fidelity fund"),
        ("The VAT on books is 7%", "The VAT on stationery is 19%"),
        ("Customer 1187 is on the Pro plan", "Customer 1178 is on the Free plan"),
        ("The encoder uses 8 layers", "The decoder uses 6 layers"),
        ("p50 of the checkout is 180 ms", "p99 of the checkout is 1.2 s"),
        ("Meeting room Ada holds 8 people", "Meeting room Alan holds 12 people"),
    ],
)
def test_agreeing_notes_and_numbers_of_another_thing_are_no_conflict(
    cli: Cli, older: str, newer: str
) -> None:
    notes = [say(cli, older, 9), say(cli, newer, 10)]
    cli.ok("sleep", "conflict_detector")

    assert [is_current(cli, each) for each in notes] == [True, True]
    assert proposals(cli) == []


@pytest.mark.parametrize("unasked", ["never", "told", "sure"])
def test_the_setting_says_what_happens_unasked(cli: Cli, unasked: str) -> None:
    cli.home.mkdir(exist_ok=True)
    settings = f'[judge]\nunasked = "{unasked}"\n'
    (cli.home / "config.toml").write_text(settings, encoding="utf-8")
    told = say(cli, "The crawler uses DuckDB", 9)
    say(cli, "Replaced DuckDB with MongoDB in the crawler", 10)
    untold = say(cli, "Chose SQLite for Ormah", 9)
    say(cli, "We switched Ormah to Postgres", 10)

    cli.ok("sleep", "conflict_detector")

    kept = [is_current(cli, each) for each in (told, untold)]
    assert kept == {"never": [True, True], "told": [False, True], "sure": [False, False]}[unasked]
    assert len(proposals(cli)) == sum(kept)


def test_a_word_that_the_setting_does_not_know_is_refused(cli: Cli) -> None:
    cli.home.mkdir(exist_ok=True)
    (cli.home / "config.toml").write_text('[judge]\nunasked = "often"\n', encoding="utf-8")

    ran = cli("remember", "The ferry leaves at nine")

    assert ran.code != 0
    assert "unasked" in ran.err


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wi-Fi is on channel 11, never on 13", "Zigbee is on channel 25, not on 11"),
        ("Wi-Fi uses channels 1, 6 and 11", "The Zigbee network uses channel 25, not channel 11"),
        ("Wi-Fi runs on channel 6", "Zigbee runs on channel 20"),
        ("The Wi-Fi channel is fixed to 1", "The Zigbee channel is not fixed to 1"),
        ("Don't put the Wi-Fi on channel 11", "The Zigbee stick is on channel 11"),
        ("The 2.4 GHz band is on channel 6", "The 5 GHz band is not on channel 6"),
        ("The kitchen light is on group 4", "The hall light is never on group 4"),
        ("The printer has a static address", "The scanner doesn't have a static address"),
        ("The left motor is enabled", "The right motor is disabled"),
        ("Rate limiting is enabled on the public gateway", "Rate limiting is disabled inside"),
    ],
)
def test_different_things_are_not_linked_as_contradictions(cli: Cli, one: str, other: str) -> None:
    cli.home.mkdir(exist_ok=True)
    (cli.home / "config.toml").write_text("[sleep]\nlink_threshold = 0.0\n", encoding="utf-8")
    notes = [say(cli, one, 9), say(cli, other, 10)]
    cli.ok("sleep", "auto_linker")
    cli.ok("sleep", "conflict_detector")

    edges = [each["edge"] for note in notes for each in cli.ok("show", note).get("connections", ())]
    assert "contradicts" not in edges
