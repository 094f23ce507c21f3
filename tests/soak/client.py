"""One client: random operations on memories of its own, over the daemon's socket.

It knows what each of its files must look like. Before an operation it notes what must become
of the files it touches (`Pending`); when the daemon says that it is done, it looks at the
files at once; when the daemon is killed meanwhile, `settle` decides after the restart.
"""

from __future__ import annotations

import random
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from madeleine.api.remote import RemoteDoor
from madeleine.errors import Conflict, DaemonDown, MadeleineError, Missing, Unavailable
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import Edge, MemoryType
from madeleine.vault.markdown import render_memory
from tests.soak.model import After, Kept, Link, Pending, Says, Vaulted, Wrong
from tests.soak.texts import TAGS, Texts

LIVE_AT_MOST = 150  # memories of one client: enough for company, few enough to look at often
CORE_AT_MOST = 6  # of one client: all of them stay under the cap, which would demote others'
SEEN_SECONDS = 15.0  # a hand edit is visible within a second; the machine may be busy
WORD_EDGES = ("supports", "part_of", "depends_on", "contradicts", "related_to")


class Gone(Exception):
    """The daemon does not answer any more."""


@dataclass(frozen=True)
class Done:
    """A change that can be undone: the files before and after it."""

    change: str
    before: dict[str, Kept | None]
    after: dict[str, Kept]


