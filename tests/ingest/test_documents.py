"""Files of notes: sections become memories that change when the file does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from madeleine.ingest.config import IngestConfig
from madeleine.ingest.context import IngestContext
from madeleine.ingest.documents import SourceDocument, ingest_document, retire_deleted_document
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.write.forget import forget
from madeleine.write.merge import merge
from madeleine.write.stores import Stores
from tests.fakes import keep, reopened, vault_bytes

URI = "file:///home/ana/notes/harbour.md"
WHEN = datetime(2026, 10, 1, 9, tzinfo=UTC)
LONG = "Ships of every size come and go, and the log says which. " * 24
NOTE = f"""# Harbour

{LONG}

## Opening hours

The office closes at noon on Fridays.

## Crane

The crane lifts four tonnes.

### Repair

Ask Bertha before anybody touches the gearbox.
"""


@pytest.fixture
def intake(stores: Stores) -> IngestContext:
    return IngestContext(stores)


def written(text: str, uri: str | None = URI, **more: object) -> SourceDocument:
    return replace(SourceDocument("harbour.md", text, WHEN, uri), **more)  # type: ignore[arg-type]


def current(intake: IngestContext) -> list[Memory]:
    stores = intake.stores
    found = stores.search.listing(Filter(), stores.clock.now(), 500)
    return sorted(found, key=lambda each: str(each.title))


def texts(intake: IngestContext) -> dict[str, str]:
    return {str(each.title): each.content for each in current(intake)}


def test_each_section_becomes_a_memory_with_its_headings_as_title(intake: IngestContext) -> None:
    done = ingest_document(intake, written(NOTE, space="port"))

    assert texts(intake) == {
        "Harbour": LONG.strip(),
        "Harbour › Opening hours": "The office closes at noon on Fridays.",
        "Harbour › Crane": "The crane lifts four tonnes.",
        "Harbour › Crane › Repair": "Ask Bertha before anybody touches the gearbox.",
    }
    assert len(done.kept) == 4
    crane = next(each for each in current(intake) if each.title == "Harbour › Crane")
    assert crane.origin is not None
    assert crane.origin.uri == f"{URI}#Harbour%20%E2%80%BA%20Crane"
    assert (crane.source, crane.space, crane.tags) == ("file:harbour.md", "port", ("from-file",))
    assert crane.created == WHEN


def test_headings_of_the_same_level_stand_beside_each_other(intake: IngestContext) -> None:
    beside = "# Alpha\n\nOne.\n\n## Part\n\nTwo.\n\n# Beta\n\nThree.\n"

    ingest_document(intake, written(f"{beside}\n# Log\n\n{LONG}"))

    assert set(texts(intake)) == {"Alpha", "Alpha › Part", "Beta", "Log"}


@pytest.mark.parametrize(
    ("front", "own"), [("", "harbour"), ("---\ntitle: The port\n---\n# Early\n\n", "The port")]
)
def test_headings_stand_under_the_title_of_the_file_or_its_name(
    intake: IngestContext, front: str, own: str
) -> None:
    ingest_document(intake, written(f"{front}{LONG}\n\n# Late\n\nOne."))

    assert f"{own} › Late" in texts(intake)


def test_a_short_note_is_one_memory(intake: IngestContext) -> None:
    ingest_document(
        intake, written("---\ntags: [port, log]\ntitle: The port\n---\nOpen all day.\n")
    )

    [memory] = current(intake)
    assert (memory.title, memory.content) == ("The port", "Open all day.")
    assert memory.tags == ("from-file", "port", "log")


def test_a_text_without_name_and_heading_is_titled_by_how_it_begins(intake: IngestContext) -> None:
    ingest_document(intake, written("Met Ana in Oslo. She agreed.", None, name=""))

    [memory] = current(intake)
    assert str(memory.title).startswith("Met Ana in Oslo")
    assert memory.source == "text"


def test_the_same_file_twice_changes_nothing(intake: IngestContext) -> None:
    ingest_document(intake, written(NOTE))
    before = vault_bytes(intake.stores)

    done = ingest_document(intake, written(NOTE))

    assert (done.kept, done.revised, done.retired, done.known) == ([], [], [], 4)
    assert vault_bytes(intake.stores) == before


def test_a_changed_section_revises_its_memory_and_no_other(intake: IngestContext) -> None:
    ingest_document(intake, written(NOTE))
    before = {each.title: each for each in current(intake)}

    done = ingest_document(intake, written(NOTE.replace("four tonnes", "nine tonnes")))

    after = {each.title: each for each in current(intake)}
    assert after["Harbour › Crane"].content == "The crane lifts nine tonnes."
    assert after["Harbour › Crane"].id == before["Harbour › Crane"].id
    assert (done.kept, done.revised) == ([], [before["Harbour › Crane"].id])
    assert after["Harbour"] == before["Harbour"]
    assert len(after) == 4


def test_a_changed_document_retires_what_it_no_longer_says(intake: IngestContext) -> None:
    ingest_document(intake, written(NOTE))
    repair = next(each for each in current(intake) if each.title == "Harbour › Crane › Repair")

    done = ingest_document(intake, written(NOTE.partition("### Repair")[0]))

    assert done.retired == [repair.id]
    assert "Harbour › Crane › Repair" not in texts(intake)
    stored = intake.stores.search.get(repair.id)
    assert stored is not None
    assert stored.memory.valid_until is not None


def test_what_the_file_says_once_more_holds_again(intake: IngestContext) -> None:
    ingest_document(intake, written(NOTE))
    repair = next(each for each in current(intake) if each.title == "Harbour › Crane › Repair")
    ingest_document(intake, written(NOTE.partition("### Repair")[0]))

    done = ingest_document(intake, written(NOTE))

    assert done.revised == [repair.id]
    assert len(texts(intake)) == 4


def test_a_section_that_comes_back_changed_is_the_memory_it_was(intake: IngestContext) -> None:
    """A file that is being written may be seen half."""
    ingest_document(intake, written(NOTE))
    repair = next(each for each in current(intake) if each.title == "Harbour › Crane › Repair")
    ingest_document(intake, written(NOTE.partition("## Opening")[0]))
    assert len(current(intake)) == 1

    ingest_document(intake, written(NOTE.replace("Bertha", "Gerda")))

    assert len(current(intake)) == 4
    after = next(each for each in current(intake) if each.title == "Harbour › Crane › Repair")
    assert (after.id, "Gerda" in after.content) == (repair.id, True)


def test_a_section_under_another_heading_is_known_by_its_words(intake: IngestContext) -> None:
    ingest_document(intake, written(NOTE))
    hours = next(each for each in current(intake) if each.title == "Harbour › Opening hours")

    done = ingest_document(intake, written(NOTE.replace("Opening hours", "When we are open")))

    assert (done.kept, done.retired, done.revised) == ([], [], [hours.id])
    renamed = next(each for each in current(intake) if each.id == hours.id)
    assert renamed.title == "Harbour › When we are open"


def test_what_somebody_forgot_stays_forgotten(intake: IngestContext) -> None:
    ingest_document(intake, written(NOTE))
    crane = next(each for each in current(intake) if each.title == "Harbour › Crane")
    forget(intake.stores, crane.id, by="test")

    ingest_document(intake, written(NOTE.replace("four tonnes", "nine tonnes")))

    assert "Harbour › Crane" not in texts(intake)


def test_a_section_whose_memory_went_into_another_is_kept_anew_when_it_changes(
    intake: IngestContext,
) -> None:
    ingest_document(intake, written(NOTE))
    crane = next(each for each in current(intake) if each.title == "Harbour › Crane")
    other = keep(intake.stores, "The crane lifts four tonnes, says the plate on it.")
    merge(intake.stores, other.id, crane.id, by="test")

    ingest_document(intake, written(NOTE.replace("four tonnes", "nine tonnes")))

    assert texts(intake)["Harbour › Crane"] == "The crane lifts nine tonnes."


def test_a_renamed_file_makes_no_second_copy_and_is_followed(intake: IngestContext) -> None:
    ingest_document(intake, written(NOTE))
    moved = "file:///home/ana/notes/port.md"

    done = ingest_document(intake, written(NOTE, uri=moved))

    assert done.kept == []
    assert len(current(intake)) == 4
    ingest_document(intake, written(NOTE.replace("four tonnes", "nine tonnes"), uri=moved))
    assert texts(intake)["Harbour › Crane"] == "The crane lifts nine tonnes."
    assert len(current(intake)) == 4


def test_a_deleted_file_keeps_its_memories_unless_they_are_to_be_retired(
    intake: IngestContext,
) -> None:
    ingest_document(intake, written(NOTE))

    assert retire_deleted_document(intake, URI) == []
    assert len(current(intake)) == 4
    intake.config = replace(IngestConfig(), deleted_files="retire")
    assert len(retire_deleted_document(intake, URI)) == 4
    assert current(intake) == []


def test_retiring_what_was_in_a_deleted_file_spares_what_moved(intake: IngestContext) -> None:
    intake.config = replace(IngestConfig(), deleted_files="retire")
    ingest_document(intake, written(NOTE))
    ingest_document(intake, written(NOTE, uri="file:///home/ana/notes/port.md"))

    assert retire_deleted_document(intake, URI) == []
    assert len(current(intake)) == 4


def test_a_file_that_was_edited_and_deleted_comes_back_as_the_memories_it_was(
    intake: IngestContext,
) -> None:
    intake.config = replace(IngestConfig(), deleted_files="retire")
    ingest_document(intake, written(NOTE))
    edited = NOTE.replace("four tonnes", "nine tonnes")
    ingest_document(intake, written(edited))
    before = {each.id: each.content for each in current(intake)}
    retire_deleted_document(intake, URI)
    assert retire_deleted_document(intake, URI) == []  # told twice, as a system may

    done = ingest_document(intake, written(edited))

    assert {each.id: each.content for each in current(intake)} == before
    assert (done.kept, set(done.revised)) == ([], set(before))


def test_what_moved_out_of_a_deleted_file_is_left_alone_when_another_takes_its_name(
    intake: IngestContext,
) -> None:
    intake.config = replace(IngestConfig(), deleted_files="retire")
    ingest_document(intake, written("The crane lifts four tonnes."))
    ingest_document(intake, written("The crane lifts four tonnes.", uri=f"{URI}.old"))
    retire_deleted_document(intake, URI)

    done = ingest_document(intake, written("The office closes at noon on Fridays."))

    assert (len(done.kept), done.revised) == (1, [])
    assert {each.content for each in current(intake)} == {
        "The crane lifts four tonnes.",
        "The office closes at noon on Fridays.",
    }


def test_what_is_known_of_a_file_outlives_the_index(
    tmp_path: Path, intake: IngestContext, stores: Stores
) -> None:
    ingest_document(intake, written(NOTE))
    fresh = IngestContext(reopened(stores, tmp_path / "home", without_index=True))

    done = ingest_document(fresh, written(NOTE.replace("four tonnes", "nine tonnes")))

    assert (done.kept, len(done.revised)) == ([], 1)
    assert len(current(fresh)) == 4


def test_a_secret_in_a_note_is_never_written(tmp_path: Path, intake: IngestContext) -> None:
    done = ingest_document(intake, written("The server is old.\n\nDB_PASSWORD=hunter2-and-more\n"))

    [memory] = current(intake)
    assert "DB_PASSWORD=[redacted password]" in memory.content
    assert done.redacted == 1
    ingest_document(intake, written("The server is new.\n\nDB_PASSWORD=hunter2-and-more\n"))
    intake.stores.journal.flush()
    files = [each for each in (tmp_path / "home").rglob("*") if each.is_file()]
    assert not any(b"hunter2" in each.read_bytes() for each in files)


def test_a_dry_run_of_a_file_changes_nothing(intake: IngestContext) -> None:
    ingest_document(intake, written(NOTE))
    before = vault_bytes(intake.stores)

    done = ingest_document(
        intake, written(NOTE.replace("four", "nine") + "\n## New\n\nA new pier.\n"), dry_run=True
    )

    assert (len(done.found), len(done.revised), done.kept) == (1, 1, [])
    assert vault_bytes(intake.stores) == before
    assert len(ingest_document(intake, written(NOTE)).kept) == 0


def test_a_file_with_more_sections_than_it_may_have_says_so(intake: IngestContext) -> None:
    intake.config = replace(IngestConfig(), memories_per_file=5)
    many = "\n".join(f"## Pier {n}\n\nPier {n} has {n} lamps. {'x' * 200}\n" for n in range(12))

    done = ingest_document(intake, written(many))

    assert (len(done.kept), done.held_back) == (5, 7)


def test_a_text_from_nowhere_is_kept_once(intake: IngestContext) -> None:
    ingest_document(intake, written("The lighthouse blinks twice.", uri=None))
    done = ingest_document(intake, written("The lighthouse blinks twice.", uri=None))

    assert done.kept == []
    [memory] = current(intake)
    assert memory.origin is None


# -- files with the same words ---------------------------------------------------------------

SAME = "The office closes at noon on Fridays."
CHANGED = "The office closes at four on Fridays."


@pytest.fixture
def twins(intake: IngestContext, tmp_path: Path) -> tuple[str, str]:
    """Two files that say the same, and were taken in."""
    one, two = ((tmp_path / name) for name in ("one.md", "two.md"))
    for path in (one, two):
        path.write_text(SAME, encoding="utf-8")
        ingest_document(intake, written(SAME, path.as_uri()))
    assert [each.content for each in current(intake)] == [SAME], "kept once"
    return one.as_uri(), two.as_uri()


def said(intake: IngestContext) -> list[str]:
    return sorted(each.content for each in current(intake))


@pytest.mark.parametrize("which", [0, 1])
def test_what_two_files_say_stays_when_one_of_them_changes(
    intake: IngestContext, twins: tuple[str, str], which: int
) -> None:
    ingest_document(intake, written(CHANGED, twins[which]))
    assert said(intake) == [CHANGED, SAME]

    ingest_document(intake, written(SAME, twins[1 - which]))
    [left] = [each for each in current(intake) if each.content == SAME]
    assert left.origin is not None
    assert left.origin.uri == twins[1 - which]
    ingest_document(intake, written(CHANGED.replace("four", "five"), twins[which]))
    assert said(intake) == [CHANGED.replace("four", "five"), SAME]


def test_what_two_files_say_is_retired_when_neither_says_it(
    intake: IngestContext, twins: tuple[str, str]
) -> None:
    ingest_document(intake, written("Ask Bertha about the crane.", twins[0]))
    ingest_document(intake, written("The pier is green.", twins[1]))

    assert said(intake) == ["Ask Bertha about the crane.", "The pier is green."]


def test_what_two_files_say_stays_when_one_of_them_is_deleted(
    intake: IngestContext, twins: tuple[str, str], tmp_path: Path
) -> None:
    intake.config = replace(intake.config, deleted_files="retire")
    (tmp_path / "one.md").unlink()
    assert retire_deleted_document(intake, twins[0]) == []
    assert said(intake) == [SAME]

    (tmp_path / "two.md").unlink()
    assert len(retire_deleted_document(intake, twins[1])) == 1
    assert said(intake) == []


def test_a_file_that_was_away_has_its_own_words_when_it_is_back(
    intake: IngestContext, twins: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "two.md").rename(tmp_path / "unplugged")
    ingest_document(intake, written(CHANGED, twins[0]))
    (tmp_path / "unplugged").rename(tmp_path / "two.md")

    ingest_document(intake, written(SAME, twins[1]))

    assert said(intake) == [CHANGED, SAME]


def test_two_sections_with_the_same_words_are_changed_one_by_one(intake: IngestContext) -> None:
    note = f"# Port\n\n{LONG}\n\n## North\n\n{SAME}\n\n## South\n\n{SAME}\n"
    ingest_document(intake, written(note))

    ingest_document(intake, written(note.replace(SAME, CHANGED, 1)))

    assert said(intake) == sorted([LONG.strip(), CHANGED, SAME])
