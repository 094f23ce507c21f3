"""What a memory without a title is called."""

from __future__ import annotations

import pytest

from madeleine.model.memory import first_words


@pytest.mark.parametrize(
    ("content", "called"),
    [
        ("```\nmake soak\n```", "make soak"),
        ("```python\nprint(1)\n```\nafter it", "print(1)"),
        ("~~~ sh\nls\n~~~", "ls"),
        ("***\n\n> ---\n\nAfter a rule", "After a rule"),
        ("|---|:-:|\n| a | b |", "| a | b |"),
        ("===\n# Heading", "Heading"),
        ("```make soak``` runs for hours", "```make soak``` runs for hours"),
        ("🙂\nsmile", "🙂"),
        ("42\nis the answer", "42"),
        ("```\n```", "``` ```"),
        ("___", "___"),
        ("", ""),
    ],
)
def test_it_is_called_by_the_first_line_that_has_words(content: str, called: str) -> None:
    assert first_words(content) == called


def test_a_line_of_a_megabyte_of_marks_is_quickly_passed() -> None:
    assert first_words("`" * 1_000_000 + "\nwords") == "words"
    assert first_words("`" * 1_000_000 + "a b").startswith("```")
