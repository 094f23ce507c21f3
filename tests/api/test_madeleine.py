"""The Python door gives the same answers through a daemon and in its own process."""

from __future__ import annotations

import inspect
import json
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from madeleine import Madeleine
from madeleine.api.contract import responses as told
from madeleine.api.contract.memories import CONTRACT, to_json
from madeleine.api.contract.shape import ShapeCodec, is_shape, shape_fields
from madeleine.api.madeleine import read_answer
from madeleine.api.operations import OPERATION_BY_NAME
from madeleine.api.remote import RemoteDoor, find_daemon
from madeleine.errors import Conflict, HomeBusy, Missing, Rejected
from madeleine.model.memory import Claim, Connection, Memory, Origin
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.write.proposals import propose
from tests.fakes import close, keep, make_stores
from tests.server.running import running

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)
    return tmp_path / "home"


@pytest.fixture(params=["in process", "daemon"])
def m(request: pytest.FixtureRequest, home: Path) -> Iterator[Madeleine]:
    """The same home both ways."""
    if request.param == "daemon":
        with running(home), Madeleine.open(home) as opened:
            assert isinstance(opened._door, RemoteDoor)
            yield opened
    else:
        with Madeleine.open(home, in_process=True) as opened:
            yield opened


def test_what_is_remembered_is_recalled_with_reasons(m: Madeleine) -> None:
    memory = m.remember(
        "Chose SQLite over Postgres for local-first", type="decision", space="atlas"
    )

    hits = m.recall("which database: sqlite or postgres?", limit=5)

    assert isinstance(memory, Memory)
    assert (memory.type, memory.tier, memory.space) == (
        MemoryType.DECISION,
        Tier.WORKING,
        "atlas",
    )
    assert memory.source == "python"
    assert hits[0].memory.id == memory.id
    assert 0 < hits[0].score <= 1
    assert hits[0].reasons
    assert hits.silence is None
    assert hits.notes == ()
    silent = m.recall("sqlite", spaces=["nowhere"])
    assert silent == []
    assert silent.silence == "no memory passes the filter"


def test_values_of_python_are_taken_as_they_are(m: Madeleine) -> None:
    target = m.remember("Pointed to")
    created = datetime(2026, 3, 1, 10, tzinfo=UTC)

    memory = m.remember(
        "Made of values",
        created=created,
        tags=("one", "two"),
        origin=Origin(session="s9", turn=4),
        claim=Claim("Ana", "home city", "Ghent"),
        connections=[Connection(target.id, Edge.SUPPORTS, 0.7)],
    )

    assert memory.created == created
    assert memory.tags == ("one", "two")
    assert memory.origin == Origin(session="s9", turn=4)
    assert memory.claim == Claim("Ana", "home city", "Ghent")
    (link,) = [each for each in memory.connections if each.edge is Edge.SUPPORTS]
    assert (link.target, link.weight) == (target.id, 0.7)
    assert [each.id for each in m.list(created_before=datetime(2026, 4, 1, tzinfo=UTC))] == [
        memory.id
    ]


def test_many_are_remembered_with_an_outcome_each(m: Madeleine) -> None:
    one, refused, again = m.remember_many(
        [{"content": "Of many"}, {"content": "x", "type": "rumour"}, {"content": "Of many"}]
    )

    assert (one.existing, one.error) == (False, None)
    assert isinstance(refused.error, Rejected)
    assert "rumour" in refused.error.message
    assert (refused.id, refused.existing) == (None, False)
    assert (again.id, again.existing) == (one.id, True)


