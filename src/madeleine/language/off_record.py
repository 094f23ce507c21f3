"""What a person does not want kept: "off the record", "don't remember this", "keep it between us",
and what stands between `<private>` and `</private>`.

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
_NOT_TO_KEEP = (
    rf"(?:remember|memori[sz]e)\s+(?:{_THIS}|it){_END}",
    rf"(?:remember|memori[sz]e)\s+{_SAID}\b",
    rf"(?:save|store|record|keep|log|persist)\s+{_THIS}{_END}",
    rf"(?:save|store|record|keep|log|remember)\s+(?:{_THIS}|it),? but\b",
    rf"(?:save|store|record|keep|write|put)\s+(?:{_THIS}|it)\s+(?:down )?"
    r"(?:anywhere|in any)\b",
    rf"(?:write|note|take|jot)\s+(?:{_THIS}|it)\s+down\b",
    rf"(?:save|store|keep|put|record|note|add|write)\s+(?:{_THIS}|it)\s+"
    rf"(?:in|to|into|as)\s+{_MEMORY}",
)
_SAID_AT_START = (
    rf"(?:keep|leave)\s+(?:{_THIS}|it)\s+out of\s+{_MEMORY}",
    r"(?:strictly |totally |completely )?off the record\b",
    rf"keep (?:{_THIS}|it) between {_US}\b",
    rf"(?:just |strictly )?between {_US}(?:\s*[:,–—]|\s+-\s)",
    r"merk(?:e)? dir (?:das|dies|das hier) (?:bitte )?nicht\b",
    r"(?:das|dies|das hier) (?:bitte )?nicht (?:merken|speichern|aufschreiben)\b",
    r"(?:das|dies) bleibt unter uns\b",
    r"(?:ganz |nur )?unter uns(?:\s*[:,–—]|\s+-\s)",
    r"(?:speicher|merk|notier|schreib)e?(?: dir)? (?:das|dies"
    r"|das hier) (?:bitte )?"
    r"(?:nicht|nirgends|nirgendwo)\b",
    r"no (?:guardes|recuerdes|anotes|apuntes|memorices|lo guardes|lo apuntes)"
    r"(?: (?:esto|eso|nada de esto))?\b",
    r"(?:esto |eso )?(?:queda |que quede )?entre (?:nosotros|tú y yo)\b",
    r"ne (?:retiens|garde|note|mémorise|sauvegarde|enregistre) pas (?:ça|ceci"
    r"|cela)\b",
    r"(?:ça |cela )?(?:reste )?entre nous\b(?=\s*[:,.!–—]|\s*$)",
    r"non (?:salvare|ricordare|memorizzare|annotare) (?:questo|quello)\b",
    r"(?:resti )?(?:questo )?(?:resta )?tra (?:noi|me e te)\b(?=\s*[:,.!–—]|\s*$)",
    r"não (?:guardes?|salves?|anotes?|memorizes?|lembres?) (?:isto|isso)\b",
    r"(?:fica )?(?:só )?entre nós\b(?=\s*[:,.!–—]|\s*$)",
    r"(?:dit|dat) (?:alsjeblieft )?niet (?:opslaan|onthouden|bewaren|noteren)\b",
    r"(?:onthoud|bewaar|noteer) (?:dit|dat) (?:alsjeblieft )?niet\b",
    r"nie (?:zapisuj|zapamiętuj|zapamiętaj|notuj) (?:tego|tej|tych)\b",
    r"(?:to )?(?:zostaje )?między nami\b(?=\s*[:,.!–—]|\s*$)",
    r"не (?:запоминай|сохраняй|записывай)(?:те)? (?:это|этого)\b",
)
_SAID_ANYWHERE = (
    r"\b(?:this|that|it|everything|all (?:of )?this)"
    r"(?:'s| is| was| stays| should (?:be|stay))"
    r"\s+(?:strictly |totally |completely |all )?(?:off the record|not for the record)\b",
    rf"\b(?:this|that|it|everything)(?:'s| is| stays| remains| should stay)\s+"
    rf"(?:just |strictly )?between {_US}\b",
    r"(?:これ|このこと)は(?:覚えないで|保存しないで|記録しないで)",
    r"(?:不要|别|別|请勿)(?:记住|記住|保存|记录|記錄)(?:这|這|此)",
)
_ASKS = compile_late(
    # What they begin with stands once: it is looked for at every character.
    rf"{_START}(?:{_NOT}(?:{'|'.join(_NOT_TO_KEEP)})|{'|'.join(_SAID_AT_START)})"
    rf"|{'|'.join(_SAID_ANYWHERE)}",
    re.IGNORECASE,
)
_PRIVATE = compile_late(r"<\s*private\s*>.*?(?:<\s*/\s*private\s*>|\Z)", re.IGNORECASE | re.DOTALL)
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


def strip_private(text: str) -> str:
    """Return a text without what stands between `<private>` and `</private>`. What is opened and
    never closed is private to the end."""
    return _PRIVATE.sub(" ", text) if "<" in text else text


def holds_private(text: str) -> bool:
    """Whether something in a text is marked as private."""
    return strip_private(text) != text


def asks_not_to_remember(message: str) -> bool:
    """Whether a message asks that what it says is not kept."""
    return _ASKS.search(_straighten_apostrophes(message)) is not None


def takes_back(message: str) -> bool:
    """Whether a message asks that what was said before it is not kept."""
    return _TAKES_BACK.search(_straighten_apostrophes(message)) is not None


def _straighten_apostrophes(message: str) -> str:
    return message.replace("\u2019", "'")
