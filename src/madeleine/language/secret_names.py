"""Secrets that are told by their name: `password = …`, `the token is …`, `--api-key …`.

A name is found first, then what stands behind it is judged (`secret_values`). All names are
looked for in the text in small letters; where case matters, the text itself is asked.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from madeleine.language.late_pattern import compile_late
from madeleine.language.secret_values import (
    SecretCandidate,
    SecretNotation,
    SecretSpan,
    is_jumbled,
    is_mixed,
    is_name,
    is_placeholder,
    is_secret,
    looks_random,
)

NEAR_CHARS = 40  # between a word that speaks of a secret and a string that may be it
MIXED_CHARS = 20  # from which a string of letters and digits may be one
AFTER_CHARS = 60  # of what follows a value; enough for the next word
LOOKS_BEFORE_SKIP = 4  # into what was no secret, for the name of another one: `token: password: …`

_CHOSEN = (
    r"pass(?:words?|wd|wort|wörter|phrase|code)|psswd|pswd|kennwort|contraseña|mot de passe|pwd"
    r"|wachtwoord|senha|hasło|lösenord|adgangskode|salasana|пароль|密码|密碼|口令|パスワード|비밀번호"
    r"|wpa[_-]?psk|psk"
)
_NAME = compile_late(
    rf"(?:{_CHOSEN}|pass|pw|secret(?:[_-]?(?:access[_-]?)?key)?|token|credentials?"
    r"|connection[_-]?string|keys?|auth(?==))(?=[\s\"'`\\\]*_,(\[:：=?+!→⇒➜⟶是は为為-])"
)
_CHOSEN_NAME = compile_late(rf"{_CHOSEN}|pass|pw")
_KIND_OF = compile_late(  # what stands before `key` and `token`, if it is one word with them
    r"(?:(?P<key>api|app|access|private|signing|encryption|account|auth|master|service|subscription"
    r"|storage|shared|preshared|secretaccess|license|consumer|webhook|server|admin|function)[_ -]?"
    r"|(?P<token>access|auth|refresh|bearer|id|session|api|bot|csrf|deploy|user|sas|client))$"
)
KIND_CHARS = 16  # of the longest of these
_PHRASE = r"(?:seed|recovery|mnemonic|pass|backup|secret recovery)[ _-]?phrase|mnemonic"

_ABOUT = (  # `password for the database`, `password (staging)`
    r"(?:[ \t]?[(\[][^()\[\]\n]{1,30}[)\]]"
    r"|\s(?:for|of|to|on|at|in|für|de|pour|para|von)\s[^\n:=.,;|]{1,40}?)?"
)
_ASSIGNS = (
    r"[ \t]{0,20}(?:(?<=[ \t])is[ \t]?)?(?::=|\?=|\+=|=>|[=!]==?|=|:|：)[*_]{0,3}[ \t]{0,20}"
    r"(?:\r?\n[ \t]{0,40}(?=[\"']))?"
)
_SPEAKS = (
    r"\s{1,3}(?:(?:(?:is|was|has been)\s)?(?:changed|set|reset|updated)\sto|is|was|ist|lautet|war"
    r"|es|est|era|jest|är|to|will be|equals)"
    r"(?:\s(?:now|still|currently|just|jetzt|simply))?:?\s{1,3}"
    r"|\s{0,2}[是は为為]\s{0,2}|\s{0,3}(?:→|-{1,2}>|⇒|➜|⟶)\s{0,3}|\s{1,2}[–—-]\s{1,2}"
)
_PAIRS = (  # `{"name": "DB_PASSWORD", "value": "…"}`, `setenv("DB_PASSWORD", "…")`
    r"[\"']?[\s,]{1,40}[\"']?value[\"']?\s{0,3}[:=]\s{0,3}"
)
_SIGN = compile_late(
    rf"(?P<pair>{_PAIRS}|[\"'],\s{{0,3}}(?=[\"']))"
    rf"|(?:\\?[\"'`]\]?|\]|[*_]{{1,3}})?{_ABOUT}"
    rf"(?:(?P<assigns>{_ASSIGNS})|(?P<speaks>{_SPEAKS})|(?P<shows>(?<=\w)\s(?=[\"'`])))"
)
_BLOCK = compile_late(
    r"[|>][+-]?\d?[ \t]{0,8}\r?\n(?P<indent>[ \t]{1,20})"
    r"(?P<value>\S[^\n]{0,4000}(?:\r?\n(?P=indent)[^\n]{1,4000}){0,60})"
)
_QUOTED = compile_late(
    r"(?:[rbfu]{1,2}(?=[\"']))?(?P<quote>\"\"\"|'''|\\?[\"'`])(?:\r?\n)?"
    r"(?P<value>(?:(?!(?P=quote))(?:\\.|[^\n])){1,4000}+)\n?(?P=quote)",
    re.I,
)
_TYPESET = compile_late(r"[“„«‘](?P<value>[^\n“”„«»‘’]{1,400})[”“»’]")
_RUN = re.compile(r"[\"'`]?(?P<value>[^\s\"'`]\S{0,3999}+)")
_FORMS = {"|": _BLOCK, ">": _BLOCK, **dict.fromkeys("“„«‘", _TYPESET)}
_ENDS = compile_late(  # where a value is over, and what it stands in goes on
    r"[\"'`](?=[\s,;:.)}\]>|]|$)|[,;&|](?=$|[\s\"'{]|[\w.$-]{1,40}[=:])|&amp;|</[a-z]|<(?:br|p|div|span|td|li|code|pre|b|em|strong)\b|\\[nrt\"']"
    r"|[,.;:]+$|[`|]$",
    re.I,
)
_CLOSERS = {")": "(", "]": "[", "}": "{", ">": "<"}


class SecretName(NamedTuple):
    """The name of a secret in a text."""

    word: str
    start: int
    end: int
    by_hand: bool
    outright: bool
    """Whether it has no other meaning, as `key` has."""


_CLOSER = compile_late(r"[)\]}>]")


def find_by_name(text: str, low: str) -> Iterator[SecretSpan]:
    """Yield where a secret is named and then told."""
    yield from _find_behind_names(text, low)
    yield from _find_seed_phrases(low)
    yield from _find_by_flag(text, low)
    yield from _find_used_as(text, low)
    yield from _find_nearby(text, low)


def _find_behind_names(text: str, low: str) -> Iterator[SecretSpan]:
    """Look behind each name. What was no secret is looked into for other names, but not for ever:
    a text of nothing but names would take long."""
    place, looks = 0, 0
    for found in _NAME.finditer(low):
        if found.start() < place or (name := _read_name(text, low, found)) is None:
            continue
        span, end = _find_secret_after(text, low, name)
        looks = 0 if span else looks + 1
        if span is not None:
            yield span
        if span is not None or looks % LOOKS_BEFORE_SKIP == 0:
            place = end


def _read_name(text: str, low: str, found: re.Match[str]) -> SecretName | None:
    """Return the whole name, if one begins here: `compass` has no `pass`. But whatever ends in
    `password` is one."""
    word, start = found[0], found.start()
    ours = word.startswith(("passw", "passp"))
    kind = None if ours else _KIND_OF.search(low, max(0, start - KIND_CHARS), start)
    if kind is not None and word.rstrip("s") in ("key", "token") and kind[word.rstrip("s")]:
        start = kind.start()
    if not (ours or _is_word_start(text, start)) or _is_in_redaction(text, start):
        return None
    outright = start < found.start() or word not in _AMBIGUOUS
    return SecretName(word, start, found.end(), _is_chosen_name(word), outright)


_AMBIGUOUS = ("key", "keys", "auth", "pass", "pw")


@functools.lru_cache(maxsize=64)
def _is_chosen_name(word: str) -> bool:
    return _CHOSEN_NAME.fullmatch(word) is not None


def _is_word_start(text: str, start: int) -> bool:
    before = text[start - 1 : start] if start else ""
    if not (before.isascii() and before.isalpha()):
        return True
    return text[start].isupper() and before.islower()


def _is_in_redaction(text: str, place: int) -> bool:
    """Whether a name stands in the mark that was put in the place of a secret."""
    return text.startswith("[redacted ", max(0, place - len("[redacted ")))


def _find_secret_after(text: str, low: str, name: SecretName) -> tuple[SecretSpan | None, int]:
    """Return the secret behind a name, if there is one, and where its value ends."""
    sign = _SIGN.match(low, name.end)
    if sign is None:
        return _find_beside(text, low, name)
    value = _match_value(text, sign.end())
    if value is None:
        return None, name.end
    start, end = _value_bounds(value)
    told = _build_candidate(text, name, sign, value, (start, end))
    if not (_name_fits(low, name, sign, told) and is_secret(told)):
        return None, value.end()
    return SecretSpan(start, end, _secret_kind(name)), end


def _secret_kind(name: SecretName) -> str:
    return "password" if name.by_hand else "token"


def _match_value(text: str, place: int) -> re.Match[str] | None:
    form = _FORMS.get(text[place : place + 1], _QUOTED)
    return form.match(text, place) or _RUN.match(text, place)


def _value_bounds(value: re.Match[str]) -> tuple[int, int]:
    """Return where a value begins and ends; one without quotes ends before what closes or
    follows it, but not at each bracket or comma: a password may have them."""
    start, end = value.span("value")
    if value.re is not _RUN:
        return start, end
    word = value["value"]
    word = word[: over.start()] if (over := _ENDS.search(word)) and over.start() else word
    return start, start + len(_cut_at_closer(word))


def _cut_at_closer(word: str) -> str:
    """Cut a word where a bracket closes that was not opened in it, and the sentence or the call
    goes on behind it."""
    if not _CLOSER.search(word):
        return word
    depth = dict.fromkeys(_CLOSERS.values(), 0)
    for place, letter in enumerate(word):
        if letter in depth:
            depth[letter] += 1
        elif letter in _CLOSERS:
            depth[_CLOSERS[letter]] -= 1
            if depth[_CLOSERS[letter]] < 0 and place and _ends_value(word[place + 1 : place + 2]):
                return word[:place]
    return word


def _ends_value(following: str) -> bool:
    return following in ("", ".", ",", ";", ":", ")", "]", "}", ">", '"', "'", "`", "?")


def _build_candidate(
    text: str, name: SecretName, sign: re.Match[str], value: re.Match[str], bounds: tuple[int, int]
) -> SecretCandidate:
    start, end = bounds
    return SecretCandidate(
        value=text[start:end].partition("\n")[0],
        raw=value["value"],
        after=text[end : end + AFTER_CHARS].partition("\n")[0],
        how=_find_notation(text, name, sign),
        by_hand=name.by_hand,
        quoted=value.re is not _RUN and sign["shows"] is None,
        is_secret_by_name="secret" in name.word,
    )


def _find_notation(text: str, name: SecretName, sign: re.Match[str]) -> SecretNotation:
    if sign["assigns"] is None:
        return SecretNotation.SPOKEN
    is_large = text[name.start : name.end].isupper()
    return (
        SecretNotation.ENVIRONMENT
        if sign["assigns"] == "=" and is_large
        else SecretNotation.ASSIGNED
    )


def _name_fits(low: str, name: SecretName, sign: re.Match[str], told: SecretCandidate) -> bool:
    """Whether a name that has other meanings too has this one here."""
    if sign["pair"] is not None and "value" not in sign["pair"]:
        return is_mixed(told.plain)
    if name.outright:
        return True
    after_a_word = low[name.start - 1 : name.start] in ("_", "-") if name.start else False
    if name.by_hand:
        return sign["assigns"] is not None and (after_a_word or _is_strong(told.plain))
    long_enough = len(told.plain) >= KEY_CHARS and sign["assigns"] is not None
    return after_a_word and long_enough and looks_random(told.plain) and _is_one_word(told.plain)


def _is_one_word(value: str) -> bool:
    return re.fullmatch(r"[\w+/=.~:$!-]+", value) is not None


KEY_CHARS = 16  # of what is only named a key
STRONG_CHARS = 8
_STRONG = compile_late(r"(?=.*\d)(?=.*[A-Za-z])(?=.*[A-Z]|.*[^\w./:-]).*", re.S)


def _is_strong(word: str) -> bool:
    return len(word) >= STRONG_CHARS and _STRONG.fullmatch(word[:AFTER_CHARS]) is not None


# -- without `=` or `is` -------------------------------------------------------------------

_PHRASES = compile_late(
    rf"(?:{_PHRASE})s?[\"']?\s{{0,3}}(?:[:=]|\bis\b)\s{{0,3}}[\"'`]?"
    r"(?P<value>[a-z]{3,10}(?:[ ,-]{1,2}[a-z]{3,10}){3,24})(?![ ,-]?\w)"
)
_SAYS = compile_late(
    r"\b(?:the|is|are|and|for|you|your|must|not|should|can|will|was|has|have|with|from|that|this"
    r"|required|when|used|never|least|words|characters|long)\b"
)


def _find_seed_phrases(low: str) -> Iterator[SecretSpan]:
    """Yield phrases of words that were drawn, and say nothing."""
    for found in _PHRASES.finditer(low):
        if not _SAYS.search(found["value"]):
            yield SecretSpan(*found.span("value"), "password")


_FLAG = compile_late(
    r"(?<![\w-])-{1,2}(?P<flag>[a-z][\w.-]{0,60}+)(?:[ \t]{1,3}|=)"
    r"(?=[\"']?(?P<value>(?!-)[^\s\"'`]{3,4000}))"
)
_CHOSEN_FLAG = compile_late(r"(?:.*[.-])?(?:pass(?:word|wd|phrase|code)?|pwd|pw)")
_DRAWN_FLAG = compile_late(r".*(?:token|secret(?:-key)?|api-?key|access-?key|authkey)")


def _find_by_flag(text: str, low: str) -> Iterator[SecretSpan]:
    """Yield what a command is given by a flag."""
    for found in _FLAG.finditer(low):
        start = found.start("value")
        value = text[start : found.end("value")].rstrip(".,;:)")
        by_hand = _CHOSEN_FLAG.fullmatch(found["flag"]) is not None
        if not (by_hand or _DRAWN_FLAG.fullmatch(found["flag"])) or is_placeholder(value):
            continue
        if (
            is_mixed(value) or value.isdigit()
            if by_hand
            else is_mixed(value) and not is_name(value)
        ):
            yield SecretSpan(start, start + len(value), "password" if by_hand else "token")


_BESIDE = compile_late(
    r"[ \t]{1,3}(?:[05-9][ \t])?(?P<value>(?=[^\s\"'`]{0,60}\d)[^\s\"'`|=]{6,200}+)"
)
_SHORT_NAME = compile_late(r"passwd|pwd|pw|psk")


def _find_beside(text: str, low: str, name: SecretName) -> tuple[SecretSpan | None, int]:
    """Return what stands right behind a name: `user ana passwd …`."""
    found = _BESIDE.match(low, name.end)
    if found is None or not (name.outright or name.by_hand):
        return None, name.end
    start = found.start("value")
    value = text[start : found.end()].rstrip(".,;:!?)")
    if is_placeholder(value) or not _stands_out(low, name, value):
        return None, name.end
    return SecretSpan(start, start + len(value), _secret_kind(name)), start + len(value)


def _stands_out(low: str, name: SecretName, value: str) -> bool:
    if any(each in value for each in "/(){}") or not is_mixed(value) or "." in value[-5:-1]:
        return False
    if _SHORT_NAME.fullmatch(name.word) and _is_inside_a_line(low, name.start):
        return True
    if low[name.start - 1 : name.start] == "_" and "_" not in value:
        return True
    return is_jumbled(value)


def _is_inside_a_line(low: str, place: int) -> bool:
    """At the beginning of a line, `passwd ana2` is a command."""
    before = low[max(0, place - AFTER_CHARS) : place].rpartition("\n")[2]
    return before.strip(" \t$#>`") not in ("", "sudo")


_USED_AS = compile_late(
    r"(?:use|using|enter|type|try|set|with)[ \t][\"'`]?(?P<value>[^\s\"'`]{4,80})[\"'`]?[ \t]as"
    rf"[ \t](?:(?:the|my|your|our|a|its)[ \t])?(?:\w{{1,20}}[ \t])?(?:{_CHOSEN})"
    r"(?!\s(?:hash|manager|stor|generat|polic))"
)


def _find_used_as(text: str, low: str) -> Iterator[SecretSpan]:
    for found in _USED_AS.finditer(low):
        value = text[slice(*found.span("value"))]
        if is_mixed(value) and not is_placeholder(value):
            yield SecretSpan(*found.span("value"), "password")


# -- somewhere near ------------------------------------------------------------------------

_LONG = compile_late(
    rf"(?<![\w/.+=-])(?=[a-z+/_=-]{{0,200}}\d)(?P<value>[a-z0-9+/_=-]{{{MIXED_CHARS},}}+)(?![\w/.+-])"
)
_SPOKEN_OF = compile_late(
    rf"(?<![a-z])(?:{_CHOSEN}|secret|(?:access|auth|api|refresh|bot)?[_ -]?token|credentials?"
    r"|(?:api|app|access|private|secret|signing|encryption|account|master|storage|license)"
    r"[_ -]?keys?)(?![a-z])"
)
_EXPLAINED = compile_late(
    r"\b(?:commit|sha(?:-?\d+)?|hash|digest|checksum|revision|rev|etag|uuid|guid|branch|tag|file"
    r"|path|test|id|md5|fingerprint|public|integrity)\b"
)
_COMMIT = compile_late(r"[0-9a-f]{40}")
_PLACED = compile_late(r"\b(?:in|at|by|since|from|see|before|after|until)\s+$")


def _find_nearby(text: str, low: str) -> Iterator[SecretSpan]:
    """Yield what a machine drew, where the words before speak of a secret and nothing else."""
    for found in _LONG.finditer(low):
        start, end = found.span("value")
        before = low[max(0, start - NEAR_CHARS - KIND_CHARS) : start].rpartition("\n")[2]
        if _is_spoken_of(before, found["value"]) and looks_random(text[start:end]):
            yield SecretSpan(start, end, "token")


def _is_spoken_of(before: str, value: str) -> bool:
    name = _SPOKEN_OF.search(before)
    if name is None or "[redacted" in before or _EXPLAINED.search(before, name.start()):
        return False
    return not (_COMMIT.fullmatch(value) and _PLACED.search(before))
