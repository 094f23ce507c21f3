"""Moving in and out by the command line."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from madeleine.cli.commands.status import status_problems
from tests.cli.running import Cli


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    top = tmp_path / "Notes"
    top.mkdir()
    (top / "Coffee.md").write_text("Brewed with the [[Grinder]].", encoding="utf-8")
    (top / "Grinder.md").write_text("Flat burrs. [[Nowhere]]", encoding="utf-8")
    return top


def test_an_import_says_what_it_did_and_how_to_take_it_back(cli: Cli, notes: Path) -> None:
    ran = cli("import", "obsidian", str(notes))

    assert ran.code == 0
    first, second = ran.out.splitlines()
    begins, note = ran.err.splitlines()
    undo = second.split("madeleine ")[1]
    assert first == "2 memories: 2 written"
    assert note == "note: 1 link leads nowhere, left as text: Grinder.md → Nowhere"
    run = undo.split()[1]
    assert begins == (
        f"import {run} begins; if it is stopped, `madeleine {undo}` takes back what it did"
    )
    assert cli(*undo.split()).code == 0
    assert cli.files == []


def test_importing_twice_adds_nothing(cli: Cli, notes: Path) -> None:
    cli("import", "obsidian", str(notes))
    again = cli.ok("import", "obsidian", str(notes))

    assert again["counts"] == {"written": 0, "revised": 0, "known": 2, "kept": 0, "forgotten": 0}
    assert len(cli.files) == 2


def test_an_import_that_changed_nothing_says_that_there_is_nothing_to_undo(
    cli: Cli, notes: Path
) -> None:
    cli("import", "obsidian", str(notes))
    again = cli("import", "obsidian", str(notes))
    undone = cli("undo", again.err.split()[1])

    assert again.out.splitlines() == [
        "2 memories: 2 known",
        "  nothing was changed, so there is nothing to undo",
    ]
    assert undone.code == 3
    assert "what changed nothing left none" in undone.err


def test_a_dry_run_writes_nothing(cli: Cli, notes: Path) -> None:
    ran = cli("import", "obsidian", str(notes), "--dry-run")

    assert ran.out == "2 memories: would be 2 written\n"
    assert "begins" not in ran.err
    assert cli.files == []


@pytest.mark.soak
def test_what_is_broken_is_told_with_its_place_and_gives_the_exit_code(
    cli: Cli, notes: Path
) -> None:
    (notes / "Bad.md").write_bytes(b"\xff")
    (notes / "Long.md").write_text("x" * 1_100_000, encoding="utf-8")

    ran = cli("import", "obsidian", str(notes))
    answer = cli("--json", "import", "obsidian", str(notes)).answer

    assert ran.code == 2
    assert "2 memories: 2 written" in ran.out
    assert "Bad.md: is not UTF-8 at byte 0" in ran.err
    assert "Long.md: the memory is 1,100,000 bytes; the limit is 1,048,576" in ran.err
    assert [each["place"] for each in answer["problems"]] == ["Bad.md", "Long.md"]


def test_an_unknown_format_or_path_is_refused_with_a_hint(cli: Cli, tmp_path: Path) -> None:
    unknown = cli("import", "notion", str(tmp_path))
    missing = cli("import", "obsidian", str(tmp_path / "gone"))
    other = cli("import", "chatgpt", str(tmp_path))

    assert (unknown.code, missing.code, other.code) == (2, 3, 2)
    assert "agents-md, automem, basic-memory, chatgpt" in unknown.err
    assert "holds no conversations.json" in other.err


@pytest.mark.parametrize("form", ["obsidian", "basic-memory", "ormah", "agents-md", "automem"])
def test_a_file_of_another_format_is_refused_with_the_one_it_is(
    cli: Cli, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "mem0.json"
    file.write_text('{"results": [{"id": "1", "memory": "tea"}]}', encoding="utf-8")

    ran = cli("import", form, str(file))

    assert ran.code == 2
    assert f"hint: it looks like mem0: `madeleine import mem0 {file}`" in ran.err
    assert cli.files == []


@pytest.mark.parametrize("form", ["madeleine", "obsidian", "basic-memory"])
def test_a_folder_with_nothing_in_it_is_told_and_gives_the_exit_code(
    cli: Cli, tmp_path: Path, form: str
) -> None:
    (tmp_path / "empty").mkdir()

    ran = cli("import", form, str(tmp_path / "empty"))

    assert ran.code == 2
    assert "there is no .md file in it" in ran.err


def test_an_export_that_was_cut_brings_in_what_is_whole_and_says_so(
    cli: Cli, tmp_path: Path
) -> None:
    for text in ("tea", "milk", "juice"):
        cli.remember(text)
    cli.ok("export", "--to", str(tmp_path / "m.jsonl"))
    lines = (tmp_path / "m.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "m.jsonl").write_bytes(b"".join(lines[:3]))
    fresh = Cli(tmp_path / "fresh")

    ran = fresh("import", "madeleine", str(tmp_path / "m.jsonl"))

    assert ran.code == 6
    assert "2 memories: 2 written" in ran.out
    assert "m.jsonl: ends before its last line: it was cut" in ran.err


def test_an_empty_export_is_no_problem(cli: Cli, tmp_path: Path) -> None:
    cli.ok("export", "--to", str(tmp_path / "m.jsonl"))

    assert cli.ok("import", "madeleine", str(tmp_path / "m.jsonl"))["cut"] is False


@pytest.mark.soak
def test_a_large_import_goes_in_batches(cli: Cli, tmp_path: Path) -> None:
    results = [{"id": f"m-{n}", "memory": f"fact number {n}"} for n in range(300)]
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": results}), encoding="utf-8")

    answer = cli.ok("import", "mem0", str(file), "--space", "atlas")

    assert answer["counts"]["written"] == 300
    assert cli.ok("list", "--space", "atlas")["total"] == 300


@pytest.mark.parametrize(
    ("to", "form"), [("m.jsonl", ""), ("m.zip", ""), ("out", ""), ("m.txt", "jsonl")]
)
def test_an_export_comes_back_whatever_its_format(
    cli: Cli, notes: Path, tmp_path: Path, to: str, form: str
) -> None:
    cli("import", "obsidian", str(notes))
    words = ["--format", form] if form else []

    answer = cli.ok("export", "--to", str(tmp_path / to), *words)

    assert answer["memories"] == 2
    fresh = Cli(tmp_path / "fresh")
    source = "obsidian" if to == "out" else "madeleine"
    assert fresh.ok("import", source, str(tmp_path / to))["counts"]["written"] == 2
    ids = {each["id"] for each in cli.ok("list")["memories"]}
    assert {each["id"] for each in fresh.ok("list")["memories"]} == ids


@pytest.mark.parametrize("form", ["jsonl", "zip", "madeleine", "obsidian"])
def test_import_takes_what_export_wrote_by_the_same_words(
    cli: Cli, tmp_path: Path, form: str
) -> None:
    cli.remember("The kiln fires on Thursdays", "--title", "Kiln")
    path = str(tmp_path / "taken out")

    written = cli.ok("export", form, path)
    counts = Cli(tmp_path / "other").ok("import", form, path)["counts"]

    assert (written["path"], written["memories"], counts["written"]) == (path, 1, 1)
    assert cli("export", form, path).code == 4


def test_an_export_is_refused_when_its_words_and_options_differ(cli: Cli, tmp_path: Path) -> None:
    differ = cli("export", "zip", str(tmp_path / "a.zip"), "--to", str(tmp_path / "b.zip"))
    unknown = cli("export", str(tmp_path / "a.zip"))

    assert (differ.code, unknown.code) == (2, 2)
    assert "give PATH once" in differ.err
    assert "one of: jsonl, zip, obsidian" in unknown.err
    assert list(tmp_path.glob("*.zip")) == []


def test_an_export_goes_where_nothing_is(cli: Cli, tmp_path: Path) -> None:
    cli.remember("tea")
    (tmp_path / "m.jsonl").write_text("mine", encoding="utf-8")

    assert cli("export", "--to", str(tmp_path / "m.jsonl")).code == 4
    assert cli("export", "--to", str(tmp_path / "m"), "--format", "xml").code == 2
    assert cli("export", "--to", str(tmp_path / "m"), "--trash").code == 2
    assert cli("export", "--to", str(cli.home / "vault" / "out")).code == 2
    assert len(cli.files) == 1


def test_outdated_and_forgotten_memories_leave_when_asked(cli: Cli, tmp_path: Path) -> None:
    cli.remember("tea")
    cli("retire", cli.remember("milk"))
    cli("forget", cli.remember("juice"))

    def count(name: str, *words: str) -> int:
        return int(cli.ok("export", "--to", str(tmp_path / name), *words)["memories"])

    assert count("all.jsonl") == 2
    assert count("now.jsonl", "--current") == 1
    assert count("with.zip", "--trash") == 3
    assert count("none.jsonl", "--space", "atlas") == 0


def test_a_backup_is_listed_and_restored(cli: Cli, tmp_path: Path) -> None:
    kept = cli.remember("tea")
    made = cli.ok("backup")
    cli("forget", kept)
    cli.remember("milk")

    listed = cli.ok("backup", "--list")
    checked = cli("restore-backup", made["path"], "--dry-run")
    restored = cli.ok("restore-backup", made["path"])

    assert [each["path"] for each in listed["backups"]] == [made["path"]]
    assert checked.out.startswith("is whole: 1 memory, ")
    assert "\nbackup     just now\n" in cli("status").out
    assert restored["in_index"] == 1
    assert [each["id"] for each in cli.ok("list")["memories"]] == [kept]
    assert all(Path(each).is_dir() for each in restored["aside"])


def test_a_restore_that_the_index_does_not_show_says_so(cli: Cli, tmp_path: Path) -> None:
    cli.remember("tea")
    (cli.home / "vault" / "broken.md").write_bytes(b"---\nid: [\n---\n\xff\xfe")
    path = cli.ok("backup")["path"]

    restored = Cli(tmp_path / "new")("restore-backup", path)

    assert restored.code == 6
    assert "note: the index has only 1 of 2 memories; `madeleine doctor` looks" in restored.err


def test_a_vault_elsewhere_is_restored_into_the_new_home(tmp_path: Path) -> None:
    """The old folder is lost, or the vault of a home that lives."""
    old, new = Cli(tmp_path / "old"), Cli(tmp_path / "new")
    old.home.mkdir()
    config = f'[vault]\npath = "{tmp_path / "notes"}"\n[embedder]\nkind = "fake"\n'
    (old.home / "config.toml").write_text(config, encoding="utf-8")
    kept = old.remember("tea")
    path = old.ok("backup", "--to", str(tmp_path / "all.zip"))["path"]
    old.remember("milk")

    restored = new("restore-backup", path)

    assert restored.code == 0, restored.err
    assert "left out of config.toml: vault.path\n  so the vault is in the home" in restored.out
    assert "madeleine move" not in restored.out
    assert [each["id"] for each in new.ok("list")["memories"]] == [kept]
    assert old.ok("list")["total"] == 2


def test_a_backup_goes_where_it_is_told(cli: Cli, tmp_path: Path) -> None:
    cli.remember("tea")

    answer = cli.ok("backup", "--to", str(tmp_path / "mine.zip"))

    assert answer["path"] == str(tmp_path / "mine.zip")
    assert zipfile.is_zipfile(tmp_path / "mine.zip")
    assert cli("backup", "--to", str(tmp_path / "mine.zip")).code == 4


def test_a_damaged_backup_is_said_to_be_damaged(cli: Cli, tmp_path: Path) -> None:
    cli.remember("tea")
    path = Path(cli.ok("backup")["path"])
    path.write_bytes(path.read_bytes()[:-10])

    assert cli("restore-backup", str(path)).code == 6
    assert cli("restore-backup", str(tmp_path / "gone.zip")).code == 3
    assert cli.ok("list")["total"] == 1


def test_a_backup_that_fails_unasked_is_among_the_problems(cli: Cli) -> None:
    answer = cli.ok("status")
    loops = [{"name": "backup", "problem": "cannot write x"}, {"name": "journal", "problem": None}]

    told = list(status_problems({**answer, "daemon": {"loops": loops}}))

    assert told == ["the daemon's backup: cannot write x"]
