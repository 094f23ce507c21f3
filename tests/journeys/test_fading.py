"""Fading must not silence: what is young, protected, told or still to come stays at hand, and what
is archived is whispered when it clearly answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from madeleine import Madeleine
from madeleine.model.memory import Memory
from madeleine.model.words import Tier
from tests.aging import let_days_pass
from tests.cli.running import Cli

YOUNG = (
    "never log customer names or IBANs",
    "The staging URL is https://staging.ledger.example",
    "The office Wi-Fi password is on the fridge",
    "Release notes live in docs/releases",
    "The export job needs 4 GB of memory",
    "Bea has the second key to the server room",
    "The invoice template is in the shared drive under Finance",
    "Our VPN drops idle connections after 20 minutes",
    "The label printer only takes 62 mm rolls",
    "The demo account is demo@ledger.example",
    "Backups are copied to Frankfurt every night",
    "Feature flags are read once a minute",
)
PROTECTED = ("decision", "preference", "procedure", "goal", "person", "project")
TO_COME = (
    "Dentist on {far:%-d %B}",
    "Conference in Berlin on {far:%Y-%m-%d}",
    "The lease of the office ends on {far:%-d %B %Y}",
    "Handover with Marta, {far:%B %-d, %Y}, in the small room",
    "Flight to Oslo {far:%d.%m.%Y} at nine",
    "Launch party in {far:%B %Y}",
    "The audit is in 4 months",
    "School holidays begin next year",
    "Moving house on {far:%A}, {far:%-d %B}",
    "Concert tickets for {far:%-d. %B}",
)
OVER = (
    "The fair in {past:%B %Y} was loud",
    "Outage on {past:%Y-%m-%d}, two hours",
    "Met Ana at the fair on {past:%-d %B %Y}",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    return tmp_path / "home"


def opened(home: Path) -> Madeleine:
    return Madeleine.open(home, in_process=True)


def days_ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def tier_of(m: Madeleine, memory: Memory) -> Tier:
    """Look without opening it, which would be a use."""
    return next(each.tier for each in m.list(limit=500) if each.id == memory.id)


def tiers(m: Madeleine) -> set[Tier]:
    return {each.tier for each in m.list(limit=500)}


def fillers(m: Madeleine, count: int = 60) -> None:
    """Remember much beside, so that the breaker stays quiet."""
    subjects = ("harbour", "kitchen", "ledger", "garden", "router", "camera")
    m.remember_many(
        [
            {"content": f"Remark {number} of the {subjects[number % 6]} book", "type": "decision"}
            for number in range(count)
        ]
    )


# -- waits ---------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize("days", [4, 5, 7, 14, 29])
def test_young_notes_survive_a_hand_run_sleep(home: Path, days: int) -> None:
    cli = Cli(home)
    for text in YOUNG:
        cli.remember(text, "--created", days_ago(days))

    ran = cli.ok("sleep")

    assert {each["tier"] for each in cli.ok("list")["memories"]} == {"working"}
    assert [each["proposed"] for each in ran["reports"] if each["job"] == "decay_manager"] == [0]


def test_a_hand_run_waits_as_the_timetable_does_unless_it_is_to_work_now(home: Path) -> None:
    with opened(home) as m:
        fillers(m)
        old = m.remember("The old boiler was made by Hansen", created=days_ago(400))
        young = m.remember("The new boiler is by Vaillant", created=days_ago(5))
        m.sleep()
        assert (tier_of(m, old), tier_of(m, young)) == (Tier.WORKING, Tier.WORKING)

        m.sleep(now=True)

        assert (tier_of(m, old), tier_of(m, young)) == (Tier.ARCHIVAL, Tier.ARCHIVAL)


def test_now_is_an_option_of_runs_and_of_nothing_else(home: Path) -> None:
    ran = Cli(home)("sleep", "status", "--now")

    assert ran.code == 2
    assert "--now does not go with `status`" in ran.err


@pytest.mark.soak
def test_nothing_in_its_grace_is_up_for_archiving_after_nine_idle_days(home: Path) -> None:
    with opened(home) as m:
        m.remember_many(
            [
                {"content": f"{text}, says note {number}", "created": days_ago(number % 20)}
                for number, text in enumerate(YOUNG * 8)
            ][:94]
        )
    let_days_pass(home, 9)

    with opened(home) as m:
        m.sleep()

        assert tiers(m) == {Tier.WORKING}
        assert not [each for each in m.proposals() if each.type.value == "decay"]


def test_what_nobody_used_fades_when_its_grace_is_over(home: Path) -> None:
    with opened(home) as m:
        fillers(m)
        memory = m.remember("The old boiler was made by Hansen")
    let_days_pass(home, 31)

    with opened(home) as m:
        m.sleep()

        assert tier_of(m, memory) is Tier.ARCHIVAL


# -- what never fades ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", PROTECTED)
def test_a_protected_type_never_fades(home: Path, kind: str) -> None:
    with opened(home) as m:
        kept = m.remember("Ask Bea before the deploy", type=kind, created=days_ago(900))
        m.sleep("importance_scorer")

        m.sleep("decay_manager", now=True)

        assert tier_of(m, kept) is Tier.WORKING


def test_which_types_are_protected_is_a_setting(home: Path) -> None:
    home.mkdir(parents=True)
    setting = '[sleep]\nprotected_types = "Concept, event"\n'
    (home / "config.toml").write_text(setting, encoding="utf-8")
    with opened(home) as m:
        fillers(m, 0)
        concept = m.remember("Idempotent writes", type="concept", created=days_ago(900))
        goal = m.remember("Ship the atlas", type="goal", created=days_ago(900))
        m.sleep("importance_scorer")

        m.sleep("decay_manager", now=True)

        assert (tier_of(m, concept), tier_of(m, goal)) == (Tier.WORKING, Tier.ARCHIVAL)


def test_a_type_that_nobody_knows_is_refused_when_the_home_is_opened(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "config.toml").write_text('[sleep]\nprotected_types = "rumour"\n', encoding="utf-8")

    ran = Cli(home)("list")

    assert ran.code == 2
    assert "sleep.protected_types" in ran.err


@pytest.mark.parametrize("how", ["--about-self", "tag", "edge"])
def test_what_is_about_the_self_never_fades(home: Path, how: str) -> None:
    cli = Cli(home)
    words = {"--about-self": ["--about-self"], "tag": ["--tag", "about_self"], "edge": []}[how]
    memory = cli.remember("Allergic to peanuts", "--created", days_ago(900), *words)
    if how == "edge":
        cli.remember("Born in Lyon", "--about-self")
        (self_id,) = [
            each["id"]
            for each in cli.ok("list", "--type", "person")["memories"]
            if each["source"] == "system:self"
        ]
        cli.ok("link", self_id, memory, "--edge", "defines")
    cli.ok("sleep", "importance_scorer")

    cli.ok("sleep", "decay_manager", "--now")

    assert cli.ok("show", memory)["memory"]["tier"] == "working"


def test_the_tag_protected_keeps_a_memory_at_hand(home: Path) -> None:
    with opened(home) as m:
        kept = m.remember("The old boiler is by Hansen", tags=["protected"], created=days_ago(900))
        m.sleep("importance_scorer")

        m.sleep("decay_manager", now=True)

        assert tier_of(m, kept) is Tier.WORKING


@pytest.mark.parametrize("text", TO_COME)
def test_an_event_to_come_never_fades(home: Path, text: str) -> None:
    far = datetime.now(UTC) + timedelta(days=70)
    with opened(home) as m:
        kept = m.remember(text.format(far=far), type="event", created=days_ago(45))
        m.sleep("importance_scorer")

        m.sleep("decay_manager", now=True)

        assert tier_of(m, kept) is Tier.WORKING


@pytest.mark.parametrize("text", OVER)
def test_an_event_that_is_over_fades(home: Path, text: str) -> None:
    past = datetime.now(UTC) - timedelta(days=100)
    with opened(home) as m:
        gone = m.remember(text.format(past=past), type="event", created=days_ago(95))
        m.sleep("importance_scorer")

        m.sleep("decay_manager", now=True)

        assert tier_of(m, gone) is Tier.ARCHIVAL


def test_forgetting_spares_an_event_to_come_too(home: Path) -> None:
    home.mkdir(parents=True)
    setting = "[consolidation]\narchive_threshold = 0.9\n"
    (home / "config.toml").write_text(setting, encoding="utf-8")
    far = datetime.now(UTC) + timedelta(days=70)
    with opened(home) as m:
        kept = m.remember(f"Audit on {far:%Y-%m-%d}", type="event", created=days_ago(400))
        gone = m.remember("Audit of the cellar, two rooms", type="event", created=days_ago(400))

        done = m.consolidate("forget")

        assert (tier_of(m, kept), tier_of(m, gone)) == (Tier.WORKING, Tier.ARCHIVAL)
        (spared,) = done["steps"]["forget"]["protected"]  # type: ignore[index]  # plain JSON
        assert (spared["id"], spared["protection_reason"]) == (kept.id, "upcoming")


# -- too much for one run ------------------------------------------------------------------


def decay_words(m: Madeleine, dry_run: bool = True) -> str:
    (report,) = m.sleep("decay_manager", dry_run=dry_run, now=True)
    return str(report.stopped)


@pytest.fixture
def old(home: Path) -> Iterator[Madeleine]:
    with opened(home) as m:
        for number in range(21):
            m.remember(f"Remark {number} about the harbour", created=days_ago(900 + number))
        m.sleep("importance_scorer")
        yield m


def test_what_was_asked_about_before_is_not_said_to_change(old: Madeleine) -> None:
    assert decay_words(old, dry_run=False).startswith("21 of 21 memories would change, more than")
    old.decide(old.proposals()[0], "rejected")

    words = decay_words(old)

    many = "11 of 21 memories would change and 10 others were asked about lately, more than 25%"
    assert words == f"{many}: you are asked about 10 of them"


def test_a_memory_that_is_asked_about_anew_is_counted_once(old: Madeleine) -> None:
    decay_words(old, dry_run=False)
    asked = old.proposals()[0]
    old.revise(asked.source_nodes[0], content="The harbour has a new crane")
    old.sleep("decay_manager", now=True)  # the question is out of date and is let go

    assert old.proposals("expired")
    words = decay_words(old)

    would, others = (int(each) for each in re.findall(r"(\d+) (?:of 21|others)", words))
    assert would + others <= 21


def test_fewer_changes_than_the_least_are_carried_out_whatever_their_share(home: Path) -> None:
    with opened(home) as m:
        for number in range(19):
            m.remember(f"Remark {number} about the harbour", created=days_ago(900 + number))
        m.sleep("importance_scorer")

        (report,) = m.sleep("decay_manager", now=True)

        assert (report.applied, report.stopped) == (19, None)


# -- use -----------------------------------------------------------------------------------


def test_a_memory_that_is_whispered_does_not_fade(home: Path) -> None:
    with opened(home) as m:
        fillers(m)
        told = m.remember("The ferry to Bergen leaves at half past nine")
        silent = m.remember("The boiler in the cellar was made by Hansen")
    let_days_pass(home, 29)
    with opened(home) as m:
        assert m.whisper("when does the ferry to Bergen leave?", session_id="s").injected
    let_days_pass(home, 10)

    with opened(home) as m:
        m.sleep()

        assert (tier_of(m, told), tier_of(m, silent)) == (Tier.WORKING, Tier.ARCHIVAL)


def test_a_whisper_through_the_daemon_counts_as_one_use(home: Path) -> None:
    cli = Cli(home)
    memory = cli.remember("The ferry to Bergen leaves at half past nine")
    with opened(home) as m:
        for _ in range(3):
            m.whisper("when does the ferry to Bergen leave?", session_id="s")

        assert m.get(memory).access_count == 1


# -- asking --------------------------------------------------------------------------------


@pytest.fixture
def faded(home: Path) -> Cli:
    """A store that was brought here and has faded as a whole."""
    with opened(home) as m:
        m.remember_many([{"content": f"Old remark {n} on {'abc'[n % 3]}"} for n in range(60)])
    let_days_pass(home, 200)
    return Cli(home)


def test_fadings_are_one_question_with_ten_memories(faded: Cli) -> None:
    faded.ok("sleep", "importance_scorer")
    faded.ok("sleep", "decay_manager")
    faded.ok("sleep", "decay_manager")

    (asked,) = faded.ok("proposals")["proposals"]
    assert (asked["type"], len(asked["source_nodes"])) == ("decay", 10)
    shown = faded("proposals", "show", asked["id"]).out
    assert shown.count("+tier: archival") == 10


def test_approving_archives_the_whole_list_and_one_undo_brings_it_back(faded: Cli) -> None:
    faded.ok("sleep", "importance_scorer")
    faded.ok("sleep", "decay_manager")
    (asked,) = faded.ok("proposals")["proposals"]
    before = {path.name: path.read_bytes() for path in faded.files}

    done = faded.ok("proposals", "approve", asked["id"])

    archived = faded.ok("list", "--tier", "archival", "--limit", "100")["memories"]
    assert {each["id"] for each in archived} == set(asked["source_nodes"])
    faded.ok("undo", done["change"])
    assert {path.name: path.read_bytes() for path in faded.files} == before


@pytest.mark.soak
def test_rejecting_keeps_every_memory_of_the_list_and_asks_about_others(faded: Cli) -> None:
    faded.ok("sleep", "importance_scorer")
    seen: set[str] = set()
    for _ in range(6):
        faded.ok("sleep", "decay_manager")
        (asked,) = faded.ok("proposals")["proposals"]
        assert not seen & set(asked["source_nodes"])
        seen |= set(asked["source_nodes"])
        faded.ok("proposals", "reject", asked["id"])

    (report,) = faded.ok("sleep", "decay_manager")["reports"]

    assert len(seen) == 60
    assert (report["applied"], report["proposed"]) == (0, 0)


# -- the archive ---------------------------------------------------------------------------


@pytest.mark.few(4)
@pytest.mark.parametrize("text", YOUNG)
def test_an_archived_memory_that_clearly_answers_is_whispered(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MADELEINE_EMBEDDER_KIND", raising=False)
    with Madeleine.open(tmp_path / "home", in_process=True) as m:
        kept = m.remember(text, tier="archival")
        m.remember("Grandmother's apple pie needs cinnamon")

        said = m.whisper(f"Remind me, please: {text}?", session_id="s")

        assert [each.memory.id for each in said.injected] == [kept.id]