def test_a_memory_is_shown_listed_and_has_a_history(m: Madeleine) -> None:
    memory = m.remember("To be looked at", tags=["seen"])
    other = m.remember("Different words, far away from it")
    m.link(other, memory, edge="part_of", weight=0.9, reason="belongs")

    shown = m.show(memory.short_id, session_id="s1")
    (link,) = [each for each in shown.connections if each.edge is Edge.PART_OF]
    page = m.list(tags=["seen"], limit=1)

    assert shown.memory.content == memory.content
    assert shown.path.endswith(f"{memory.short_id}.md")
    assert (link.direction, link.source, link.weight, link.reason) == (
        "in",
        other.id,
        0.9,
        "belongs",
    )
    assert other.id in [each.id for each in shown.neighbours]
    assert [each.id for each in page] == [memory.id]
    assert page.total == 1
    assert m.get(memory).access_count == 1
    assert "remembered" in [event.kind for event in m.history(memory)]


def test_every_change_can_be_made_and_undone(m: Madeleine) -> None:
    memory, other = m.remember("To be changed", title="Old"), m.remember("Second, unlike it")

    revised = m.revise(memory, title=None, tier="core")
    linked = m.link(memory, other, "supports")
    unlinked = m.unlink(memory, other, "supports")
    merged = m.merge(memory, other, content="Both in one")
    undone = m.undo(str(merged.change))
    retired = m.retire(memory, "no longer", superseded_by=other)
    forgotten = m.forget(other, reason="enough")
    restored = m.restore(other.short_id)

    assert (revised.memory.title, revised.memory.tier) == (None, Tier.CORE)
    assert Edge.SUPPORTS in [each.edge for each in linked.memory.connections]
    assert Edge.SUPPORTS not in [each.edge for each in unlinked.memory.connections]
    assert (merged.memory.content, merged.removed) == ("Both in one", other.id)
    assert undone.undone == (merged.change,)
    assert set(undone.memories) >= {memory.id, other.id}
    assert retired.memory.superseded_by == other.id
    assert str(forgotten.trash_path).startswith("trash/")
    assert restored.memory.id == other.id
    assert m.get(memory).content == "To be changed"


def test_every_change_has_notes_a_trash_path_and_what_was_removed(m: Madeleine) -> None:
    one, two = m.remember("To be changed"), m.remember("Second, unlike it")
    third = m.remember("A third thing")

    merged = m.merge(one, two)
    forgotten = m.forget(third)
    changed = [m.revise(one, title="New"), m.restore(third), m.link(one, third)]

    assert [(each.trash_path, each.removed) for each in changed] == [(None, None)] * 3
    assert (merged.removed, merged.trash_path) == (two.id, None)
    assert (forgotten.removed, forgotten.notes) == (None, ())
    assert merged.notes == ()
    assert all(isinstance(each.notes, tuple) for each in changed)
    assert "removed" not in to_json(forgotten)


def test_the_five_kinds_of_errors_come_through(m: Madeleine) -> None:
    with pytest.raises(Missing) as missing:
        m.show("ffffffff")
    with pytest.raises(Rejected, match="rumour"):
        m.remember("x", type="rumour")
    for digit in "12":
        m.remember(f"Twin {digit}", id=f"abcdabcd-000{digit}-4000-8000-000000000000")
    with pytest.raises(Conflict, match="fits 2 memories") as conflict:
        m.show("abcdabcd")

    assert missing.value.message == "no memory `ffffffff`"
    assert "madeleine list" in missing.value.hint
    assert missing.value.exit_code == 3
    assert (missing.value.kind, missing.value.parts["wanted"]) == ("no_such_memory", "ffffffff")
    assert "Twin 1" in conflict.value.hint


def test_the_house_reports_on_itself(m: Madeleine) -> None:
    m.remember("Counted")

    status: Any = m.status()
    reconciled = m.reconcile()
    rebuilt = m.rebuild()

    assert status["counts"]["memories"] == 1
    assert status["home"] == str(m.home)
    assert (status["daemon"] is None) is not isinstance(m._door, RemoteDoor)
    assert (reconciled.files, reconciled.unchanged, reconciled.seconds) == (1, 1, None)
    assert (rebuilt.files, rebuilt.written) == (1, 1)
    assert rebuilt.seconds is not None
    assert [hit.memory.content for hit in m.recall("counted")] == ["Counted"]


