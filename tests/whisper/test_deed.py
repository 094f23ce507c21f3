"""A word before the deed: what is told, once, and what is not looked up again."""

from __future__ import annotations

from typing import Any

import pytest

from madeleine.language.deeds import read_deed, read_named_deed
from madeleine.model.cause import WhisperSilence
from madeleine.model.words import MemoryType
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.deed import DeedRequest, DeedWord, speak_before_deed
from madeleine.whisper.delivery import Loss, confirm_delivery, mark_undelivered
from madeleine.whisper.pausing import pause_session
from madeleine.write.stores import Stores
from tests.fakes import keep
from tests.whisper.listening import CONFIG, Listener, contents

LEGACY = "legacy/ is not touched without asking Tom"


@pytest.fixture
def agent(stores: Stores) -> Listener:
    keep(stores, LEGACY, type=MemoryType.DECISION, space="atlas")
    keep(stores, "`*.gen.ts` are generated, hands off", type=MemoryType.FACT, space="atlas")
    keep(stores, "Never terraform apply by hand", type=MemoryType.DECISION, space="atlas")
    keep(stores, "The office has a green door", space="atlas")
    return Listener(stores)


def about(
    agent: Listener, tool: str, target: str, config: WhisperConfig = CONFIG, **more: Any
) -> DeedWord:
    request = DeedRequest(read_named_deed(tool, target), **{"space": "atlas", **more})
    return speak_before_deed(agent.stores, config, agent.whisperer, request)


def told(word: DeedWord) -> list[str]:
    return [each.memory.content for each in word.told]


DEEDS = [
    ("Edit", "legacy/pay.py", LEGACY),
    ("Write", "web/src/user.gen.ts", "`*.gen.ts` are generated, hands off"),
    ("Bash", "terraform apply -auto-approve", "Never terraform apply by hand"),
    ("Bash", "rm legacy/pay.py", LEGACY),
]


@pytest.mark.parametrize(("tool", "target", "rule"), DEEDS)
def test_a_rule_about_a_path_glob_or_command_is_told(
    agent: Listener, tool: str, target: str, rule: str
) -> None:
    word = about(agent, tool, target)

    assert rule in told(word)
    assert rule in word.text


@pytest.mark.parametrize(
    ("tool", "target"), [("Edit", "src/colours.css"), ("Bash", "git status"), ("Bash", "ls")]
)
def test_a_deed_that_nothing_is_about_is_silent(agent: Listener, tool: str, target: str) -> None:
    assert about(agent, tool, target).text == ""


def test_a_rule_of_another_project_does_not_apply(agent: Listener) -> None:
    assert about(agent, "Edit", "legacy/pay.py", space="salon").text == ""


def test_a_memory_is_told_once_in_a_session_by_deed_or_prompt(agent: Listener) -> None:
    first = about(agent, "Edit", "legacy/pay.py", session_id="s", awaits_receipt=True)
    agent.stores.executor.wait()
    confirm_delivery([agent.stores], agent.whisperer.sessions, first.whisper_id)

    other = about(agent, "Edit", "legacy/tax.py", session_id="s", awaits_receipt=True)

    assert told(first) == [LEGACY]
    assert LEGACY not in told(other)
    assert LEGACY not in contents(agent.hears("may I touch legacy/ without Tom?", "s", "atlas"))


@pytest.mark.proves("I13")
def test_a_word_that_nobody_got_may_be_told_again(agent: Listener) -> None:
    lost = about(agent, "Edit", "legacy/pay.py", session_id="s", awaits_receipt=True)
    agent.stores.executor.wait()
    mark_undelivered(agent.stores, agent.whisperer.sessions, lost.whisper_id, Loss.UNCONFIRMED)
    agent.whisperer.deeds.forget("s")

    assert told(about(agent, "Edit", "legacy/pay.py", session_id="s")) == [LEGACY]


def test_a_burst_of_edits_of_a_file_is_looked_up_once(
    agent: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(number: int) -> DeedWord:
        given = {"file_path": "src/a.py", "new_string": f"x = {number}"}
        request = DeedRequest(read_deed("Edit", given), "atlas", session_id="burst")
        return speak_before_deed(agent.stores, CONFIG, agent.whisperer, request)

    edit(0)
    agent.stores.index.close()  # whatever looks anything up now fails

    assert [edit(number).silence for number in range(1, 30)]
    assert all(edit(number).text == "" for number in range(1, 30))


def test_triggers_of_the_front_matter_count_and_not_the_text(agent: Listener) -> None:
    keep(agent.stores, "Ask Ines first", space="atlas", triggers=("billing/**",))
    keep(agent.stores, "vendor/ is frozen, nobody changes it", space="atlas", triggers=())

    assert told(about(agent, "Edit", "billing/run.py")) == ["Ask Ines first"]
    assert about(agent, "Edit", "vendor/x.py").text == ""


@pytest.mark.parametrize(
    ("guard", "tags", "kind", "asks"),
    [
        ("ask", ("guard",), MemoryType.DECISION, True),
        ("ask", ("guard",), MemoryType.PREFERENCE, True),
        ("ask", ("guard",), MemoryType.FACT, False),
        ("ask", (), MemoryType.DECISION, False),
        ("whisper", ("guard",), MemoryType.DECISION, False),
    ],
)
def test_a_person_is_asked_only_where_they_said_so(
    stores: Stores, guard: str, tags: tuple[str, ...], kind: MemoryType, asks: bool
) -> None:
    keep(stores, LEGACY, type=kind, tags=tags, space="atlas")

    word = about(Listener(stores), "Edit", "legacy/pay.py", WhisperConfig(guard=guard))

    assert told(word) == [LEGACY]
    assert word.asks is asks


def test_after_a_failure_nobody_is_asked(stores: Stores) -> None:
    keep(stores, LEGACY, type=MemoryType.DECISION, tags=("guard",), space="atlas")
    config = WhisperConfig(guard="ask")

    word = about(Listener(stores), "Edit", "legacy/pay.py", config, error="permission denied")

    assert (told(word), word.asks) == ([LEGACY], False)


def test_an_empty_memory_is_silent(stores: Stores) -> None:
    word = about(Listener(stores), "Edit", "legacy/pay.py")

    assert word.silence is not None
    assert word.silence.kind is WhisperSilence.NOTHING_FOUND


def test_a_paused_session_is_told_nothing_before_a_deed(agent: Listener) -> None:
    pause_session(agent.stores, "s")

    word = about(agent, "Edit", "legacy/pay.py", session_id="s")

    assert word.silence is not None
    assert (word.text, word.silence.kind) == ("", WhisperSilence.PAUSED)
    assert told(about(agent, "Edit", "legacy/pay.py", session_id="t")) == [LEGACY]


def test_who_only_looks_takes_nothing_from_the_session(agent: Listener) -> None:
    for _ in range(2):
        assert told(about(agent, "Edit", "legacy/a.py", session_id="s", dry_run=True)) == [LEGACY]

    assert told(about(agent, "Edit", "legacy/a.py", session_id="s")) == [LEGACY]
