"""`remember` names what a new memory is like, and `--replaces` retires one in the same change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from madeleine import Madeleine
from tests.cli.running import Cli
from tests.server.running import running

OLD = "The build of atlas runs on Jenkins"
NEW = "The build of atlas runs on Buildkite"
OTHER = "Ana keeps bees behind the old boiler house"


@pytest.fixture(params=["alone", "daemon"])
def either(request: pytest.FixtureRequest, cli: Cli) -> Iterator[Cli]:
    """The command with a daemon and without one: it says the same."""
    with running(cli.home) if request.param == "daemon" else nullcontext():
        yield cli


def contents(cli: Cli) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in cli.files}


def shown(cli: Cli, memory: str) -> Any:
    return cli.ok("show", memory)["memory"]


def test_a_new_memory_names_what_it_is_like_and_how_to_replace_that(either: Cli) -> None:
    old = either.remember(OLD)
    either.remember(OTHER)

    said = either("remember", NEW)

    lines = [line for line in said.out.splitlines() if " like " in line]
    assert lines == [f"  like {old[:8]}, which says: {OLD}; to replace it: --replaces {old[:8]}"]


def test_what_it_is_like_comes_with_id_title_text_and_score(either: Cli) -> None:
    old = either.remember(OLD, "--title", "Where atlas is built")

    (like,) = either.ok("remember", NEW, "--title", "Where atlas is built now")["similar"]

    assert (like["id"], like["title"], like["text"]) == (old, "Where atlas is built", OLD)
    assert 0.65 <= like["score"] <= 1


def test_nothing_is_named_that_is_not_like_it(either: Cli) -> None:
    either.remember(OTHER)

    assert either.ok("remember", NEW)["similar"] == []


def test_a_known_text_is_not_said_to_be_like_itself(either: Cli) -> None:
    either.remember(OLD)

    assert either.ok("remember", OLD)["similar"] == []


def test_what_is_replaced_is_retired_and_the_new_one_names_it(either: Cli) -> None:
    old = either.remember(OLD)

    new = either.remember(NEW, "--replaces", old[:8])

    was, now = shown(either, old), shown(either, new)
    assert was["superseded_by"] == new
    assert was["valid_until"] == now["created"]
    drawn = [(each["target"], each["edge"], each["weight"]) for each in now["connections"]]
    assert drawn == [(old, "evolved_from", 0.9)]
    assert (
        either("remember", "x y z", "--replaces", new).err.strip() == f"note: replaces `{new[:8]}`"
    )


def test_one_undo_takes_the_new_memory_and_the_retirement_back(either: Cli) -> None:
    old = either.remember(OLD)
    before = contents(either)
    done = either.ok("remember", NEW, "--replaces", old)

    undone = either.ok("undo", done["change"])

    assert sorted(undone["memories"]) == sorted([old, done["node_id"]])
    assert contents(either) == before


def test_what_is_replaced_is_not_named_as_like_it(either: Cli) -> None:
    old = either.remember(OLD)

    assert either.ok("remember", NEW, "--replaces", old)["similar"] == []


def test_several_can_be_replaced_at_once(either: Cli) -> None:
    old = [either.remember(f"The build of atlas runs on {each}") for each in ("Jenkins", "Travis")]

    new = either.remember(NEW, "--replaces", old[0], "--replaces", old[1])

    assert [shown(either, each)["superseded_by"] for each in old] == [new, new]


def test_the_same_command_with_replaces_lets_the_known_memory_replace_the_other(
    either: Cli,
) -> None:
    """What the answer tells a person to type, after the memory was written."""
    old, new = either.remember(OLD), either.remember(NEW)
    before = contents(either)

    done = either.ok("remember", NEW, "--replaces", old)

    assert (done["existing"], done["node_id"]) == (True, new)
    assert [each["kind"] for each in done["notes_parts"]] == ["replaces"]
    assert shown(either, old)["superseded_by"] == new
    either.ok("undo", done["change"])
    assert contents(either) == before


def test_a_repeated_call_replaces_nothing_twice(either: Cli) -> None:
    old = either.remember(OLD)
    either.remember(NEW, "--replaces", old, "--key", "call-1")
    before = contents(either)

    again = either.ok("remember", NEW, "--replaces", old, "--key", "call-1")

    assert again["change"] is None
    assert contents(either) == before


def test_what_is_not_there_cannot_be_replaced_and_nothing_is_written(either: Cli) -> None:
    said = either("remember", NEW, "--replaces", "0badcafe")

    assert said.code == 3
    assert contents(either) == {}


def test_nothing_replaces_itself_or_the_self(either: Cli) -> None:
    new = either.remember(NEW, "--about-self")
    (own,) = either.ok("list", "--type", "person")["memories"]

    assert either("remember", NEW, "--replaces", new).code == 2
    refused = either("remember", "I am somebody else", "--replaces", own["id"])
    assert refused.code == 2
    assert "the self cannot be replaced" in refused.err


def test_a_line_of_many_may_replace_what_a_line_before_it_wrote(either: Cli) -> None:
    first = "11111111-1111-4111-8111-111111111111"
    lines = (
        f'{{"content": "{OLD}", "id": "{first}"}}\n'
        f'{{"content": "{NEW}", "replaces": ["{first[:8]}"]}}\n'
    )

    done = either.ok("remember", "--jsonl", "-", stdin=lines.encode())

    assert shown(either, first)["superseded_by"] == done["results"][1]["node_id"]


def test_python_is_told_and_replaces_too(cli: Cli) -> None:
    with Madeleine.open(cli.home) as m:
        old = m.remember(OLD)
        new = m.remember(NEW)
        newest = m.remember("The build of atlas runs on Woodpecker", replaces=[old.id, new.id])

        assert [each.id for each in new.similar] == [old.id]
        assert newest.similar == ()
        assert m.show(old.id).memory.superseded_by == newest.id


def test_a_value_that_a_claim_replaced_is_not_named_as_like_it(cli: Cli) -> None:
    cli.remember(OLD, "--claim", "atlas | ci | Jenkins")

    done = cli.ok("remember", NEW, "--claim", "atlas | ci | Buildkite")

    assert done["similar"] == []


def test_in_another_space_it_has_to_be_closer(cli: Cli) -> None:
    """As it has to be for a connection."""
    cli.remember(OLD, "--space", "north")
    near = cli.ok("remember", NEW, "--space", "north")["similar"]
    far = cli.ok("remember", "The build of atlas runs on Drone", "--space", "south")["similar"]

    assert len(near) == 1
    assert all(each["score"] >= 0.75 for each in far)