def test_a_proposal_is_decided(home: Path) -> None:
    stores = make_stores(home)
    memory = keep(stores, "Perhaps outdated")
    action = {"verb": "retire", "memory": memory.id}
    propose(stores, ProposalType.DECAY, (memory.id,), "retire it", action)
    close(stores)

    with Madeleine.open(home, in_process=True) as m:
        (proposal,) = m.proposals()
        decided = m.decide(proposal.id, "approved")

        assert decided.proposal.status is ProposalStatus.APPROVED
        assert decided.change
        assert m.proposals() == []
        assert [each.id for each in m.proposals("all")] == [proposal.id]
        assert m.get(memory.id).valid_until is not None


def test_answers_are_the_same_documents_both_ways(home: Path) -> None:
    """What is written in process reads the same through a daemon, field for field."""
    with Madeleine.open(home, in_process=True) as alone:
        memory = alone.remember("The same both ways", tags=["a"], space="atlas")
        beside = alone.remember("Unlike the first one")
        alone.link(beside, memory)
        for each in (memory, beside):  # opened once today: asking again changes no counter
            alone.show(each)
        before = both(alone, memory)
    with running(home), Madeleine.open(home) as through:
        assert both(through, memory) == before


def both(m: Madeleine, memory: Memory) -> list[object]:
    call = m._door.call
    events: Any = call("history", memory.id)
    return [
        call("show", memory.id),
        call("list", query={"spaces": ["atlas"], "outdated": True}),
        call("recall", body={"query": "same both ways"}),
        call("trash"),
        call("merges"),
        [each["id"] for each in events["events"]],
    ]


def test_in_process_never_talks_to_a_daemon(home: Path) -> None:
    with running(home) as daemon, pytest.raises(HomeBusy) as busy:
        Madeleine.open(home, in_process=True, wait_seconds=0.1)

    assert f"process {daemon.launched.pid}" in busy.value.message


def test_an_open_home_keeps_others_out_until_it_is_closed(home: Path) -> None:
    with Madeleine.open(home), pytest.raises(HomeBusy):
        Madeleine.open(home, wait_seconds=0.1)

    Madeleine.open(home, wait_seconds=0.1).close()


def test_the_home_comes_from_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_HOME", str(home))

    with Madeleine.open() as m:
        assert m.home == home
    assert find_daemon(home) is None


