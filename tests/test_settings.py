"""Settings: what they take, and how they say what they do not."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

import madeleine
from madeleine.bootstrap import load_settings
from madeleine.errors import BadSetting
from madeleine.minds.judges.completion_protocols import PROTOCOL_BY_PROVIDER
from madeleine.model.setting import setting_specs
from madeleine.rules.relevance import RelevanceFormula
from madeleine.settings import Settings, list_settings, read_settings

WHISPER = Settings().whisper
FACTS = setting_specs(WHISPER)
NUMBERS = [each.name for each in fields(WHISPER) if each.type not in ("bool", "str")]
SHARES = [name for name, each in FACTS.items() if (each.least, each.most) == (0, 1)]


def bounds_of(name: str) -> tuple[float, float]:
    """Return the least and the most that a setting of [whisper] takes."""
    facts = FACTS[name]
    assert facts.least is not None
    assert facts.most is not None
    return facts.least, facts.most


def said(name: str, value: object) -> str:
    """Return what is said to a value in config.toml."""
    with pytest.raises(BadSetting) as caught:
        read_settings({"whisper": {name: value}}, {})
    return caught.value.message


@pytest.mark.parametrize("name", NUMBERS)
def test_a_negative_number_is_refused_with_the_key_the_value_and_the_range(name: str) -> None:
    value = type(getattr(WHISPER, name))(-1)

    message = said(name, value)

    least, most = bounds_of(name)
    assert message == (
        f"setting `whisper.{name}` is {value!r}; it takes a number from {least:g} to {most:,g}"
        if most < 1_000_000
        else f"setting `whisper.{name}` is {value!r}; it takes a number from {least:g} to 1,000,000"
    )


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("value", [1.01, float("nan"), float("inf"), -0.001])
def test_a_share_above_one_and_no_number_are_refused(name: str, value: float) -> None:
    message = said(name, value)

    assert f"`whisper.{name}` is {value!r};" in message
    assert message.endswith("it takes a number from 0 to 1")


def test_every_number_has_a_range_that_holds_its_default() -> None:
    assert len(SHARES) == 9
    for name in NUMBERS:
        least, most = bounds_of(name)
        assert least <= getattr(WHISPER, name) <= most, name


@pytest.mark.parametrize(("name", "text"), [("holdout", "nan"), ("token_budget", "-5")])
def test_the_environment_is_held_to_the_same(name: str, text: str) -> None:
    with pytest.raises(BadSetting, match=rf"whisper\.{name}"):
        read_settings({}, {f"MADELEINE_WHISPER_{name.upper()}": text})


def test_no_number_is_refused_where_there_is_no_range_either() -> None:
    with pytest.raises(BadSetting, match=r"write\.link_threshold` is nan; it takes a number"):
        read_settings({}, {"MADELEINE_WRITE_LINK_THRESHOLD": "nan"})


def test_the_ends_of_a_range_are_inside_it() -> None:
    read = read_settings({"whisper": {"injection_gate": 1, "holdout": 0, "deadline_ms": 1}}, {})

    assert (read.whisper.injection_gate, read.whisper.deadline_ms) == (1.0, 1)


# -- words ---------------------------------------------------------------------------------

WORDS = {
    "consolidation.formula": "document or floored",
    "embedder.kind": "local, english, openai, fake or none",
    "ingest.deleted_files": "keep or retire",
    "ingest.exchanges": "fallback, always or never",
    "ingest.extractor": "local, llm, agent or none",
    "judge.kind": "local, llm or agent",
    "judge.relations": "built-in or none",
    "judge.provider": "openai or anthropic",
    "judge.unasked": "never, told or sure",
    "sleep.lifecycle": "exponential or fsrs",
    "store.truth": "files or database",
    "whisper.guard": "whisper or ask",
    "write.approval": "none or agents",
}


@pytest.mark.parametrize("name", WORDS)
def test_a_word_that_a_setting_does_not_know_is_refused_with_those_it_does(name: str) -> None:
    section, _, key = name.partition(".")

    with pytest.raises(BadSetting) as caught:
        read_settings({section: {key: "moon"}}, {})

    assert caught.value.message == f"setting `{name}` is 'moon'; it takes {WORDS[name]}"


def test_every_setting_that_takes_words_is_held_to_them() -> None:
    taking = {each.name: each.facts.among for each in list_settings({}, {}) if each.facts.among}

    assert set(taking) == set(WORDS)
    assert taking["judge.provider"] == tuple(PROTOCOL_BY_PROVIDER)
    assert taking["consolidation.formula"] == tuple(RelevanceFormula)


def test_a_type_that_nobody_knows_is_refused_when_the_settings_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text(
        '[consolidation]\nprotected_types = "Decision, Rumour"\n', encoding="utf-8"
    )

    with pytest.raises(BadSetting, match=r"names 'Rumour'; it takes fact, decision, .*insight"):
        load_settings(tmp_path)

    monkeypatch.setenv("CONSOLIDATION_PROTECTED_TYPES", "Decision, insight, GOAL,")
    assert load_settings(tmp_path).consolidation.protected_types == "Decision, insight, GOAL,"


# -- where the memory is kept --------------------------------------------------------------


def test_a_store_can_be_named_in_one_line() -> None:
    table = {"store": "postgresql://db/one", "graph": "falkordb://db", "vectors": "qdrant://db"}

    store = read_settings(table, {}).store

    assert (store.url, store.graph, store.vectors) == tuple(table.values())
    assert (store.tenant, store.truth) == ("home", "files")


def test_the_environment_names_a_store_over_the_file() -> None:
    table = {"store": {"url": "postgresql://db/one", "truth": "database"}}
    short = {"MADELEINE_STORE": "postgresql://db/two"}
    long = {**short, "MADELEINE_STORE_URL": "postgresql://db/three"}

    assert read_settings(table, short).store.url == "postgresql://db/two"
    assert read_settings(table, short).store.truth == "database"
    assert read_settings(table, long).store.url == "postgresql://db/three"


def test_a_store_that_is_neither_a_line_nor_a_table_is_refused() -> None:
    with pytest.raises(BadSetting, match="`store` is not a table"):
        read_settings({"store": 5}, {})
    with pytest.raises(BadSetting, match="`graph` is not a section"):
        read_settings({"graph": 5}, {})


def test_an_address_in_a_list_is_refused_and_not_told() -> None:
    with pytest.raises(BadSetting) as caught:
        read_settings({"store": {"url": ["postgresql://me:wonderland@here/none"]}}, {})

    assert caught.value.message == "setting `store.url` is a list; it takes a str"


# -- declared once -------------------------------------------------------------------------


def test_every_setting_is_declared_once() -> None:
    """A field of a section that is declared with its help is a setting, and nothing repeats its
    default: who goes by it is given the section itself."""
    root = Path(madeleine.__file__).parent
    declared = [
        f"{node.target.id} = {ast.unparse(node.value)}"
        for file in root.rglob("*.py")
        if re.search(r"= (?:setting|advanced)\(", text := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) in ("setting", "advanced")
    ]

    assert len(declared) == len(list_settings({}, {}))


def test_some_settings_are_documented_and_all_others_stand_under_advanced() -> None:
    page = (Path(__file__).parents[1] / "docs" / "reference" / "settings.md").read_text("utf-8")
    common, _, advanced = page.partition("## [advanced]")

    for each in list_settings({}, {}):
        line = f"| `{each.name.partition('.')[2]}` |"
        assert line in (advanced if each.facts.is_advanced else common), each.name
    assert 50 <= common.count("\n| `") <= 70
