"""What a person does not want kept: "off the record", "don't remember this", "keep it between us".

Only what is said to whoever listens: "I don't remember this function" tells of the speaker's own
memory, "don't store this file in S3" and "never save passwords" are about the work. Where the two
cannot be told apart, not keeping costs less than keeping.
"""

from __future__ import annotations

import re

from madeleine.language.late_pattern import compile_late

_START = r"(?:^|[.!?;:,(\n–—-]\s*|\b(?:please|pls|just|ok|okay|also|bitte)\s+)"
_NOT = (
    r"(?:don'?t|do not|never|no need to|you (?:don'?t|do not) (?:need|have) to"
    r"|you (?:should|must)(?:n'?t| not)|(?:can|could) you (?:please )?not)\s+(?:ever |please )?"
)
_PART = r"(?:\s+(?:conversation|chat|message|prompt|exchange|session|part|bit|one))?"
_SAID = r"what i(?:'ve| have)?(?: just)? (?:said|told|wrote|written|typed|mentioned)"
_THIS = rf"(?:(?:this|that){_PART}|any of (?:this|that|it)|a word of (?:this|that)|{_SAID})"
_END = r"(?=\s*(?:$|[.,;:!?)(\n–—-]|please\b|pls\b|anywhere\b|at all\b|ok\b|okay\b))"
_MEMORY = r"(?:your |the |any |my |long[- ]term )*(?:memory|memories|notes|madeleine)\b"
_US = r"(?:us|you and me|the two of us)"
_ASKS = compile_late(
    "|".join(
        (
            rf"{_START}{_NOT}(?:remember|memori[sz]e)\s+(?:{_THIS}|it){_END}",
            rf"{_START}{_NOT}(?:remember|memori[sz]e)\s+{_SAID}\b",
            rf"{_START}{_NOT}(?:save|store|record)\s+{_THIS}{_END}",
            rf"{_START}{_NOT}(?:write|note|take|jot)\s+(?:{_THIS}|it)\s+down\b",
            rf"{_START}{_NOT}(?:save|store|keep|put|record|note|add|write)\s+(?:{_THIS}|it)\s+"
            rf"(?:in|to|into|as)\s+{_MEMORY}",
            rf"{_START}(?:keep|leave)\s+(?:{_THIS}|it)\s+out of\s+{_MEMORY}",
            rf"{_START}(?:strictly |totally |completely )?off the record\b",
            r"\b(?:this|that|it|everything|all (?:of )?this)"
            r"(?:'s| is| was| stays| should (?:be|stay))"
            r"\s+(?:strictly |totally |completely |all )?(?:off the record|not for the record)\b",
            rf"\b(?:this|that|it|everything)(?:'s| is| stays| remains| should stay)\s+"
            rf"(?:just |strictly )?between {_US}\b",
            rf"{_START}keep (?:{_THIS}|it) between {_US}\b",
            rf"{_START}(?:just |strictly )?between {_US}(?:\s*[:,–—]|\s+-\s)",
            rf"{_START}merk(?:e)? dir (?:das|dies|das hier) (?:bitte )?nicht\b",
            rf"{_START}(?:das|dies|das hier) (?:bitte )?nicht (?:merken|speichern|aufschreiben)\b",
            rf"{_START}(?:das|dies) bleibt unter uns\b",
            rf"{_START}(?:ganz |nur )?unter uns(?:\s*[:,–—]|\s+-\s)",
        )
    ),
    re.IGNORECASE,
)
_TAKES_BACK = compile_late(
    "|".join(
        (
            rf"{_START}(?:you can )?forget\s+{_SAID}\b",
            rf"{_START}(?:you can )?forget\s+(?:that )?i(?: just| ever)?\s+"
            r"(?:said|told|wrote|mentioned|asked)\b",
            rf"{_START}{_NOT}(?:remember|memori[sz]e)\s+(?:{_SAID}|that){_END}",
            rf"{_START}vergiss,? was ich (?:gerade |eben )?(?:gesagt|geschrieben)\b",
        )
    ),
    re.IGNORECASE,
)


def asks_not_to_remember(message: str) -> bool:
    """Whether a message asks that what it says is not kept."""
    return _ASKS.search(_straighten_apostrophes(message)) is not None


def takes_back(message: str) -> bool:
    """Whether a message asks that what was said before it is not kept."""
    return _TAKES_BACK.search(_straighten_apostrophes(message)) is not None


def _straighten_apostrophes(message: str) -> str:
    return message.replace("\u2019", "'")
