"""Shapes to JSON and back, and the schemas that are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator

from madeleine.api.contract.memories import CONTRACT, TimeText, UnitNumber, from_json, to_json
from madeleine.api.contract.responses import (
    ChangedMemory,
    JournalChange,
    JournalEvent,
    MemoryHistory,
    RememberedMany,
    WriteOutcome,
)
from madeleine.api.contract.schema import SchemaBuilder
from madeleine.api.contract.shape import field, shape, shape_fields
from madeleine.errors import Rejected
from madeleine.model.event import EventKind
from madeleine.model.memory import Claim, Connection, Memory, Origin, Usage
from madeleine.model.proposal import Proposal, ProposalType
from madeleine.model.words import Edge, Tier

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
MEMORY = Memory(
    "97acbe8e-0000-4000-8000-000000000000",
    "Lives in Dublin",
    created=NOON,
    updated=NOON,
    tags=("home",),
    origin=Origin(session="s", turn=2),
    claim=Claim("Ana", "home", "Dublin"),
    connections=(Connection("another", Edge.SUPPORTS, 0.7, by="creative", at=NOON),),
    usage=Usage(access_count=1, last_accessed=NOON),
)
PROPOSAL = Proposal("p", ProposalType.LINK, ("a", "b"), "link", NOON, action=(("v", "w"),))


@shape
class Leaf:
    """One value."""

    value: int = field("a number")


@shape
class Basket:
    """Has a field that is called like a method of a dict."""

    items: tuple[str, ...] = field()
    next: str | None = field(left_out=True, default=None)


@shape
class Branch(Leaf):
    """Values of every kind."""

    leaves: tuple[Leaf, ...] = field()
    maybe: Leaf | None = field(default=None)
    rarely: str | None = field(left_out=True, default=None)
    from_: TimeText = field()
    share: UnitNumber = field(default=0.5)
    word: Literal["one", "two"] = field(default="one")
    tier: Tier = field(default=Tier.CORE)
    counts: Mapping[str, int] = field(default_factory=dict)
    pair: tuple[str, int] = field(default=("a", 1))
    at: datetime | None = field(default=None)
    anything: object = field(default=None)


BRANCH = Branch(value=1, leaves=(Leaf(value=2), Leaf(value=3)), from_="2026-11-15T12:00:00Z")
PLAIN: dict[str, Any] = {
    "value": 1,
    "leaves": [{"value": 2}, {"value": 3}],
    "maybe": None,
    "from": "2026-11-15T12:00:00Z",
    "share": 0.5,
    "word": "one",
    "tier": "core",
    "counts": {},
    "pair": ["a", 1],
    "at": None,
    "anything": None,
}


def problems(kind: Any, value: object) -> list[str]:
    schemas = SchemaBuilder(CONTRACT)
    schema = {**schemas.of(kind), "components": {"schemas": schemas.named}}
    return [each.message for each in Draft202012Validator(schema).iter_errors(value)]


def test_a_shape_is_written_as_json() -> None:
    assert to_json(BRANCH) == PLAIN


def test_what_may_be_left_out_is_written_only_where_it_holds_something() -> None:
    rare = Branch(value=1, leaves=(), from_="x", rarely="now", at=NOON)

    assert to_json(rare)["rarely"] == "now"
    assert to_json(rare)["at"] == "2026-11-15T12:00:00Z"
    assert "rarely" not in to_json(BRANCH)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Branch, BRANCH),
        (Branch, Branch(value=0, leaves=(), from_="x", rarely="y", maybe=Leaf(value=4), at=NOON)),
        (Memory, MEMORY),
        (
            ChangedMemory,
            ChangedMemory(
                text="t",
                node_id="i",
                memory=MEMORY,
                change=None,
                notes=("known",),
                notes_parts=({"kind": "already_known", "memory": "i"},),
            ),
        ),
        (
            Proposal,
            Proposal("p", ProposalType.LINK, ("a", "b"), "link", NOON, action=(("v", "w"),)),
        ),
        (
            MemoryHistory,
            MemoryHistory(
                node_id="i",
                text="t",
                events=(
                    JournalEvent(
                        id="1", at=NOON, kind=EventKind.USED, device="d", body={"how": "x"}
                    ),
                    JournalChange(
                        id="2", at=NOON, kind=EventKind.CHANGED, device="d", body={}, outcome=None
                    ),
                ),
            ),
        ),
    ],
)
def test_what_was_written_is_read_back_and_fits_its_schema(kind: Any, value: object) -> None:
    written = to_json(value)

    assert from_json(kind, written) == value
    assert problems(kind, written) == []


def test_an_error_comes_back_as_the_kind_that_it_was() -> None:
    many = RememberedMany(text="", results=(WriteOutcome(error=Rejected("no", hint="so")),))

    (read,) = from_json(RememberedMany, to_json(many)).results

    assert isinstance(read.error, Rejected)
    assert (read.error.message, read.error.hint) == ("no", "so")
    assert (read.id, read.existing) == (None, False)


def test_a_refused_draft_says_in_json_only_why() -> None:
    refused = WriteOutcome(error=Rejected("no"))

    assert list(to_json(refused)) == ["error"]
    assert to_json(WriteOutcome(node_id="i")) == {"node_id": "i", "existing": False}


def test_fields_of_a_newer_release_are_passed_over() -> None:
    assert from_json(Leaf, {"value": 1, "newer": True}) == Leaf(value=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("value", "one"),
        ("value", None),
        ("leaves", [{"value": "two"}]),
        ("leaves", [{}]),
        ("maybe", {}),
        ("rarely", None),
        ("share", 1.5),
        ("word", "three"),
        ("tier", "attic"),
        ("counts", {"a": "b"}),
        ("pair", ["a"]),
        ("pair", ["a", "b"]),
        ("at", 3),
    ],
)
def test_a_schema_refuses_what_the_shape_does_not_hold(name: str, value: object) -> None:
    assert problems(Branch, PLAIN) == []
    assert problems(Branch, {**PLAIN, name: value})


def test_what_is_required_is_what_is_always_written() -> None:
    schemas = SchemaBuilder(CONTRACT)
    schemas.of(Branch)

    assert schemas.named["Branch"]["required"] == list(PLAIN)
    assert schemas.named["Branch"]["description"] == "Values of every kind."
    assert schemas.named["Branch"]["properties"]["value"]["description"] == "a number"


def test_a_shape_is_a_frozen_dataclass_once_it_is_used() -> None:
    assert [each.name for each in shape_fields(Leaf)] == ["value"]
    assert Leaf(value=1) == Leaf(value=1) != Leaf(value=2)
    with pytest.raises(AttributeError):
        Leaf(value=1).value = 2  # type: ignore[misc]
    with pytest.raises(TypeError, match="value"):
        Leaf()  # type: ignore[call-arg]


def test_a_shape_is_read_by_the_names_of_its_json_as_a_dict_is() -> None:
    given: Any = BRANCH

    assert list(given) == list(given.keys()) == list(PLAIN)
    assert dict(given) == dict(given.items()) == {name: given[name] for name in PLAIN}
    assert given["from"] == given.get("from") == "2026-11-15T12:00:00Z"
    assert {**given["leaves"][0]} == {"value": 2}
    assert "from" in given
    assert "from_" not in given
    assert given.get("maybe", "default") is None
    assert given.get("missing", "default") == "default"
    with pytest.raises(KeyError):
        given["missing"]


def test_a_name_that_json_leaves_out_is_absent() -> None:
    given: Any = BRANCH
    rare: Any = Branch(value=1, leaves=(), from_="x", rarely="now")

    assert "rarely" not in given
    assert given.get("rarely", "never") == "never"
    with pytest.raises(KeyError):
        given["rarely"]
    assert rare["rarely"] == dict(rare)["rarely"] == "now"


def test_a_field_that_is_called_like_a_method_of_a_dict_stays_a_field() -> None:
    basket: Any = Basket(items=("apple",))

    assert basket.items == ("apple",)
    assert dict(basket) == {"items": ("apple",)}
    assert to_json(basket) == {"items": ["apple"]}
    assert from_json(Basket, {"items": ["apple"]}) == basket
