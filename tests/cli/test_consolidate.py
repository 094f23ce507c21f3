"""`madeleine consolidate` in words and as JSON, with a daemon and without one."""

from __future__ import annotations

from tests.cli.running import Cli
from tests.cli.test_sleep import either

__all__ = ["either"]


def test_all_four_tasks_run_and_say_what_they_did(either: Cli) -> None:
    either.remember("The boiler was made by Hansen")

    ran = either("consolidate")

    assert ran.code == 0, ran.err
    named = [line.partition(":")[0] for line in ran.out.splitlines() if not line.startswith(" ")]
    assert named == ["decay", "creative", "cluster", "forget"]
    assert "processed" in ran.out


def test_a_task_is_run_by_its_name_and_shows_in_the_status(either: Cli) -> None:
    either.remember("The boiler was made by Hansen")
    done = either.ok("consolidate", "decay")

    assert list(done["consolidation"]["steps"]) == ["decay"]
    status = either("consolidate", "status")
    assert status.code == 0
    assert "decay     ran just now" in status.out
    assert "creative  has not run yet" in status.out
    assert "forget    has not run yet; next: disabled" in status.out


def test_an_unknown_task_is_refused_with_those_there_are(either: Cli) -> None:
    refused = either("consolidate", "dream")

    assert refused.code == 2
    assert "dream" in refused.err
    assert "decay, creative, cluster, forget" in refused.err


def test_a_dry_run_says_what_it_would_do_and_leaves_no_run(either: Cli) -> None:
    either.remember("The boiler was made by Hansen")

    done = either.ok("consolidate", "--dry-run")

    assert done["consolidation"]["dry_run"] is True
    assert either.ok("consolidate", "status")["history"] == []
