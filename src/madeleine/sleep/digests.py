"""Whether a digest stands for its members: a text for several memories that goes in their place, or
before them, has to say every fact of theirs.

This is the one place that answers it. It goes by words: a fact is told where all tokens of its
sentence stand in a row. Whoever knows more than words (that `leaves at nine` says `departs at
9:00`) is to be asked here. The model that reads two notes together does not: of members whose every
fact stands in a digest it takes one in eleven for the same as it, and most for something else.
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.language.extracts import find_untold_sentences, is_member_alone
from madeleine.model.memory import Memory
from madeleine.model.verdict import Synthesis


def find_untold_facts(told: Synthesis, members: Sequence[Memory]) -> list[str]:
    """Return the facts of the members that a digest leaves out, as they put them."""
    return find_untold_sentences(f"{told.title}\n{told.content}", members)


def stands_for_all(told: Synthesis, members: Sequence[Memory]) -> bool:
    """Whether a digest says every fact of its members, and is not just what one of them says."""
    return not find_untold_facts(told, members) and not is_member_alone(told.content, members)
