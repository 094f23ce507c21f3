"""Whether a text says itself that it holds on a branch: `on this branch the cache is off`.

Only what names the branch, or what it becomes, as the place where something holds. Most of what is
said while somebody works on a branch is true of the project, or of its author, and stays there.
"""

from __future__ import annotations

import re

from madeleine.language.late_pattern import compile_late

READ_CHARS = 2_000
_KIND = r"(?:feature|topic|bug ?fix|git|working|feature-|topic-)"
_SAYS_BRANCH = compile_late(
    "|".join(
        (
            rf"\b(?:on|in|for|within) (?:this|the current|my current|our) (?:{_KIND}[ -]?)?"
            r"(?:branch|worktree|pull request|merge request|PR|MR)\b",
            r"\buntil (?:this|the|it'?s|it is|we)(?: \w+){0,3} (?:is |gets )?(?:merged|merge)\b",
            r"\b(?:auf|in|für) (?:diesem|diesen|dem aktuellen|unserem) (?:\w+-)?"
            r"(?:branch|zweig|PR)\b",
            r"\b(?:sur|dans|pour) (?:cette|la) branche\b(?! (?:main|master))",
            r"\ben (?:esta|la) rama\b(?! (?:main|master))",
            r"\b(?:su|in|per) questo (?:branch|ramo|PR)\b",
            r"\b(?:neste|nesta|nessa|nesse) (?:branch|ramo|PR)\b",
            r"\b(?:op|in|voor) deze (?:\w+-)?(?:branch|tak|PR)\b",
            r"\bna (?:tej|tym) (?:gałęzi|branchu|branch'u)\b",
            r"\b(?:в|на) (?:этой|данной) ветк[еу]\b",
            r"(?:在)?(?:这个|本|当前|该)分支",
            r"(?:この|今の)ブランチ",
        )
    ),
    re.IGNORECASE,
)


def speaks_of_branch(text: str) -> bool:
    """Whether a text says that it is about the branch that is worked on."""
    return _SAYS_BRANCH.search(text[:READ_CHARS]) is not None
