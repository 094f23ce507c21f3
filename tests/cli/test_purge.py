"""`madeleine purge`: asks, removes for good, and gives a receipt."""

from __future__ import annotations

from tests.cli.running import Cli

TIDES = "tides turn twice a day"


def test_purge_wants_to_be_meant(cli: Cli) -> None:
    memory = cli.remember(TIDES)
    cli.ok("forget", memory)

    ran = cli("purge", memory[:8])

    assert ran.code == 2
    assert "no way back" in ran.err
    assert "--yes" in ran.err
    assert cli("list", "--trash").out.startswith("1 forgotten memory")


def test_purge_tells_what_it_removed_where(cli: Cli) -> None:
    memory, other = cli.remember(TIDES), cli.remember("boats wait for slack water")
    cli.ok("forget", memory)

    ran = cli("purge", memory[:8], "--yes")

    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "purged 1 memory for good"
    assert lines[1].split("  ")[1:] == [memory, TIDES]
    assert "files          1 removed" in ran.out
    assert "embeddings     1 removed" in ran.out
    assert [each["id"] for each in cli.ok("list")["memories"]] == [other]
    assert cli("restore", memory).code == 3


def test_all_of_the_trash_goes_and_the_receipt_is_a_document(cli: Cli) -> None:
    for text in (TIDES, "boats wait for slack water"):
        cli.ok("forget", cli.remember(text))

    receipt = cli.ok("purge", "--all", "--yes")

    assert receipt["removed"]["files"] == len(receipt["memories"]) == 2
    left = {"connections": 0, "journal_lines": 0, "memories": [], "merged_into": []}
    assert receipt["left"] == left
    assert cli.ok("list", "--trash")["memories"] == []


def test_purge_names_who_took_over_what_was_merged_away(cli: Cli) -> None:
    kept, gone = cli.remember("boats wait for slack water"), cli.remember(TIDES)
    cli.ok("merge", kept, gone, "--content", f"boats wait, since {TIDES}")

    ran = cli("purge", gone, "--yes")

    assert f"  merged into    {kept}  boats wait, since" in ran.out
    assert "these may still say it: `madeleine forget ID`" in ran.out


def test_nothing_named_or_not_in_the_trash_is_refused(cli: Cli) -> None:
    memory = cli.remember(TIDES)

    assert cli("purge", "--yes").code == 2
    assert cli("purge", memory, "--all", "--yes").code == 2
    assert cli("purge", memory, "--yes").code == 3
    assert len(cli.files) == 1


def test_the_relevance_of_a_memory_is_shown_in_words(cli: Cli) -> None:
    memory = cli.remember(TIDES)
    assert "relevance" not in cli("show", memory).out

    cli.ok("consolidate", "decay")

    assert "relevance   1.00, high" in cli("show", memory).out
    assert "relevance 1.00, high" in cli("recall", "when do tides turn", "--explain").out
