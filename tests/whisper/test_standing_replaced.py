"""No standing note is told alone where something newer may have replaced it."""

from __future__ import annotations

from pathlib import Path

from madeleine import Madeleine


def test_the_newer_of_two_is_told_and_names_the_older_though_both_say_how_things_are_done(
    tmp_path: Path,
) -> None:
    with Madeleine.open(tmp_path / "home", in_process=True) as opened:
        old = opened.remember("We use Celery for background jobs", space="atlas")
        new = opened.remember("Switched background jobs from Celery to Arq", space="atlas")
        opened.sleep("update_spotter")

        asked = opened.whisper("what do we use for background jobs?", space="atlas", dry_run=True)
        told = opened.whisper("add a background job for invoices", space="atlas", dry_run=True)

        assert [each.memory.id for each in asked.injected] == [new.id]
        assert old.id[:8] in asked.text
        assert old.id not in [each.memory.id for each in told.injected]
