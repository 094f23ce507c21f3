"""The tables of names and their classes: every line is sound, and terms have their kin."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from importlib.resources import files

import pytest

from madeleine.language.thesaurus import (
    COMMON_WORDS,
    EVERYDAY_TABLES,
    NAMES_AS_CLASSES,
    TRADE_TABLES,
    Kin,
    KinLink,
    TermEntry,
    TermTable,
    Thesaurus,
    extend_thesaurus,
    load_tables,
    load_thesaurus,
    member_factor,
    normalize_term,
    term_forms,
)
from madeleine.language.user_terms import parse_user_terms

LEAST_NAMES = 4_000
LOADING_SECONDS = 0.5  # 0.05 to 0.09 of processor time where two cores do the work of five


def table_lines(name: str) -> list[str]:
    text = files("madeleine.language").joinpath("terms", f"{name}.txt").read_text("utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def all_entries() -> list[TermEntry]:
    return [entry for table in load_tables() for entry in table.entries()]


def kin_of(term: str, is_name: bool = False) -> dict[str, Kin]:
    return {each.text: each for each in all_kin(load_thesaurus(), term, is_name)}


def all_kin(thesaurus: Thesaurus, term: str, is_name: bool = False) -> list[Kin]:
    ties = thesaurus.find_kin(term, is_name).ties
    return [thesaurus.write_kin(key, tie) for key, tie in ties.items()]


# --- the tables -------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [*TRADE_TABLES, *EVERYDAY_TABLES])
def test_every_line_has_a_name_and_classes(table: str) -> None:
    for line in table_lines(table):
        name, others, classes = (part.strip() for part in line.split("|"))
        assert name, line
        assert "," not in name, line
        assert all(each.strip() for each in classes.split(",")), line
        assert not others or all(each.strip() for each in others.split(",")), line


def test_there_are_enough_names() -> None:
    trade, everyday = load_tables()

    assert len(trade) + len(everyday) == sum(map(len, map(table_lines, _all_tables())))
    assert len({entry.names[0].key for entry in all_entries()}) >= LEAST_NAMES


def _all_tables() -> tuple[str, ...]:
    return (*TRADE_TABLES, *EVERYDAY_TABLES)


def test_no_name_stands_twice() -> None:
    names = Counter(entry.names[0].text for entry in all_entries())

    assert [name for name, count in names.items() if count > 1] == []


def test_names_that_differ_only_in_case_mean_different_things() -> None:
    """`parquet` is a floor and `Parquet` a file format; two lines on one thing belong together."""
    senses = defaultdict(list)
    for entry in all_entries():
        senses[entry.names[0].text.casefold()].append({each.key for each in entry.classes})

    assert [
        name for name, found in senses.items() if len(found) > 1 and set.intersection(*found)
    ] == []


def test_only_what_has_no_other_class_has_itself() -> None:
    for entry in all_entries():
        classes = [each.key for each in entry.classes]
        assert entry.names[0].key not in classes or len(classes) == 1, entry


def test_every_entry_has_a_class_that_says_something() -> None:
    for entry in all_entries():
        assert entry.classes, entry
        assert all(each.key for each in (*entry.names, *entry.classes)), entry


def test_every_key_is_that_of_its_text() -> None:
    """The tables are normalized as a whole, a question word by word."""
    wrong = [
        each
        for entry in all_entries()
        for each in (*entry.names, *entry.classes)
        if normalize_term(each.text) != each.key
    ]

    assert wrong == []


def test_the_tables_are_loaded_quickly() -> None:
    load_tables.cache_clear()
    begun = time.process_time()

    load_tables()

    assert time.process_time() - begun < LOADING_SECONDS


def test_names_that_are_classes_are_common_words() -> None:
    assert NAMES_AS_CLASSES <= COMMON_WORDS


# --- looking up -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("term", "kin", "link"),
    [
        ("linter", "Ruff", KinLink.MEMBER),
        ("linters", "ESLint", KinLink.MEMBER),
        ("formatter", "Ruff", KinLink.MEMBER),
        ("ruff", "linter", KinLink.CLASS),
        ("job queue", "arq", KinLink.MEMBER),
        ("background jobs", "Celery", KinLink.MEMBER),
        ("fly io", "hosting", KinLink.CLASS),
        ("hosting", "Fly.io", KinLink.MEMBER),
        ("hosted", "Fly.io", KinLink.MEMBER),
        ("metformin", "diabetes", KinLink.CLASS),
        ("diabetes", "metformin", KinLink.MEMBER),
        ("medicine", "metformin", KinLink.MEMBER),
        ("glucophage", "metformin", KinLink.OTHER_NAME),
        ("k8s", "Kubernetes", KinLink.OTHER_NAME),
        ("kubernetes", "k8s", KinLink.OTHER_NAME),
        ("postgres", "PostgreSQL", KinLink.OTHER_NAME),
        ("postgresql", "postgres", KinLink.OTHER_NAME),
        ("database", "postgres", KinLink.MEMBER),
        ("databases", "MySQL", KinLink.MEMBER),
        ("painkiller", "ibuprofen", KinLink.MEMBER),
        ("tylenol", "paracetamol", KinLink.OTHER_NAME),
        ("cpp", "C++17", KinLink.OTHER_NAME),
        ("dotnet", "C#", KinLink.MEMBER),
        ("vacuum cleaner", "Dyson", KinLink.MEMBER),
        ("board game", "Catan", KinLink.MEMBER),
        ("message queue", "RabbitMQ", KinLink.MEMBER),
        ("error tracking", "Sentry", KinLink.MEMBER),
        ("supplement", "magnesium", KinLink.MEMBER),
        ("ci", "Jenkins", KinLink.MEMBER),
        ("pick", "choose", KinLink.OTHER_NAME),
        ("picked", "choose", KinLink.OTHER_NAME),
        ("doctor", "physician", KinLink.OTHER_NAME),
        ("car", "Skoda", KinLink.MEMBER),
        ("profit", "EBITDA", KinLink.MEMBER),
    ],
)
def test_a_term_has_its_kin(term: str, kin: str, link: KinLink) -> None:
    assert kin_of(term)[kin].tie.link is link


def test_members_of_one_class_are_no_kin() -> None:
    assert "ESLint" not in kin_of("ruff")


def test_a_term_is_no_kin_of_itself() -> None:
    assert "Kubernetes" not in kin_of("kubernetes")
    assert "linter" not in kin_of("linters")


def test_what_stands_in_no_table_has_no_kin() -> None:
    assert kin_of("xyzzy") == {}
    assert load_thesaurus().select_known(["xyzzy", "linters", "plugh"]) == ["linters"]


@pytest.mark.parametrize("word", ["rust", "apple", "windows", "react", "notion", "stripe"])
def test_a_common_word_is_a_name_only_where_it_is_written_so(word: str) -> None:
    as_name = {text for text, kin in kin_of(word, is_name=True).items() if not kin.tie.everyday}

    assert as_name
    assert as_name.isdisjoint(kin_of(word))


@pytest.mark.parametrize(
    "word", ["go", "swift", "r", "c", "make", "box", "word", "spring", "black"]
)
def test_no_word_makes_a_sentence_one_about_programming(word: str) -> None:
    classes = {each.key for each in kin_of(word).values() if each.tie.link is KinLink.CLASS}

    assert "programming language" not in classes


def test_homonyms_are_told_apart_by_their_capital() -> None:
    assert "columnar" not in kin_of("parquet")
    assert "floor" in kin_of("parquet")
    assert "columnar" in kin_of("parquet", is_name=True)


def test_a_name_that_is_a_common_word_is_less_sure() -> None:
    tracking = kin_of("error tracking")

    assert tracking["Sentry"].tie.strength < tracking["Rollbar"].tie.strength


def test_a_class_of_many_members_means_each_of_them_less() -> None:
    assert member_factor(3) == 1
    assert 1 > member_factor(50) > member_factor(500) > 0.5


@pytest.mark.parametrize(
    ("term", "key"),
    [
        ("C++", "cpp"),
        ("C#", "csharp"),
        (".NET", "dotnet"),
        ("Fly.io", "fly io"),
        ("De'Longhi", "de longhi"),
        ("  two   words ", "two words"),
        ("Ölwechsel", "ölwechsel"),
        ("a|b,c", "a b c"),
        ("", ""),
    ],
)
def test_a_key_is_words_in_lower_case(term: str, key: str) -> None:
    assert normalize_term(term) == key


@pytest.mark.parametrize(
    ("key", "form"),
    [
        ("linters", "linter"),
        ("linter", "linters"),
        ("batteries", "battery"),
        ("switches", "switch"),
        ("hosted", "host"),
        ("hosted", "hosting"),
        ("baked", "bake"),
        ("planning", "plan"),
        ("picked up", "pick up"),
        ("went with", "go with"),
    ],
)
def test_a_term_is_found_in_other_forms(key: str, form: str) -> None:
    assert form in term_forms(key)


@pytest.mark.parametrize("key", ["status", "glass", "analysis", "as"])
def test_what_only_ends_like_a_plural_stays(key: str) -> None:
    assert not any(len(form) < len(key) for form in term_forms(key))


# --- lines of the user's ----------------------------------------------------------------------


def test_lines_are_entries_removals_or_neither() -> None:
    text = """
