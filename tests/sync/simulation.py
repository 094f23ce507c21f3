"""Several machines that change the same memories, now and then without a network.

Everything is real but the clocks, which run apart and jump, and the people, who are a random
number generator. Each text that somebody writes has a word of its own in it. A word may vanish
only where somebody took it out who saw it, or where a question still has it.
"""

from __future__ import annotations

import random
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from madeleine.errors import MadeleineError
from madeleine.model.draft import Draft
from madeleine.model.event import Event
from madeleine.model.memory import Connection
from madeleine.model.proposal import ProposalStatus
from madeleine.model.revision import Revision
from madeleine.model.words import Tier
from madeleine.sync.ledger import Ledger
from madeleine.sync.places.folder import FolderPlace
from madeleine.sync.places.port import PlaceDown
from madeleine.sync.run import SyncReport, synchronise
from madeleine.sync.segments import Segment
from madeleine.sync.versions import VersionState
from madeleine.write.change_file import change_memory
from madeleine.write.connections import link
from madeleine.write.forget import forget, restore
from madeleine.write.proposals import decide_proposal
from madeleine.write.purge import purge
from madeleine.write.reconcile import reconcile
from madeleine.write.record_use import record_use
from madeleine.write.remember import remember
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, FakeClock, close, make_stores

WORD = re.compile(r"w\d+w")
MAX_MEMORIES = 60  # so that machines meet at the same ones
RENAMED = "renamed "
ROUNDS = 6  # in which all must agree once everybody is there


