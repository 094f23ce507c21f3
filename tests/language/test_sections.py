"""A text in sections: nothing lost, nothing twice, names that stay."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.sections import SECTION_CHARS, split_sections

FILLER = "A line that says something about the harbour.\n" * 30


def test_a_short_text_is_one_section_under_its_first_heading() -> None:
    [section] = split_sections("# Harbour\n\nOpen all day.\n")

    assert section.headings == ("Harbour",)
    assert section.text == "# Harbour\n\nOpen all day."


def test_headings_nest_and_code_has_none() -> None:
    text = f"{FILLER}\n# A\n\none\n\n## B\n\ntwo\n\n```\n# no heading\n```\n\n# C\n\nthree\n"

    found = {each.name: each.text for each in split_sections(text)}

    assert found[""] == FILLER.strip()
    assert found["A"] == "one"
    assert found["A › B"] == "two\n\n```\n# no heading\n```"
    assert found["C"] == "three"


def test_sections_of_the_same_name_are_numbered() -> None:
    text = f"# Log\n\n{FILLER}\n## Monday\n\none\n\n## Monday\n\ntwo\n"

    assert [each.name for each in split_sections(text)] == [
        "Log",
        "Log › Monday",
        "Log › Monday (2)",
    ]


def test_a_long_section_is_cut_between_paragraphs() -> None:
    paragraph = "word " * 200
    found = split_sections("\n\n".join([paragraph] * 20))

    assert len(found) > 1
    assert all(len(each.text) <= SECTION_CHARS for each in found)
    assert all(each.text.count("word") % 200 == 0 for each in found)


@given(st.text(alphabet="ab #\n`~", max_size=2_000))
def test_every_section_says_something_and_every_name_is_its_own(text: str) -> None:
    found = split_sections(f"{FILLER}\n{text}")

    names = [(each.headings, each.part) for each in found]
    assert len(set(names)) == len(names)
    assert all(each.text.strip() for each in found)
