"""What notes are triggered by, and which deeds they are about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from madeleine.language.deeds import read_named_deed
from madeleine.language.triggers import (
    compare_triggers,
    deed_keys,
    memory_triggers,
    read_triggers,
    trigger_keys,
)
from tests.whisper.listening import a_memory

READ = [
    ("legacy/ is not touched without asking Tom", "legacy"),
    ("`*.gen.ts` are generated", "*.gen.ts"),
    ("never `terraform apply` by hand", "command: terraform apply"),
    ("conan.lock is committed, no manual edits", "conan.lock"),
    ("*.g.dart and *.freezed.dart are generated", "*.freezed.dart"),
    ("terraform/prd/** gets applied by ci only", "terraform/prd/**"),
    ("Nada de .docx, que se me descoloca todo", "*.docx"),
    ("the Makefile is generated", "makefile"),
    ("use uv, never pip", "command: pip"),
    ("sas_bridge/ wird nicht ohne Petra geändert", "sas_bridge"),
    ("merchant_id is no metric label", "name: merchant_id"),
    ("no deploys to production on Fridays", "environment: production"),
    ("commits: area: verb what, no emoji", "activity: commit"),
    ("-ffast-math is forbidden in kern", "name: -ffast-math"),
    ("docs in docs/api/v2/index.md are generated", "docs/api/v2/index.md"),
    ("PaymentGateway stays on demand", "name: paymentgateway"),
]


@pytest.mark.parametrize(("text", "trigger"), READ)
def test_a_note_is_triggered_by_what_it_names(text: str, trigger: str) -> None:
    assert trigger in map(str, read_triggers(text))


def test_a_program_is_read_with_each_word_that_follows_it() -> None:
    found = set(map(str, read_triggers("git rebase, then git push, and never Git Squash; use git")))

    assert found >= {"command: git", "command: git rebase", "command: git push"}
    assert "command: git squash" not in found


NONE = [
    "the ferry leaves at half past nine",
    "see https://example.org/legacy/x.html",
    "either tea and/or coffee, 24/7",
    "mail ana@example.org about it",
    "",
]


@pytest.mark.parametrize("text", NONE)
def test_prose_addresses_and_dates_name_no_path(text: str) -> None:
    kinds = {each.kind.value for each in read_triggers(text)}

    assert not kinds & {"path", "glob"}


ABOUT = [
    ("legacy/ is frozen", "Edit", "legacy/pay.py"),
    ("legacy/ is frozen", "Bash", "rm -rf src/legacy/old"),
    ("*.gen.ts are generated", "Write", "src/api/user.gen.ts"),
    ("terraform/prd/** only by ci", "Edit", "terraform/prd/net/main.tf"),
    ("never terraform apply by hand", "Bash", "terraform -chdir=x apply"),
    ("conan.lock is written by a job", "Edit", "build/conan.lock"),
    ("Nada de .docx", "Write", "fichas/rinon.docx"),
    ("src/**/*.test.ts stay as they are", "Edit", "src/a/b/x.test.ts"),
]
NOT_ABOUT = [
    ("legacy/ is frozen", "Edit", "src/legacyish/pay.py"),
    ("*.gen.ts are generated", "Edit", "src/user.ts"),
    ("terraform/prd/** only by ci", "Edit", "terraform/stg/main.tf"),
    ("conan.lock is written by a job", "Edit", "conanfile.py"),
    ("src/**/*.test.ts stay as they are", "Edit", "lib/x.test.ts"),
]


@pytest.mark.parametrize(("text", "tool", "target"), ABOUT)
def test_a_deed_finds_the_notes_about_it_by_their_keys(text: str, tool: str, target: str) -> None:
    memory, deed = a_memory(content=text), read_named_deed(tool, target)

    assert set(trigger_keys(memory)) & set(deed_keys(deed))
    assert compare_triggers(memory_triggers(memory), deed).is_any


@pytest.mark.parametrize(("text", "tool", "target"), NOT_ABOUT)
def test_a_deed_elsewhere_is_not_taken_for_one_there(text: str, tool: str, target: str) -> None:
    match = compare_triggers(read_triggers(text), read_named_deed(tool, target))

    assert (match.path, match.glob) == (0.0, 0.0)


def test_what_the_front_matter_says_counts_and_the_text_no_longer() -> None:
    memory = replace(a_memory(content="legacy/ is frozen"), triggers=("vendor/**", "npm publish"))

    assert list(map(str, memory_triggers(memory))) == ["command: npm publish", "vendor/**"]
    assert memory_triggers(replace(memory, triggers=())) == ()
    assert trigger_keys(replace(memory, triggers=())) == []


WRITTEN = [
    ("legacy/**", "legacy/**"),
    ("./src/a.py", "src/a.py"),
    ("legacy/", "legacy"),
    ("environment: prod", "environment: production"),
    ("activity: commits", "activity: commit"),
    ("tool: docker", "command: docker"),
    ("terraform apply", "command: terraform apply"),
    ("merchant_id", "name: merchant_id"),
    ("folder: legacy", "legacy"),
    ("*.gen.ts", "*.gen.ts"),
]


@pytest.mark.parametrize(("said", "trigger"), WRITTEN)
def test_a_trigger_can_be_written_as_people_write_it(said: str, trigger: str) -> None:
    memory = replace(a_memory(), triggers=(said,))

    assert list(map(str, memory_triggers(memory))) == [trigger]
