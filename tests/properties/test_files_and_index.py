"""Any edits, by hand and by verbs: the index after reconcile is the index made from nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from madeleine.errors import MadeleineError
from madeleine.model.draft import Draft, MemoryLimits
from madeleine.model.memory import Connection
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.revision import read_revision
from madeleine.model.words import ABOUT_SELF, Edge, MemoryType, Tier
from madeleine.recall.recall import recall
from madeleine.write.connections import link
from madeleine.write.forget import forget, restore
from madeleine.write.merge import merge
from madeleine.write.reconcile import reconcile
from madeleine.write.remember import remember
from madeleine.write.revise import retire, revise
from madeleine.write.show import read_history, show
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.examples import some_of
from tests.fakes import close, make_stores, reopened, vault_bytes

WORDS = st.sampled_from(
    ["cat", "dog", "moon", "tea", "sqlite", "猫", "قمر", "rocket", "été", "naïve"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
KINDS = st.sampled_from(MemoryType)
PICK = st.integers(0, 1_000)


def everything(stores: Stores) -> dict[str, object]:
    """What show, list, recall, history and proposals answer, for every memory."""
    now = stores.clock.now()
    memories = stores.search.listing(Filter(outdated=True), now, 500)
    return {
        "list": memories,
        "show": [_edges(stores, memory.id) for memory in memories],
        "history": [read_history(stores, memory.id) for memory in memories],
        "recall": [
            [
                (hit.memory.id, hit.score)
                for hit in recall(stores, RecallQuery(text), touch=False).hits
            ]
            for text in ("cat", "sqlite moon", "猫", "what does my dog drink")
        ],
        "proposals": stores.log.proposals(),
        "unreadable": stores.search.unreadable(),
    }


def _edges(stores: Stores, memory_id: str) -> object:
    return sorted(map(repr, show(stores, memory_id).edges))


class Life(RuleBasedStateMachine):
    """A vault in use, by verbs and by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.home = Path(self.folder.name) / "home"
        self.stores = make_stores(self.home)
        self.ids: list[str] = []
        self.gone: list[str] = []
        self.changes: list[tuple[str, dict[str, bytes]]] = []

    def teardown(self) -> None:
        close(self.stores)
        self.folder.cleanup()

    def pick(self, number: int) -> str:
        return self.ids[number % len(self.ids)]

    def attempt(self, verb: object, *arguments: object) -> object:
        """Call a verb; a refusal is a fine answer."""
        try:
            return verb(self.stores, *arguments)  # type: ignore[operator]
        except MadeleineError:
            return None

    @rule(
        text=TEXTS, kind=st.sampled_from(MemoryType), tier=st.sampled_from(Tier), me=st.booleans()
    )
    def remember(self, text: str, kind: MemoryType, tier: Tier, me: bool) -> None:
        tags = (ABOUT_SELF,) if me else ()
        made = remember(self.stores, Draft(text, type=kind, tier=tier, tags=tags, about_self=me))
        if made.memory.id not in self.ids:
            self.ids.append(made.memory.id)

    @precondition(lambda self: self.ids)
    @rule(number=PICK, text=TEXTS, title=st.none() | TEXTS)
    def revise(self, number: int, text: str, title: str | None) -> None:
        change = read_revision({"content": text, "title": title}, MemoryLimits())
        self.attempt(revise, self.pick(number), change)

    @precondition(lambda self: len(self.ids) > 1)
    @rule(one=PICK, two=PICK, edge=st.sampled_from(Edge))
    def link(self, one: int, two: int, edge: Edge) -> None:
        self.attempt(link, self.pick(one), Connection(self.pick(two), edge, 0.5, "why", "hand"))

    @precondition(lambda self: len(self.ids) > 1)
    @rule(one=PICK, two=PICK, text=st.none() | TEXTS)
    def merge_and_perhaps_undo(self, one: int, two: int, text: str | None) -> None:
        before = vault_bytes(self.stores)
        made = self.attempt(merge, self.pick(one), self.pick(two), None, text)
        if made is not None:
            undo(self.stores, made.change)  # type: ignore[attr-defined]
            assert vault_bytes(self.stores) == before

    @precondition(lambda self: len(self.ids) > 1)
    @rule(one=PICK, two=PICK)
    def merge(self, one: int, two: int) -> None:
        self.attempt(merge, self.pick(one), self.pick(two))

    @precondition(lambda self: self.ids)
    @rule(number=PICK)
    def retire(self, number: int) -> None:
        self.attempt(retire, self.pick(number), "no longer so")

    @precondition(lambda self: self.ids)
    @rule(number=PICK)
    def forget(self, number: int) -> None:
        self.attempt(forget, self.pick(number))

    @precondition(lambda self: self.ids)
    @rule(number=PICK)
    def restore(self, number: int) -> None:
        self.attempt(restore, self.pick(number))

    @precondition(lambda self: self.ids)
    @rule(number=PICK, text=TEXTS)
    def edit_by_hand(self, number: int, text: str) -> None:
        for path in self.files(number):
            data = path.read_bytes()
            path.write_bytes(data + text.encode() + b"\n")

    @precondition(lambda self: self.ids)
    @rule(number=PICK)
    def break_by_hand(self, number: int) -> None:
        """New files that do not parse: nothing is known of them before or after."""
        (self.stores.vault.root / f"broken-{number}.md").write_bytes(b"---\ntype: fable\n---\nx\n")

    @rule(number=PICK, text=TEXTS)
    def add_by_hand(self, number: int, text: str) -> None:
        path = self.stores.vault.root / "notes" / f"note-{number % 5}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")

    @precondition(lambda self: self.ids)
    @rule(number=PICK)
    def rename_by_hand(self, number: int) -> None:
        for path in self.files(number):
            path.rename(path.with_name(f"renamed-{path.name}"[-100:]))

    @precondition(lambda self: self.ids)
    @rule(number=PICK)
    def remove_by_hand(self, number: int) -> None:
        for path in self.files(number):
            path.unlink()

    def files(self, number: int) -> list[Path]:
        stored = self.stores.search.get(self.pick(number))
        path = self.stores.vault.root / stored.path if stored else None
        return [path] if path is not None and path.exists() else []

    @rule()
    def restart(self) -> None:
        self.stores = reopened(self.stores, self.home)

    @invariant()
    def reconcile_equals_rebuild(self) -> None:
        reconcile(self.stores)
        before = everything(self.stores)
        self.stores = reopened(self.stores, self.home, without_index=True)
        assert everything(self.stores) == before


TestLife = pytest.mark.proves("I2")(Life.TestCase)
TestLife.settings = settings(
    max_examples=some_of(15),
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
