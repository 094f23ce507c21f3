"""What one night makes of a few notes, through the real command and with the models that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.minds.local import why_not_built_in
from tests.cli.running import Cli

pytestmark = pytest.mark.skipif(bool(why_not_built_in()), reason="no built-in model")


@pytest.fixture
def ines(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "home")


def keep(cli: Cli, *texts: str, space: str) -> list[str]:
    """Remember texts, each a day after the one before, and return their ids."""
    return [
        cli.remember(text, "--space", space, "--created", f"2026-03-{day:02}T10:00:00Z")
        for day, text in enumerate(texts, start=1)
    ]


def test_notes_of_one_thing_become_a_digest_that_says_them_all(ines: Cli) -> None:
    ids = keep(
        ines,
        "The nightly backup of kilo runs at 02:00",
        "The nightly backup of kilo is kept for 30 days",
        "The nightly backup of kilo is encrypted with age. It stops if the disk is full",
        space="kilo",
    )

    ines.ok("sleep")

    (digest,) = [each for each in ines.ok("list")["memories"] if each["tier"] == "working"]
    assert digest["title"] == "Nightly backup of kilo"
    assert digest["content"].splitlines() == [
        "The nightly backup of kilo:",
        "- runs at 02:00",
        "- is kept for 30 days",
        "- is encrypted with age. It stops if the disk is full",
    ]
    assert {each["target"] for each in digest["connections"]} >= set(ids)


@pytest.mark.parametrize(
    ("used", "told", "repeated"),
    [
        (
            "We use Sidekiq for background work",
            "Switched background work from Sidekiq to GoodJob because Redis ran out of memory",
            "Background work runs on GoodJob now",
        ),
        (
            "Wir nutzen Travis für die Pakete von Iltis",
            "Wir sind für die Pakete von Iltis von Travis zu Drone gewechselt, weil Travis hing",
            "Die Pakete von Iltis laufen jetzt mit Drone",
        ),
        (
            "Usamos Oracle para los recibos",
            "Cambiamos de Oracle a Postgres para los recibos porque era caro",
            "Los recibos están ahora en Postgres",
        ),
    ],
)
def test_a_chain_leaves_the_change_with_its_reason_live(
    ines: Cli, used: str, told: str, repeated: str
) -> None:
    first, change, _ = keep(ines, used, told, repeated, space="chain")

    ines.ok("sleep", "conflict_detector")

    ended = ines.ok("show", first)["memory"]
    kept = ines.ok("show", change)["memory"]
    assert ended["superseded_by"] == change
    assert kept["superseded_by"] is None
    (arrow,) = [each for each in kept["connections"] if each["edge"] == "evolved_from"]
    assert (arrow["target"], arrow["weight"]) == (first, 0.9)


def test_other_traits_of_one_thing_are_no_question(ines: Cli) -> None:
    keep(
        ines,
        "El contrato del piso prohíbe perros",
        "El contrato del piso se paga el día 3",
        "El contrato del piso incluye el agua",
        space="piso",
    )

    ines.ok("sleep", "conflict_detector")

    assert ines.ok("proposals")["proposals"] == []
