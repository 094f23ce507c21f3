"""What somebody typed in a conversation, sentence by sentence, without what only keeps it going.

People type without capitals, with several thoughts in a line, with `ok`, `hm` and `lol` between
them. Code, quotations, tables and headings are nobody's words and are left out. A value that is
corrected in the same breath ("30 days. no, sorry, 45") is told as it is meant in the end
(`spoken_corrections.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from madeleine.language.late_pattern import compile_late
from madeleine.language.spoken_corrections import settle_corrections

_FENCE = compile_late(r"^\s*(```|~~~)")
_NOT_SPOKEN = compile_late(r"^(?: {4}|\t|\s*(?:>|\||\$ |#|//|<|\{|@@|[+-]{3} ))")
_BULLET = compile_late(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_BETWEEN = compile_late(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<=[.!?…])\s+|(?<=[。！？])")
_ABBREVIATED = (
    "".join(
        rf"(?<!\b{each}\.)"
        for each in [
            "dr",
            "mr",
            "ms",
            "mrs",
            "st",
            "prof",
            "nr",
            "ca",
            "cf",
            "ch",
            "sra",
            "sr",
            "min",
            "max",
            "approx",
            "vs",
            "e.g",
            "i.e",
            "z.b",
            "u.a",
        ]
    )
    .replace("e.g", r"e\.g")
    .replace("i.e", r"i\.e")
    .replace("z.b", r"z\.b")
    .replace("u.a", r"u\.a")
)
_MONTHS = (  # before which a dot belongs to the day: `am 18. Mai`
    "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
)
_IN_GENERAL = (
    r"in (?:the )?future|in general|from now on|generally|one (?:more )?thing"
    r"|grunds[äa]tzlich|in zukunft|künftig|ab jetzt|en el futuro|en general|a partir de ahora"
    r"|à l'avenir|à partir de maintenant"
)
_BETWEEN_THOUGHTS = compile_late(
    rf"{_ABBREVIATED}(?<=[.!?…])[\"']?\s+(?!(?:{_MONTHS})\b)(?![^()]{{0,80}}\))|(?<=[。！？])"
    rf"|,?\s+(?=(?:oh )?(?:and|und|y|et) (?:{_IN_GENERAL})\b)|\s*;\s+|\s+[–—]\s+",
    re.I,
)
_MEMORIES = compile_late(
    r"\s*#{0,4}\s*(?:[\w']+ ){0,3}(?:memor(?:y|ies)|whispers)\b[^.!?]{0,40}:\s*$", re.I
)
_QUOTATION = compile_late(  # longer than a name or a remark: somebody else's words
    r"(?<!\w)(?:'[^'\n]{0,20}[^\n]{100,2000}'|\"[^\"\n]{100,2000}\"|„[^“]{100,2000}“|«[^»]{100,2000}»)(?!\w)"
)
_TRACE = compile_late(
    r"\S+[:!]+\S*\(.*\)|.*\b(?:0x[0-9a-f]{4,}|line \d+\s*$)|\s*at \S+\(|[\w-]+: \S+$|(?:GET|POST"
    r"|PUT|PATCH|DELETE) /|\d{3} in \d",
    re.I,
)
_ITEM = compile_late(r"\s*(?:[-*•]|\d{1,2}[.)])\s+\S|\s+\S")


def split_written(text: str) -> Iterator[str]:
    """Give the sentences of a text; code, quotations, tables and headings are nobody's words."""
    for line in select_spoken_lines(text):
        yield from (each.strip() for each in _BETWEEN.split(line))


def select_spoken_lines(text: str) -> Iterator[str]:
    """Give the lines that somebody typed, without the bullets of a list."""
    fenced = whispered = False
    for line in _QUOTATION.sub(" ", text).splitlines():
        whispered = _MEMORIES.match(line) is not None or (
            whispered and _ITEM.match(line) is not None
        )
        if _FENCE.match(line):
            fenced = not fenced
        elif not (fenced or whispered or _NOT_SPOKEN.match(line) or _TRACE.match(line)):
            yield _BULLET.sub("", line)