class UnreliablePlace(FolderPlace):
    """A folder whose network fails now and then, in the midst of things, and whose files come in
    any order, some of them only in part at first."""

    def __init__(self, folder: Path, lots: random.Random, reliable: bool) -> None:
        super().__init__(folder)
        self._lots = lots
        self._reliable = reliable

    def list_segments(self) -> dict[str, int]:
        found = super().list_segments()
        if self._reliable:
            return found
        if self._lots.random() < 0.03:
            raise PlaceDown("the folder", "is away")
        return {name: size for name, size in found.items() if self._lots.random() > 0.1}

    def fetch(self, names: Sequence[str]) -> Iterator[Segment]:
        shuffled = list(names)
        self._lots.shuffle(shuffled)
        for each in super().fetch(shuffled):
            if not self._reliable and self._lots.random() < 0.02:
                raise PlaceDown("the folder", "went away")
            if not self._reliable and self._lots.random() < 0.1:
                yield Segment(each.name, each.data[: len(each.data) // 2])
            else:
                yield each

    def publish(self, add: Sequence[Segment], remove: Sequence[str]) -> None:
        if not self._reliable and self._lots.random() < 0.05:
            super().publish(add[: len(add) // 2], [])
            raise PlaceDown("the folder", "went away")
        super().publish(add, remove)


@dataclass(slots=True)
class Machine:
    """One of them."""

    name: str
    home: Path
    stores: Stores
    ledger: Ledger
    clock: FakeClock
    offline: int = 0
    """Steps until it has a network again."""
    reports: list[SyncReport] = field(default_factory=list)


class World:
    """All of them, and what was written."""

    def __init__(self, folder: Path, machines: int, seed: int) -> None:
        self.lots = random.Random(seed)
        self.place = folder / "place"
        self.place.mkdir(parents=True)
        self.machines = [self._make(folder, f"m{number}") for number in range(machines)]
        self.open = list(self.machines)
        self.written: set[str] = set()
        self.taken_out: set[str] = set()
        self.purged: set[str] = set()
        """Memories that somebody purged. What others changed at that time lives on, but whoever
        purged one has nothing of its history."""
        self.words_purged: dict[str, set[str]] = {}
        self.done: Counter[str] = Counter()
        self._number = 0

    def _make(self, folder: Path, name: str) -> Machine:
        skew = timedelta(seconds=self.lots.uniform(-3_600, 3_600))
        clock, home = FakeClock(NOON + skew), folder / name
        stores = make_stores(home, clock, device=name, with_model=False)
        stores = replace(stores, new_id=self._new_id)
        return Machine(name, home, stores, Ledger(home / "sync" / "ledger.db"), clock)

    def _new_id(self) -> str:
        return str(uuid.UUID(int=self.lots.getrandbits(128), version=4))

    def close(self) -> None:
        """Close all of them. Nothing is left in logs of SQLite then."""
        machines, self.open = self.open, []
        for each in machines:
            each.ledger.close()
            close(each.stores)

    # -- what people do --------------------------------------------------------------------

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def step(self) -> None:
        machine = self.lots.choice(self.machines)
        for each in self.machines:
            each.clock.pass_by(seconds=self.lots.uniform(0, 30))
            each.offline = max(0, each.offline - 1)
        deeds = list(DEEDS)
        deed = self.lots.choices(deeds, [DEEDS[each] for each in deeds])[0]
        if deed is sync_now:
            sync_now(self, machine)
            return
        before = self.words_of(machine)
        try:
            deed(self, machine)
        except MadeleineError as error:
            self.done[f"refused: {error.kind}"] += 1
        else:
            self.done[deed.__name__] += 1
        after = self.words_of(machine)
        self.taken_out |= before - after
        self.written |= after - before

    def new_word(self) -> str:
        self._number += 1
        return f"w{self._number}w"

    def words_of(self, machine: Machine) -> set[str]:
        """Return the words that stand in the vault of a machine, but for its trash."""
        vault = machine.stores.vault
        files = (vault.bytes_or_none(each.path) or b"" for each in vault.scan())
        return {word for data in files for word in WORD.findall(data.decode())}

    def some_memory(self, machine: Machine) -> str:
        ids = sorted(machine.stores.search.fingerprints().keys())
        found = machine.stores.search.id_at(self.lots.choice(ids)) if ids else None
        return found or remember(machine.stores, Draft(f"first {self.new_word()}")).memory.id

    # -- the end ---------------------------------------------------------------------------

    def settle(self) -> None:
        """Let everybody meet until nothing is new."""
        for _ in range(ROUNDS):
            reports = [self.meet(each) for each in self.machines]
            if not any(each.sent or each.received or each.events_received for each in reports):
                return
        raise AssertionError(f"no rest after {ROUNDS} rounds: {reports}")

    def meet(self, machine: Machine) -> SyncReport:
        place = UnreliablePlace(self.place, self.lots, reliable=True)
        report = synchronise(machine.stores, machine.ledger, place)
        machine.reports.append(report)
        assert not report.refused, report.refused
        return report

    def check(self) -> None:
        """Check that all hold the same, and that nothing is lost."""
        states = [describe(each, self.purged) for each in self.machines]
        for other in states[1:]:
            for name, mine in states[0].items():
                assert mine == other[name], (name, _difference(mine, other[name]))
        live = self.words_of(self.machines[0])
        asked = {
            word
            for machine in self.machines
            for each in machine.stores.log.proposals()
            for word in WORD.findall(dict(each.action).get("text", ""))
        }
        lost = self.written - live - self.taken_out - asked
        assert not lost, f"lost: {sorted(lost)}"
        self.check_purged()

    def check_purged(self) -> None:
        """Check that no file of any machine, nor of the place, has a word of what is gone. The
        derived index is left out: pages that SQLite freed may hold old bytes until a rebuild."""
        local = self.machines[0].ledger.local_files()
        gone = {
            word
            for memory, words in self.words_purged.items()
            if memory not in local or local[memory].state is VersionState.PURGED
            for word in words
        }
        self.close()
        files = [each for each in self.place.parent.rglob("*") if each.is_file()]
        files = [each for each in files if not each.name.startswith("index.db")]
        for path in files:
            found = {each.decode() for each in re.findall(rb"w\d+w", path.read_bytes())} & gone
            assert not found, f"{path} still has {sorted(found)}"


def _difference(mine: object, other: object) -> object:
    if isinstance(mine, dict) and isinstance(other, dict):
        keys = mine.keys() | other.keys()
        return {
            key: (mine.get(key), other.get(key)) for key in keys if mine.get(key) != other.get(key)
        }
    return mine, other


def describe(machine: Machine, purged: set[str]) -> dict[str, object]:
    """Return what a machine holds, as far as all are to hold the same."""
    stores = machine.stores
    reconcile(stores)
    vault = stores.vault
    live = {each.path: vault.read_bytes(each.path) for each in vault.scan()}
    paths = list(stores.search.fingerprints())
    ids = [each for path in paths if (each := stores.search.id_at(path))]
    memories = stores.search.memories(ids)
    trash = {each.memory.id: vault.read_bytes(each.path) for each in vault.trashed_memories()}
    told = [each for each in ids if each not in purged]
    contested = find_contested_paths(machine)
    return {
        "live": {stores.search.id_at(path): data for path, data in live.items()},
        "paths": {
            memory: path
            for path in live
            if (memory := stores.search.id_at(path)) is not None and memory not in contested
        },
        "trash": trash,
        "usage": {
            each: (memories[each].usage.access_count, memories[each].usage.last_accessed)
            for each in told
        },
        "proposals": {
            each.id: (each.status, each.action)
            for each in stores.log.proposals()
            if purged.isdisjoint(each.source_nodes)
        },
        "history": {
            each: sorted(
                str(event.body.get("change"))
                for event in stores.log.history(each, 1_000)
                if event.body.get("verb") not in (None, "sync")
                if purged.isdisjoint(find_edited(event))
            )
            for each in told
        },
    }


def find_edited(event: Event) -> set[str]:
    edits = event.body.get("edits")
    return {each["memory"] for each in edits} if isinstance(edits, list) else set()


def find_contested_paths(machine: Machine) -> set[str]:
    """Return the memories that somebody renamed, to one of few names: where another memory has it
    already, the file has a name of its own on that machine."""
    return {
        memory
        for memory in machine.ledger.local_files()
        for version in machine.ledger.versions_of(memory).values()
        if version.path.startswith(RENAMED)
    }


# -- deeds ----------------------------------------------------------------------------------


def remember_something(world: World, machine: Machine) -> None:
    if machine.stores.search.counts().memories >= MAX_MEMORIES:
        return
    words = " ".join(world.new_word() for _ in range(world.lots.randint(1, 3)))
    lines = "\n".join([f"note {words}", *(f"line {n}" for n in range(world.lots.randint(0, 4)))])
    remember(
        machine.stores,
        Draft(lines, title=f"t {world.new_word()}" if world.lots.random() < 0.5 else None),
    )


def append_line(world: World, machine: Machine) -> None:
    _rewrite(world, machine, lambda lines: [*lines, f"more {world.new_word()}"])


def insert_line(world: World, machine: Machine) -> None:
    _rewrite(world, machine, lambda lines: [f"top {world.new_word()}", *lines])


def replace_line(world: World, machine: Machine) -> None:
    def change(lines: list[str]) -> list[str]:
        at = world.lots.randrange(len(lines))
        return [*lines[:at], f"other {world.new_word()}", *lines[at + 1 :]]

    _rewrite(world, machine, change)


def _rewrite(world: World, machine: Machine, change: Callable[[list[str]], list[str]]) -> None:
    memory = world.some_memory(machine)
    change_memory(
        machine.stores,
        memory,
        lambda each: replace(
            each,
            content="\n".join(change(each.content.split("\n"))),
            updated=machine.clock.now(),
        ),
        verb="revise",
        by="somebody",
    )


def change_title(world: World, machine: Machine) -> None:
    memory, title = world.some_memory(machine), f"title {world.new_word()}"
    _revise(machine, memory, Revision(values={"title": title}))


def change_tags(world: World, machine: Machine) -> None:
    memory = world.some_memory(machine)
    tags = tuple(world.lots.sample(["red", "green", "blue", world.new_word()], 2))
    _revise(machine, memory, Revision(values={"tags": tags}))


def change_tier(world: World, machine: Machine) -> None:
    tier = world.lots.choice([Tier.WORKING, Tier.ARCHIVAL])
    _revise(machine, world.some_memory(machine), Revision(values={"tier": tier}))


def _revise(machine: Machine, memory: str, revision: Revision) -> None:
    change_memory(machine.stores, memory, revision.applied_to, verb="revise", by="somebody")


def connect(world: World, machine: Machine) -> None:
    one, other = world.some_memory(machine), world.some_memory(machine)
    if one != other:
        link(machine.stores, one, Connection(other), by="somebody")


def edit_by_hand(world: World, machine: Machine) -> None:
    memory = world.some_memory(machine)
    path = machine.stores.vault.root / str(machine.stores.search.path_of(memory))
    path.write_bytes(path.read_bytes() + f"by hand {world.new_word()}\n".encode())
    reconcile(machine.stores)


def rename_by_hand(world: World, machine: Machine) -> None:
    memory = world.some_memory(machine)
    path = machine.stores.vault.root / str(machine.stores.search.path_of(memory))
    target = path.with_name(f"{RENAMED}{world.lots.randrange(20)}.md")
    if not target.exists():
        path.rename(target)
        reconcile(machine.stores)


def remove_by_hand(world: World, machine: Machine) -> None:
    memory = world.some_memory(machine)
    give_up_questions(world, machine, memory)
    (machine.stores.vault.root / str(machine.stores.search.path_of(memory))).unlink()
    reconcile(machine.stores)


def forget_one(world: World, machine: Machine) -> None:
    memory = world.some_memory(machine)
    forget(machine.stores, memory, by="somebody")
    give_up_questions(world, machine, memory)


def give_up_questions(world: World, machine: Machine, memory: str) -> None:
    """Who lets a memory go lets go what is asked about it. If somebody else purges it, that is
    gone too."""
    for each in machine.stores.log.proposals():
        if memory in each.source_nodes:
            world.taken_out.update(WORD.findall(dict(each.action).get("text", "")))


def restore_one(world: World, machine: Machine) -> None:
    trashed = sorted({each.memory.id for each in machine.stores.vault.trashed_memories()})
    if trashed:
        restore(machine.stores, world.lots.choice(trashed), by="somebody")


def purge_one(world: World, machine: Machine) -> None:
    trashed = sorted({each.memory.id for each in machine.stores.vault.trashed_memories()})
    if trashed:
        chosen = world.lots.choice(trashed)
        world.purged.add(chosen)
        data = machine.stores.vault.read_bytes(machine.stores.vault.find_trashed(chosen)[-1].path)
        world.words_purged.setdefault(chosen, set()).update(WORD.findall(data.decode()))
        # The questions about it go too, and with them what two machines had not agreed on.
        known = machine.ledger.versions_of(chosen).keys()
        for each in world.machines:
            for version in each.ledger.versions_of(chosen).values():
                if version.id in known:
                    world.taken_out.update(WORD.findall((version.content or b"").decode()))
        purge(machine.stores, [chosen])


def take_back(world: World, machine: Machine) -> None:
    changes = machine.stores.log.recent_events(["changed"], 5)
    if changes:
        undo(machine.stores, str(world.lots.choice(changes).body["change"]), by="somebody")


def use_one(world: World, machine: Machine) -> None:
    record_use(machine.stores, [world.some_memory(machine)], "recalled", wait=True)


def answer_question(world: World, machine: Machine) -> None:
    waiting = machine.stores.log.proposals(ProposalStatus.PENDING)
    if waiting:
        status = world.lots.choice([ProposalStatus.APPROVED, ProposalStatus.REJECTED])
        decide_proposal(machine.stores, world.lots.choice(waiting).id, status, by="somebody")


def jump_clock(world: World, machine: Machine) -> None:
    machine.clock.pass_by(seconds=world.lots.uniform(-7_200, 7_200))


def leave_network(world: World, machine: Machine) -> None:
    machine.offline = world.lots.randint(5, 300)


def lose_ledger(world: World, machine: Machine) -> None:
    """Somebody removes what a machine knows of versions, or restores a home without it."""
    machine.ledger.close()
    for each in (machine.home / "sync").iterdir():
        each.unlink()
    machine.ledger = Ledger(machine.home / "sync" / "ledger.db")


def sync_now(world: World, machine: Machine) -> None:
    if machine.offline:
        world.done["offline"] += 1
        return
    place = UnreliablePlace(world.place, world.lots, reliable=False)
    try:
        report = synchronise(machine.stores, machine.ledger, place)
    except PlaceDown:
        world.done["place away"] += 1
        return
    assert not report.refused, report.refused
    machine.reports.append(report)
    world.done["sync"] += 1


DEEDS: dict[Callable[[World, Machine], None], float] = {
    remember_something: 8,
    append_line: 12,
    insert_line: 6,
    replace_line: 12,
    change_title: 6,
    change_tags: 5,
    change_tier: 3,
    connect: 5,
    edit_by_hand: 8,
    rename_by_hand: 2,
    remove_by_hand: 1,
    forget_one: 4,
    restore_one: 3,
    purge_one: 1,
    take_back: 3,
    use_one: 6,
    answer_question: 4,
    jump_clock: 1,
    leave_network: 1.5,
    sync_now: 25,
}
