"""The cap on the core tier, when several threads find it exceeded at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.model.draft import Draft
from madeleine.model.words import Tier
from madeleine.write.core_cap import hold_core_cap
from madeleine.write.questions import rejected_keys
from madeleine.write.remember import remember
from madeleine.write.stores import Stores
from tests.fakes import close, make_stores


def test_two_that_hold_the_cap_at_once_demote_only_what_is_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = make_stores(tmp_path / "home")
    for number in range(4):
        remember(stores, Draft(content=f"Rule number {number} of the house", tier=Tier.CORE))
    capped = with_cap(stores, 3)
    both_counted = threading.Barrier(2)

    def wait_for_the_other(given: Stores) -> object:
        """Wait until both have counted, or nobody else comes because we have the turn."""
        try:
            both_counted.wait(0.5)
        except threading.BrokenBarrierError:
            pass
        return rejected_keys(given)

    monkeypatch.setattr("madeleine.write.core_cap.rejected_keys", wait_for_the_other)
    with ThreadPoolExecutor(2) as pool:
        demoted = [each for found in pool.map(hold_core_cap, [capped, capped]) for each in found]

    assert len(demoted) == 1
    close(stores)


def with_cap(stores: Stores, cap: int) -> Stores:
    config = replace(stores.config, write=replace(stores.config.write, core_cap=cap))
    return replace(stores, config=config)