def split_spoken(text: str) -> list[str]:
    """Return the sentences of a message, each without what it opens and closes with."""
    thoughts = [each for line in select_spoken_lines(text) for each in split_thoughts(line)]
    meant = settle_corrections([each for each in thoughts if strip_fillers(each)])
    return [plain for each in meant if (plain := strip_fillers(each))]


def split_thoughts(line: str) -> list[str]:
    """Return what a line says, thought by thought."""
    return [each.strip() for each in _BETWEEN_THOUGHTS.split(line) if each.strip()]


# -- what only keeps a conversation going --------------------------------------------------

_OPENERS = (
    r"ok(?:ay|ey)?|o?kay|ah|aha|oh|ooh|yes+|yep|yup|yeah|no+|nope|nah|nooo|hm+|mm+|uh|um|erm?|ehm|äh|ähm"
    r"|well|so|right|good|fine|great|lovely|super|perfect|nice|ugh|argh|lol|haha+|please|pls|btw"
    r"|by the way|sorry|phew|wait|hang on|hold on|now|je+z|god|oh god|exactly|agreed|sure|of course"
    r"|true|honestly|look|listen|anyway|also|fair|fair enough|understood|thanks|thank you|hey"
    r"|hello|hi|morning|good morning|actually|one (?:more )?thing|oh and|and|but|then|aye|cool"
    r"|great stuff"
    r"|yes please|no no|no thanks|not quite|almost|done|there it is|thats? it then|ja|nein|nee?"
    r"|doch"
    r"|genau|gut|also|naja|na ja|ach|ach so|ach ja|ach wichtig|übrigens|bitte|danke|stimmt|eben|so"
    r"|und|aber|klar|prima|moment|warte|sí|si|no|vale|bueno|pues|claro|venga|perdona|perdón|oye"
    r"|gracias|genial|exacto|por cierto|ah sí|y|pero|oui|non|ouais|bon|alors|d'accord|nickel|top"
    r"|merci|parfait|voilà|au fait|ah oui|et|mais|attends|tak|nie|dobrze|dobra|sim|não|pois|sì"
    r"|va bene|allora|ja hoor|prima|oké|salut|excuse me|haha no|nah|bonjour|hola|hallo|moin|cześć"
    r"|ciao|olá|correction|korrektur|corrección|that'?s (?:wrong|not right|not true)|that is wrong"
    r"|my mistake|my bad|i was wrong|scratch that|falsch|das (?:stimmt nicht|ist falsch)"
    r"|mein fehler|entschuldigung|disculpa|eso está mal|está mal|me equivoqué|c'est faux"
    r"|je me suis trompée?"
)
_OPENING = compile_late(
    rf"(?:(?:{_OPENERS})(?:\s*[,.!:…]+\s*|\s+-+\s+|\s*$)"
    r"|(?:ok(?:ay)?|ah|oh|so|well|also|btw|by the way|please|pls|and|but|oh and|hm+|anyway|und"
    r"|aber|also|ach"
    r"|übrigens|pues|bueno|por cierto|alors|bon|au fait|et|mais|y|pero|yeah|ugh|nice one)\s+)+",
    re.I,
)
_CLOSING = compile_late(
    r"(?:[\s,.!(]*(?:\b(?:please|pls|plz|lol|haha+|hehe|ok(?:ay)?|mind you|you know|i guess|btw"
    r"|by the way"
    r"|thanks|thx|though|of course|bitte|danke|oder so|halt|vale|por favor|gracias|merci|stp|svp"
    r"|voilà|quoi|dude|mate|man)\b|:-?[)(DP/]|;-?\)|<3|\^\^|xd\b)[\s).!]*)+$",
    re.I,
)
_REPEATED = compile_late(r"([!?.])\1+")


def strip_fillers(sentence: str) -> str:
    """Return a sentence without `ok, `, `hm. ` and the like at its ends."""
    whole = sentence.strip()
    opening = _OPENING.match(whole)
    plain = _CLOSING.sub("", whole[opening.end() :] if opening else whole)
    plain = _REPEATED.sub(r"\1", plain)
    return plain.strip().strip("-–—,:;").strip()
