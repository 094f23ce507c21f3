"""Whatever a run does, taking it back leaves every file as it was, byte for byte."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from madeleine.sleep.values import Patch
from madeleine.write.undo import undo
from tests.examples import some_of
from tests.fakes import close, make_stores, reopened, vault_bytes
from tests.sleep.nights import KINDS, job_of, living, one_of_each, run


@settings(max_examples=some_of(25), deadline=None)
@example(["forget"] * 4, False)
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6), st.booleans())
def test_a_run_then_undo_is_as_before(kinds: list[str], rebuilt: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        stores = make_stores(home)
        actions = one_of_each(stores)
        before = living(vault_bytes(stores))

        report = run(stores, job_of(*(Patch(actions[kind], kind) for kind in kinds)))
        assert report.applied + report.skipped == len(kinds)
        after = vault_bytes(stores)
        files = [kind for kind in kinds if kind != "score"]
        again = run(stores, job_of(*(Patch(actions[kind], kind) for kind in files)))
        assert vault_bytes(stores) == after or again.applied

        stores = reopened(stores, home, without_index=rebuilt)
        for each in (again, report):
            if stores.log.changes(each.run):
                undo(stores, each.run)
        assert living(vault_bytes(stores)) == before
        close(stores)