# Our words

Bramble | BRM, the bramble | warehouse system, stock
* Thistle: label printer
- Quill | | pen
- Ruff
just a sentence
two, names: class
| | class
Name | |
---
"""
    read = parse_user_terms(text)

    assert [line.split(" |")[0] for line in read.entries] == ["Bramble", "Thistle", "Quill"]
    assert read.removed == ("Ruff",)
    assert read.unreadable == ("just a sentence", "two, names: class", "| | class", "Name | |")


def test_any_text_can_be_read() -> None:
    for text in ("", "|", "||", "a|b", "a|b|c|d", ":", ": x", "-", "\x00|\x00|\x00", "é: ü"):
        extend_thesaurus((text,)).find_kin("x")


def test_own_entries_stand_beside_the_shipped_ones() -> None:
    own = extend_thesaurus(("Bramble | BRM | linter",))
    linters = {each.text for each in all_kin(own, "linter")}

    assert {"Bramble", "BRM", "Ruff"} <= linters
    assert {each.text for each in all_kin(own, "brm")} == {"Bramble", "linter"}


def test_an_own_entry_replaces_the_shipped_one_of_that_name() -> None:
    own = extend_thesaurus(("ruff: dog",))

    assert {each.text for each in all_kin(own, "ruff")} == {"dog"}
    assert "Ruff" not in {each.text for each in all_kin(own, "linter")}


def test_a_shipped_entry_can_be_left_out() -> None:
    own = extend_thesaurus(("- Ruff",))

    assert all_kin(own, "ruff") == []


def test_an_empty_table_has_nothing() -> None:
    assert len(TermTable("")) == 0
    assert Thesaurus([TermTable("")]).find_kin("linter").ties == {}
    assert Thesaurus([TermTable("")]).select_known(["linter"]) == []