@dataclass
class Client:
    """A client and all it knows."""

    name: str
    vault: Path
    shared: tuple[str, ...]
    contended: str
    dice: random.Random
    kept: dict[str, Kept] = field(default_factory=dict)
    pending: Pending | None = None
    attempts: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    door: RemoteDoor | None = None
    texts: Texts = field(init=False)
    _done: list[Done] = field(default_factory=list)
    _touched: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.texts = Texts(self.name, self.dice)

    # -- one step --------------------------------------------------------------------------

    def step(self) -> None:
        """Do one random operation."""
        operations = self._operations()
        chosen = self.dice.choices(list(operations), list(operations.values()))[0]
        chosen()

    def _operations(self) -> dict[Callable[[], None], float]:
        if len(self._live()) < 4:
            return {self.remember: 3, self.remember_many: 1}
        crowded = len(self._live()) > LIVE_AT_MOST
        return {
            self.remember: 2 if crowded else 14,
            self.remember_many: 0 if crowded else 2,
            self.remember_again: 3,
            self.revise: 14,
            self.retire: 5,
            self.forget: 14 if crowded else 6,
            self.restore: 2 if crowded else 5,
            self.link: 8,
            self.unlink: 5,
            self.merge: 14 if crowded else 7,
            self.undo: 8,
            self.undo_too_late: 1,
            self.contend: 3,
            self.recall: 6,
            self.show: 8,
            self.hand_edit: 4,
            self.hand_add: 1.5,
            self.hand_remove: 1.5,
            self.hand_rename: 1,
        }

    # -- verbs -----------------------------------------------------------------------------

    def remember(self) -> None:
        says, body = self._draft()
        own_id = str(uuid.UUID(int=self.dice.getrandbits(128), version=4))
        wanted = After(live=True, says=says, suggested=True)
        if self.dice.random() < 0.3:
            body["id"] = own_id
        if self.dice.random() < 0.3:
            body["idempotency_key"] = f"{self.name}-{own_id[:8]}"
        answer = self._ask(Pending("remember", new=(wanted,)), "remember", body=body)
        if answer["existing"]:
            raise Wrong(f"a new text was taken for a known one: {says.content!r}")
        self._note_new(answer["node_id"], wanted, answer["change"])

    def remember_many(self) -> None:
        drafts = [self._draft() for _ in range(self.dice.randint(2, 6))]
        wanted = tuple(After(live=True, says=says, suggested=True) for says, _ in drafts)
        body = {"items": [body for _, body in drafts]}
        answer = self._ask(Pending("remember_many", new=wanted), "remember_many", body=body)
        for each, result in zip(wanted, answer["results"], strict=True):
            if "error" in result:
                raise Wrong(f"refused in a batch: {result}")
            self._note_new(result["node_id"], each, None)

    def remember_again(self) -> None:
        known = self._some(lambda k: not (k.says.ends or k.says.superseded_by), settled=True)
        if known is None:
            return
        body = {"content": known.says.content, "space": self.name}
        answer = self._ask(Pending("remember", {known.id: known}), "remember", body=body)
        if (answer["node_id"], answer["existing"]) != (known.id, True):
            raise Wrong(f"{known.id} was remembered twice: {answer}")

    def revise(self) -> None:
        known = self._some()
        if known is None:
            return
        says, body = self._revision(known.says)
        self._change("revise", {known.id: says}, id=known.id, body=body)

    def retire(self) -> None:
        known, successor = self._some(), self._some()
        if known is None or successor is None:
            return
        wanted = {known.id: replace(known.says, ends=True)}
        body: dict[str, object] = {"reason": "it changed"}
        if successor.id != known.id and self.dice.random() < 0.6:
            body["superseded_by"] = successor.id
            wanted[known.id] = replace(wanted[known.id], superseded_by=successor.id)
            links = _linked(successor.says.links, (known.id, "evolved_from", 0.9))
            wanted[successor.id] = replace(successor.says, links=links)
        self._change("retire", wanted, id=known.id, body=body)

    def forget(self) -> None:
        if known := self._some():
            self._move("forget", known, live=False)

    def restore(self) -> None:
        trashed = [each for each in self.kept.values() if not each.live]
        if trashed:
            self._move("restore", self.dice.choice(trashed), live=True)

    def link(self) -> None:
        source, target = self._some(), self._target()
        if source is None or target is None or source.id == target:
            return
        link: Link = (target, self.dice.choice(WORD_EDGES), round(self.dice.random(), 2))
        body = {"source_id": source.id, "target_id": target, "edge": link[1], "weight": link[2]}
        says = replace(source.says, links=_linked(source.says.links, link))
        self._change("link", {source.id: says}, body=body)

    def unlink(self) -> None:
        source = self._some(lambda kept: bool(kept.says.links), settled=True)
        if source is None:
            return
        target, edge, _ = self.dice.choice(sorted(source.says.links))
        body = {"source_id": source.id, "target_id": target}
        if self.dice.random() < 0.5:
            body["edge"] = edge
        kept = frozenset(
            each
            for each in source.says.links
            if each[0] != target or ("edge" in body and each[1] != edge)
        )
        self._change("unlink", {source.id: replace(source.says, links=kept)}, body=body)

    def merge(self) -> None:
        keep, drop = self._some(), self._some()
        if keep is None or drop is None or keep.id == drop.id:
            return
        body = {"keep": keep.id, "drop": drop.id}
        says = _merged(keep, drop)
        if self.dice.random() < 0.5:
            body["content"] = self.texts.new()
            says = replace(says, content=body["content"])
        wanted = {keep.id: After(live=True, says=says)}
        for each in self._live():
            moved = _redirected(each.says, drop.id, keep.id)
            if each.id not in (keep.id, drop.id) and moved != each.says:
                wanted[each.id] = After(live=True, says=moved)
        wanted[drop.id] = After(live=False, data=drop.data)
        self._commit("merge", wanted, body=body)

    def undo(self) -> None:
        for place in reversed(range(len(self._done))):
            done = self._done[place]
            if all(self.kept.get(each) == kept for each, kept in done.after.items()):
                if not self._settled(done.after):
                    return
                del self._done[place]
                self._commit("undo", _taken_back(done), id=done.change)
                self._check_paths(done)
                return
            if self.dice.random() < 0.3:
                return

    def undo_too_late(self) -> None:
        """What was changed since is never overwritten."""
        for done in self._done[:-20]:
            # A file that the change left as it was is no part of it: whoever edits it later
            # keeps nobody from undoing.
            written = {i: kept for i, kept in done.after.items() if done.before.get(i) != kept}
            changed = [i for i, kept in written.items() if self.kept.get(i) != kept]
            if changed and None not in done.before.values() and self._settled(done.after):
                self._refused(Conflict, "undo", id=done.change)
                self._done.remove(done)
                return

    def contend(self) -> None:
        """Everybody revises one memory at once: each is written whole, or told of the other."""
        content = self.texts.new()
        self.attempts.add(content)
        try:
            self._ask(Pending("contend"), "revise", id=self.contended, body={"content": content})
        except Conflict:
            self.counts["contend refused"] += 1

    # -- reading ---------------------------------------------------------------------------

    def recall(self) -> None:
        known = self._some(lambda k: not (k.says.ends or k.says.superseded_by), settled=True)
        if known is None:
            return
        body = {"query": known.says.content[:200], "spaces": [self.name], "limit": 50}
        found = self._ask(Pending("recall"), "recall", body=body)["results"]
        if known.id not in [each["memory"]["id"] for each in found]:
            raise Wrong(f"recall does not find {known.id} by its own words: {found}")

    def show(self) -> None:
        if known := self._some(settled=True):
            answer = self._ask(Pending("show"), "show", id=known.id)
            _compare_answer(known, answer["memory"])

    # -- by hand ---------------------------------------------------------------------------

    def hand_edit(self) -> None:
        known = self._some()
        if known is None:
            return
        path = self.vault / known.path
        # The file ends with the text, so this makes it longer and nothing else.
        data = known.data.rstrip(b"\n") + f"\nby hand: {self.texts.word()}\n".encode()
        if self.dice.random() < 0.5:
            path.write_bytes(data)
        else:
            _replace(path, data)
        self._by_hand("hand edit", Kept(known.id, known.path, data))

    def hand_add(self) -> None:
        now = datetime.now(UTC).replace(microsecond=0)
        linked = self._target()
        memory = Memory(
            id=str(uuid.UUID(int=self.dice.getrandbits(128), version=4)),
            content=self.texts.new(),
            created=now,
            updated=now,
            type=self.dice.choice(list(MemoryType)),
            space=self.name,
            connections=(Connection(linked, Edge.SUPPORTS, 0.5),) if linked else (),
        )
        folder = self.dice.choice(["", "by hand/", f"{self.name}/{self.texts.word()}/"])
        kept = Kept(memory.id, f"{folder}{memory.id}.md", render_memory(memory))
        path = self.vault / kept.path
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, kept.data)
        self._by_hand("hand add", kept, wait=True)

    def hand_remove(self) -> None:
        known = self._some()
        if known is None:
            return
        (self.vault / known.path).unlink()
        del self.kept[known.id]
        self.counts["hand remove"] += 1
        self._until(lambda: not self._answers(known.id), f"{known.path} is gone by hand")

    def hand_rename(self) -> None:
        known = self._some()
        if known is None:
            return
        folder = known.path.rpartition("/")[0]
        path = f"{folder}/{uuid.uuid4()}.md" if folder else f"{self.texts.word()} {known.id}.md"
        (self.vault / known.path).rename(self.vault / path)
        self._by_hand("hand rename", Kept(known.id, path, known.data))

    def _by_hand(self, what: str, kept: Kept, wait: bool = False) -> None:
        self.kept[kept.id] = kept
        self._touched[kept.id] = time.monotonic()
        self.counts[what] += 1
        if wait or self.dice.random() < 0.3:
            self._until(lambda: self._shows(kept), f"{what} of {kept.path}")
            del self._touched[kept.id]

    def _until(self, true: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + SEEN_SECONDS
        while not true():
            if time.monotonic() > deadline:
                raise Wrong(f"not noticed within {SEEN_SECONDS:g} s: {what}")
            time.sleep(0.05)

    def _shows(self, kept: Kept) -> bool:
        try:
            answer = self._ask(Pending("show"), "show", id=kept.id)
        except Missing:
            return False
        same: bool = answer["memory"]["content"] == kept.says.content
        return same and answer["path"] == kept.path

    def _answers(self, memory_id: str) -> bool:
        try:
            self._ask(Pending("show"), "show", id=memory_id)
        except Missing:
            return False
        return True

    # -- what to work on -------------------------------------------------------------------

    def _live(self) -> list[Kept]:
        return [each for each in self.kept.values() if each.live]

    def _some(
        self, fits: Callable[[Kept], bool] = lambda kept: True, settled: bool = False
    ) -> Kept | None:
        live = self._live()
        for each in self.dice.sample(live, min(8, len(live))):
            if fits(each) and not (settled and not self._settled([each.id])):
                return each
        return None

    def _settled(self, ids: object) -> bool:
        """Whether no hand was at these so recently that the index may be behind."""
        now = time.monotonic()
        assert isinstance(ids, dict | list)
        return all(now - self._touched.get(each, 0.0) > SEEN_SECONDS for each in ids)

    def _target(self) -> str | None:
        if self.dice.random() < 0.3:
            return self.dice.choice(self.shared)
        some = self._some(settled=True)
        return some.id if some else None

    def _draft(self) -> tuple[Says, dict[str, Any]]:
        near = self._some() if self.dice.random() < 0.3 else None
        content = self.texts.near(near.says.content) if near else self.texts.new()
        target = self._target() if self.dice.random() < 0.3 else None
        tier = self._tier()
        says = Says(
            content=content,
            title=self.texts.title() if self.dice.random() < 0.4 else None,
            type=self.dice.choice(list(MemoryType)).value,
            tier=tier,
            space=self.name,
            tags=tuple(self.dice.sample(TAGS, self.dice.randint(0, 3))),
            confidence=round(self.dice.random(), 2),
            links=frozenset([(target, "supports", 0.7)] if target else []),
        )
        body: dict[str, Any] = {
            "content": says.content,
            "title": says.title,
            "type": says.type,
            "tier": says.tier,
            "space": says.space,
            "tags": list(says.tags),
            "confidence": says.confidence,
            "connections": [{"target": t, "edge": e, "weight": w} for t, e, w in says.links],
        }
        if self.dice.random() < 0.05:
            body["about_self"] = True
            says = replace(says, tags=("about_self", *says.tags))
        return says, body

    def _tier(self) -> str:
        tier = self.dice.choice(["working", "working", "archival", "core"])
        core = sum(each.says.tier == "core" for each in self.kept.values())
        return "working" if tier == "core" and core >= CORE_AT_MOST else tier

    def _revision(self, says: Says) -> tuple[Says, dict[str, Any]]:
        body: dict[str, Any] = {}
        for name in self.dice.sample(["content", "title", "tags", "tier", "ends", "link"], 2):
            match name:
                case "content":
                    body["content"] = self.texts.new()
                case "title":
                    body["title"] = self.dice.choice([None, self.texts.title()])
                case "tags":
                    body["tags"] = self.dice.sample(TAGS, self.dice.randint(0, 3))
                case "tier":
                    body["tier"] = self._tier()
                case "ends":
                    later = datetime.now(UTC) + timedelta(days=30)
                    body["valid_until"] = None if says.ends else later.isoformat()
                case _:
                    link = {"target": self.dice.choice(self.shared), "edge": "part_of"}
                    body["add_connections"] = [{**link, "weight": 0.3}]
        return _revised(says, body), body

    # -- asking ----------------------------------------------------------------------------

    def _change(self, name: str, wanted: dict[str, Says], **call: Any) -> None:
        after = {each: After(live=True, says=says) for each, says in wanted.items()}
        self._commit(name, after, **call)

    def _move(self, name: str, known: Kept, live: bool) -> None:
        self._commit(name, {known.id: After(live=live, data=known.data)}, id=known.id)

    def _commit(self, name: str, after: dict[str, After], **call: Any) -> None:
        """Ask for a change and look at once whether its files are as it must leave them."""
        before = {each: self.kept[each] for each in after}
        answer = self._ask(Pending(name, dict(before), after), name, **call)
        found = {each: self._found(self.kept[each]) for each in after}
        _compare(name, after, found, before)
        whole = {each: kept for each, kept in found.items() if kept is not None}
        self.kept.update(whole)
        if "memory" in answer and name != "forget":
            _compare_answer(whole[answer["node_id"]], answer["memory"])
        if answer["change"] is not None:
            self._done.append(Done(answer["change"], dict(before), whole))

    def _refused(self, error: type[MadeleineError], name: str, **call: Any) -> None:
        try:
            answer = self._ask(Pending(name), name, **call)
        except error:
            self.counts[f"{name} refused"] += 1
        else:
            raise Wrong(f"{name} should have been refused: {call}: {answer}")

    def _ask(self, pending: Pending, name: str, **call: Any) -> dict[str, Any]:
        assert self.door is not None
        self.pending = pending
        self.counts[pending.verb] += 1
        try:
            answer: dict[str, Any] = self.door.call(name, by=f"agent:{self.name}", **call)
        except DaemonDown as down:
            self.pending = None  # nobody took the request
            raise Gone from down
        except Unavailable as gone:
            if gone.__cause__ is not None:
                raise Gone from gone
            raise Wrong(f"{name} {call}: {gone}") from gone
        except (Conflict, Missing):
            self.pending = None
            raise
        except MadeleineError as error:
            raise Wrong(f"{name} {call}: {error.code}: {error.message}") from error
        self.pending = None
        return answer

    def _note_new(self, memory_id: str, wanted: After, change: str | None) -> None:
        names = list(self.vault.glob(f"*_{memory_id[:8]}*.md"))
        found = [Kept(memory_id, each.name, each.read_bytes()) for each in names]
        kept = next((each for each in found if each.memory.id == memory_id), None)
        _compare("remember", {memory_id: wanted}, {memory_id: kept}, {})
        assert kept is not None
        self.kept[memory_id] = kept
        if change:
            self._done.append(Done(change, {memory_id: None}, {memory_id: kept}))

    def _found(self, known: Kept) -> Kept | None:
        """Look for a memory's file where it was, in the trash, and back from there."""
        for path in (known.path, f"trash/{known.path}", known.path.removeprefix("trash/")):
            try:
                return Kept(known.id, path, (self.vault / path).read_bytes())
            except FileNotFoundError:
                continue
        return None

    def _check_paths(self, done: Done) -> None:
        for memory_id, kept in done.before.items():
            if kept is not None and self.kept[memory_id] != kept:
                raise Wrong(f"undo put {kept.path} back as {self.kept[memory_id].path}")

    # -- after a kill ----------------------------------------------------------------------

    def settle(self, vaulted: Vaulted) -> None:
        """Find out what became of the operation that was under way, and check all the rest."""
        pending, self.pending = self.pending, None
        self._touched.clear()
        if pending is not None:
            self._settle_new(pending, vaulted)
            self._settle_change(pending, vaulted)
        for memory_id, kept in self.kept.items():
            found = vaulted.files.get(memory_id)
            if found != kept:
                raise Wrong(f"{self.name}: acknowledged and not kept: {kept}, found {found}")

    def _settle_new(self, pending: Pending, vaulted: Vaulted) -> None:
        for wanted in pending.new:
            assert wanted.says is not None
            memory_id = vaulted.by_content.get(wanted.says.content)
            self.counts["killed: there" if memory_id else "killed: absent"] += 1
            if memory_id:
                found = vaulted.files[memory_id]
                _compare(pending.verb, {memory_id: wanted}, {memory_id: found}, {})
                self.kept[memory_id] = found

    def _settle_change(self, pending: Pending, vaulted: Vaulted) -> None:
        found = {each: vaulted.files.get(each) for each in pending.after}
        if not pending.after:
            return
        if all(found[each] == pending.before[each] for each in pending.after):
            self.counts["killed: absent"] += 1
            return
        _compare(f"{pending.verb}, killed", pending.after, found, pending.before)
        self.counts["killed: there"] += 1
        self.kept.update({each: kept for each, kept in found.items() if kept is not None})


def _compare(
    verb: str,
    after: dict[str, After],
    found: dict[str, Kept | None],
    before: dict[str, Kept],
) -> None:
    problems = [
        f"{each} {problem}"
        for each, wanted in after.items()
        if (problem := wanted.problem(found[each]))
    ]
    if problems:
        paths = [(kept.path, kept.says) for kept in before.values()]
        raise Wrong(f"{verb} is not whole: {problems}; before: {paths}")


def _compare_answer(known: Kept, answer: dict[str, Any]) -> None:
    says = known.says
    pairs = {
        "content": says.content,
        "title": says.title,
        "type": says.type,
        "tier": says.tier,
        "space": says.space,
        "tags": list(says.tags),
        "superseded_by": says.superseded_by,
    }
    links = {(c["target"], c["edge"], c["weight"]) for c in answer["connections"]}
    wrong = {name: answer[name] for name, value in pairs.items() if answer[name] != value}
    if wrong or links != says.links or (answer["valid_until"] is not None) != says.ends:
        raise Wrong(f"the answer differs from {known.path}: {wrong or answer}; file: {says}")


def _taken_back(done: Done) -> dict[str, After]:
    """How undoing a change leaves its files: a new memory goes to the trash."""
    after = {}
    for memory_id, kept in done.after.items():
        before = done.before[memory_id]
        after[memory_id] = (
            After(live=before.live, data=before.data)
            if before is not None
            else After(live=False, data=kept.data)
        )
    return after


def _linked(links: frozenset[Link], link: Link) -> frozenset[Link]:
    return frozenset(each for each in links if each[:2] != link[:2]) | {link}


def _revised(says: Says, body: dict[str, Any]) -> Says:
    for link in body.get("add_connections", []):
        added = (link["target"], link["edge"], link["weight"])
        says = replace(says, links=_linked(says.links, added))
    return replace(
        says,
        content=body.get("content", says.content),
        title=body.get("title", says.title),
        tags=tuple(body.get("tags", says.tags)),
        tier=body.get("tier", says.tier),
        ends=body["valid_until"] is not None if "valid_until" in body else says.ends,
    )


def _merged(keep: Kept, drop: Kept) -> Says:
    says, other = keep.says, drop.says
    links: dict[tuple[str, str], Link] = {}
    for each in (*keep.memory.connections, *drop.memory.connections):
        if each.target not in (keep.id, drop.id):
            link = (each.target, each.edge.value, each.weight)
            links.setdefault(link[:2], link)
    return replace(
        says,
        tags=tuple(dict.fromkeys((*says.tags, *other.tags))),
        links=frozenset(links.values()),
        superseded_by=None if says.superseded_by == drop.id else says.superseded_by,
    )


def _redirected(says: Says, old: str, new: str) -> Says:
    links: dict[tuple[str, str], Link] = {}
    for target, edge, weight in says.links:
        link = (new if target == old else target, edge, weight)
        if link[:2] not in links or links[link[:2]][2] < weight:
            links[link[:2]] = link
    superseded_by = new if says.superseded_by == old else says.superseded_by
    return replace(says, links=frozenset(links.values()), superseded_by=superseded_by)


def _replace(path: Path, data: bytes) -> None:
    """Save as careful editors do: under another name first."""
    unfinished = path.with_suffix(".saving")
    unfinished.write_bytes(data)
    unfinished.replace(path)