def test_several_threads_may_share_one(m: Madeleine) -> None:
    texts = [f"From thread {who}" for who in range(8)]
    threads = [threading.Thread(target=m.remember, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert m.list().total == 8


def test_the_examples_in_the_reference_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"```python\n(.*?)```", REFERENCE.read_text(encoding="utf-8"), re.S)
    assert len(examples) == 2

    for example in examples:
        exec(example.replace("~/.madeleine", str(home)), {})

    assert "no memory `ffffffff`" in capsys.readouterr().out
    with Madeleine.open(home) as m:
        assert "Chose SQLite over Postgres for local-first" in [each.content for each in m.list()]


def test_the_reference_names_every_method() -> None:
    page = REFERENCE.read_text(encoding="utf-8")

    for name in vars(Madeleine):
        if not name.startswith("_"):
            assert f"`{name}(" in page or f"Madeleine.{name}(" in page, name


def test_the_reference_names_every_parameter_of_a_method() -> None:
    page = REFERENCE.read_text(encoding="utf-8")

    for name, method in vars(Madeleine).items():
        if name.startswith("_"):
            continue
        function = method.__func__ if isinstance(method, classmethod) else method
        _, *wanted = inspect.signature(function).parameters
        (given,) = re.findall(rf"`(?:Madeleine\.)?{name}\(([^`]*)\)`", page)
        said = [each.split("=")[0].strip("* ") for each in given.split(",")]
        assert [each for each in said if each] == wanted, name


def test_a_proposal_is_decided_by_the_words_that_the_reference_names(m: Madeleine) -> None:
    row = next(line for line in REFERENCE.read_text("utf-8").splitlines() if "`decide(" in line)
    words = re.findall(r'`"(\w+)"`', row)

    with pytest.raises(Rejected) as refused:
        m.decide("ffffffff", "approve")

    assert words == ["approved", "rejected", "pending"]
    assert all(word in f"{refused.value.message} {refused.value.hint}" for word in words)


def test_what_is_remembered_says_which_change_takes_it_back(m: Madeleine) -> None:
    memory = m.remember("Only for a moment")
    again = m.remember("Only for a moment")

    assert (again.id, again.existing, again.change) == (memory.id, True, None)
    assert memory.change
    assert m.undo(memory.change).memories == (memory.id,)
    with pytest.raises(Missing):
        m.show(memory)


def test_a_field_that_is_not_named_stays_and_none_clears_one(m: Madeleine) -> None:
    memory = m.remember("Titled and tagged", title="Title", tags=["one"], space="atlas")

    revised = m.revise(memory, title=None).memory

    assert (revised.title, revised.tags, revised.space) == (None, ("one",), "atlas")


def test_answers_that_were_tables_can_still_be_read_as_such(m: Madeleine) -> None:
    m.remember("Counted")
    status: Any = m.status()

    assert status["counts"]["memories"] == status.counts.memories == 1
    with pytest.raises(KeyError):
        status["nothing"]


def test_what_is_below_the_floor_is_counted_and_shown_on_demand(m: Madeleine) -> None:
    said = ("Did you see the lighthouse?", "Yes, on Friday")
    for turn, text in enumerate(said):
        m.remember(text, origin={"session": "s1", "turn": turn, "speaker": f"P{turn}"})
    m.remember("The kettle is red")

    some, every = m.recall("lighthouse kettle Friday"), m.recall("lighthouse kettle", all=True)

    assert some.folded + len(some) <= 10
    assert every.folded == 0
    assert {hit.memory.content for hit in every} >= {said[0], "The kettle is red"}
    (asked,) = [hit for hit in every if hit.memory.content == said[0]]
    assert [(each.turn, each.speaker, each.text) for each in asked.around] == [(1, "P1", said[1])]


def test_answers_that_were_dicts_go_on_working_like_dicts(m: Madeleine) -> None:
    m.remember("The kettle is red")
    status: Any = m.status()
    gone: Any = m.purge(m.forget(m.remember("To be gone")).memory)
    done: Any = m.consolidate(task="decay", dry_run=True)
    (found,) = m.ingest("# Notes\n\nAna keeps bees.", dry_run=True).memories
    (hit,) = m.recall("kettle", explain=True)
    explained: Any = hit.explained
    told: Any = found

    assert {"version", "counts", "sleep"} <= set(status) == set(dict(status))
    assert {**gone["removed"]}.keys() == gone.get("removed").keys()
    assert done.get("mode") == "decay"
    assert "steps" in done
    assert dict(explained.items())["features"] == explained["features"] == explained.features
    assert "node_id" not in told
    assert told.get("node_id", "none yet") == "none yet"


def test_an_answer_is_written_as_json_as_the_reference_says(m: Madeleine) -> None:
    m.remember("The kettle is red")

    status = json.loads(json.dumps(m.status(), default=dict))

    assert status["counts"]["memories"] == 1
    assert to_json(m.show(m.list()[0]))["memory"]["content"] == "The kettle is red"


def sequences(value: object, name: str = "") -> Iterator[tuple[str, type]]:
    """Yield the name and the type of everything in an answer that holds several values."""
    if isinstance(value, list | tuple):
        yield name, type(value)
        for each in value:
            yield from sequences(each, f"{name}[]")
    elif is_shape(type(value)):
        kind: Any = type(value)
        for field in shape_fields(kind):
            yield from sequences(getattr(value, field.name), f"{name}.{field.name}")


def reports_of(m: Madeleine, folder: Path) -> dict[str, type]:
    """Return the types of all lists and tuples in what the jobs, the house and intake report."""
    m.remember("The ledger uses SQLite")
    m.remember("The ledger uses SQLite, with write-ahead logging")
    note = folder / "notes.md"
    note.write_text("# Kettle\n\nThe kettle is red.\n\n# Bees\n\nAna keeps bees.", encoding="utf-8")
    taken = m.ingest(note)
    note.write_text("# Kettle\n\nThe kettle is blue.", encoding="utf-8")
    (m.home / "vault" / "unreadable.md").write_text("---\nid: [\n---\n", encoding="utf-8")
    answers = {
        "ingest": taken,
        "ingest again": m.ingest(note),
        "sleep": m.sleep(),
        "consolidate": m.consolidate(dry_run=True),
        "reconcile": m.reconcile(),
        "rebuild": m.rebuild(),
        "purge": m.purge(m.forget(m.remember("Gone")).memory),
        "status": replace(m.status(), daemon=None),
    }
    return {name: kind for each, found in answers.items() for name, kind in sequences(found, each)}


def test_lists_and_tuples_are_the_same_both_ways(home: Path, tmp_path: Path) -> None:
    with Madeleine.open(tmp_path / "alone", in_process=True) as alone:
        here = reports_of(alone, tmp_path)
    with running(home), Madeleine.open(home) as asking:
        there = reports_of(asking, tmp_path)

    assert here == there
    tuples = {
        *("reconcile.unreadable", "reconcile.notes", "rebuild.unreadable", "rebuild.notes"),
        *("ingest.memories", "ingest.revised", "ingest.retired", "ingest.notes"),
        "sleep[].patches",
    }
    assert tuples <= {name for name, kind in here.items() if kind is tuple}


def test_no_memory_is_taken_to_json_and_back_in_one_process(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> object:
        raise AssertionError("a memory was taken to JSON")

    with Madeleine.open(home, in_process=True) as m:
        for codec in (CONTRACT.codecs[Memory], CONTRACT.codecs[Proposal]):
            refusing = codec._replace(to_json=refuse, from_json=refuse)
            monkeypatch.setitem(CONTRACT.codecs, refusing_for(codec), refusing)
        memory, other = m.remember("Stays what it is"), m.remember("Another thing, far from it")
        shown = m.show(memory)
        changed = m.revise(memory, title="Titled")
        hits = m.recall("what stays what it is")
        listed = m.list()
        merged = m.merge(memory, other)
        m.undo(str(merged.change))
        whispered = m.whisper("what stays what it is?")

    assert shown.memory.content == changed.memory.content == "Stays what it is"
    assert hits[0].memory.id == memory.id
    assert {each.id for each in listed} == {memory.id, other.id}
    assert all(each.memory.id for each in whispered.injected)


def refusing_for(codec: ShapeCodec) -> type[Any]:
    return next(kind for kind, each in CONTRACT.codecs.items() if each is codec)


def test_a_home_is_opened_by_its_name_alone(home: Path) -> None:
    with Madeleine(str(home)) as m:
        assert m.home == home
        m.remember("Through the short way")
    with Madeleine(home) as again:
        assert again.list().total == 1


class Asked(NamedTuple):
    """What a method asks its operation for."""

    operation: str
    answer: type[Any]
    id: str
    query: Mapping[str, object]
    body: Mapping[str, object]


class AskedOnly(Exception):
    """Ends a method at the moment when it asks."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked.operation)
        self.asked = asked


class AskingMadeleine(Madeleine):
    """A face with no home behind it: whatever is asked for is raised."""

    def __init__(self) -> None:
        """Open nothing."""

    def _get(self, name: str, kind: Any, query: Any = None, memory: Any = "") -> Any:
        raise AskedOnly(Asked(name, kind, memory, query or {}, {}))

    def _post(self, name: str, kind: Any, body: Any, memory: Any = "", query: Any = None) -> Any:
        raise AskedOnly(Asked(name, kind, memory, query or {}, body))


WITHOUT_A_SHAPE = {"open", "close", "get", "import_from", "export"}
"""Methods that ask nothing themselves, or for JSON, page by page."""
LEFT_TO_OTHER_DOORS: Mapping[str, set[str]] = {
    "remember": {"default_space"},  # `space` says it
    "remember_many": {"default_space"},
    "whisper": {"default_space"},
    "ingest": {"messages", "uri"},  # a conversation takes the place of the text
    "merge": {"if_keep_version", "if_drop_version"},  # the page shows both while somebody decides
    "consolidate": {"mode", "wait"},  # another word for `task`; Python always waits
}


def methods() -> list[str]:
    found = [name for name, _ in inspect.getmembers(Madeleine, inspect.isfunction)]
    return sorted(name for name in found if name[0] != "_" and name not in WITHOUT_A_SHAPE)


def asked_by(method: str, whole: bool) -> Asked:
    """Call a method with all that it takes, or with what it needs, and return what it asks."""
    face = AskingMadeleine()
    taken = inspect.signature(getattr(face, method)).parameters.values()
    rest = [each.name for each in taken if each.kind is each.VAR_POSITIONAL]
    named = {
        each.name: f"a {each.name}"
        for each in taken
        if each.name not in rest and (whole or each.default is each.empty)
    }
    with pytest.raises(AskedOnly) as raised:
        getattr(face, method)(*rest, **({} if rest else named))
    return raised.value.asked


@pytest.mark.parametrize("method", methods())
def test_a_method_takes_and_answers_what_its_operation_declares(method: str) -> None:
    """A field that a route has, the face has too, but for what only other doors need."""
    asked, least = asked_by(method, whole=True), asked_by(method, whole=False)
    declared = OPERATION_BY_NAME[asked.operation]
    query, body = (
        {each.wire for each in some} for some in (declared.query_fields, declared.body_fields)
    )

    assert asked.query.keys() <= query
    assert asked.body.keys() <= body
    assert query | body == {*asked.query, *asked.body} | LEFT_TO_OTHER_DOORS.get(method, set())
    assert bool(asked.id) == ("{id}" in declared.path)
    assert asked.answer is declared.answer
    least_declared = OPERATION_BY_NAME[least.operation]
    assert {each.wire for each in least_declared.fields if each.is_required} <= {
        *least.query,
        *least.body,
    }


EARLIER = Path(__file__).with_name("answers_of_earlier_release.json")
"""Answers of a release without kinds and parts, by operation; more words tell several apart."""


def without_what_was_added(read: Any, written: Any) -> Any:
    """Return an answer without the fields that an earlier one does not have."""
    if isinstance(read, dict):
        kept = {name: each for name, each in read.items() if name in written}
        return {name: without_what_was_added(each, written[name]) for name, each in kept.items()}
    if isinstance(read, list):
        return [without_what_was_added(*pair) for pair in zip(read, written, strict=True)]
    return read


@pytest.mark.parametrize("name", json.loads(EARLIER.read_text(encoding="utf-8")))
def test_an_answer_of_an_earlier_release_is_read(name: str) -> None:
    kind = OPERATION_BY_NAME[name.split()[0]].answer
    written = json.loads(EARLIER.read_text(encoding="utf-8"))[name]

    read = to_json(read_answer(kind, written))

    assert without_what_was_added(read, written) == written


def test_what_an_earlier_release_did_not_say_is_nothing() -> None:
    earlier = json.loads(EARLIER.read_text(encoding="utf-8"))

    again = read_answer(told.RememberedMemory, earlier["remember again"])
    found = read_answer(told.RecallAnswer, earlier["recall"])
    silent = read_answer(told.WhisperAnswer, earlier["whisper nothing"])

    assert again.notes
    assert again.notes_parts == ()
    assert found.results[0].reasons
    assert found.results[0].reasons_parts == found.notes_parts == ()
    assert silent.silence
    assert silent.silence_parts is None
