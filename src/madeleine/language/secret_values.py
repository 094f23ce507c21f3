"""Whether a word is a secret, once something before it says that it may be one.

A password that somebody chose may be any word, so it is one unless it shows that it is not: a
placeholder, a type, a piece of code, the first word of a sentence. A token that a machine drew has
letters and digits in no order that a name has. What stands in quotes is no code.
"""

from __future__ import annotations

import bisect
import enum
import itertools
import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from madeleine.language.late_pattern import compile_late

CHOSEN_CHARS = 4  # a password somebody chose is no shorter
JUMBLED_CHARS = 6
DRAWN_CHARS = 8  # a token somebody drew is no shorter
SHUFFLED_CHARS = 16  # from which letters alone may be one
ENTROPY_BITS = 3.2  # for each character; words have less, what a machine drew has more
MOST_SLASHES = 2  # in what base64 makes of 30 bytes; a path has more
LOOKED_CHARS = 400  # of a value; what is longer is no placeholder
JUMBLED_CHANGES = 3  # between letters and digits; a name with a number has one or two


class SecretSpan(NamedTuple):
    """Where a secret stands, and what it is."""

    start: int
    end: int
    kind: str


def is_inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a place lies in one of the spans, which stand in their order."""
    before = bisect.bisect_right(spans, (place, sys.maxsize)) - 1
    return before >= 0 and place < spans[before][1]


class SecretNotation(enum.Enum):
    """How a secret is told."""

    ENVIRONMENT = "environment"
    """`DB_PASSWORD=…`: whatever stands there is meant as it stands."""
    ASSIGNED = "assigned"
    """`password = …`: a value, or a name of one."""
    SPOKEN = "spoken"
    """`the password is …`: it, or what somebody says of it."""


class SecretCandidate(NamedTuple):
    """What stands behind the name of a secret."""

    value: str
    raw: str
    """The value with what follows it up to the next space."""
    after: str
    """What follows the value in its line."""
    how: SecretNotation
    by_hand: bool
    """Whether somebody chose it, as a password."""
    quoted: bool = False
    is_secret_by_name: bool = False
    """Whether the name says `secret`, which may be drawn or chosen."""

    @property
    def plain(self) -> str:
        """The value without what ends a sentence."""
        return self.value.strip().rstrip(".,;:!?")


def is_secret(told: SecretCandidate) -> bool:
    """Whether a secret is told, and not its type, its place or its absence."""
    if is_placeholder(told.value.strip()) or is_placeholder(told.plain.strip("*_")):
        return False
    if not told.quoted and _is_code(told):
        return False
    return _is_chosen_password(told) if told.by_hand else _is_random_token(told)


# -- no secret at all ----------------------------------------------------------------------

_FILLERS = (
    r"your|my|the|some|example|dummy|fake|test|testing|sample|own|new|old|insert|replace|change|put"
    r"|enter|add|super|real|actual|with|goes|here|me|it|in|this|passwords?|passphrase|passwd|pass|pw"
    r"|pwd|secrets?|tokens?|api|keys?|value|string|access|auth|client|user|foo|bar|baz|qux|placeholder|passwort|kennwort|contraseña|wachtwoord"
)
_WORDS = (
    r"str|string|text|bytes|int|integer|bool|boolean|none|null|nil|undefined|true|false|required"
    r"|optional|any|unknown|empty|missing|redacted|hidden|masked|secretstr|see|use|set|get|env|from"
    r"|todo|tbd|changeme|changeit|invalid|expired|wrong|correct|valid|stored|kept|read|sent|needed|not"
    r"|too|a|an|the|in|on|at|for|to|it|no|yes|used|only|never|always|generated|rotated|broken|varchar"
    r"|char|number|object|array|float|date|datetime|uuid|json|char\[\]|option|some|default|blank|same"
    r"|above|below|ask|known|shared|protected|disabled|enabled|supported|weak|strong|okay|forgotten"
    r"|forgot|changed|denied|accepted|rejected|reset|deprecated|removed|rotating|plaintext|plain"
    r"|hashed|hash|encrypted|encoded|raw|input|param|arg|args|val|new|await|lambda|function|if|when"
    r"|must|should|can|may|will|and|or|but|with|without|via|by|of|is|are|was|be|as|that|which|this"
    r"|these|those|all|each|every|both|one|two|min|max|minimum|maximum|least|most|length|nothing"
    r"|something|everything|anything|please|enter|choose|pick|type|types|field|label|name|prompt"
    r"|mindestens|mínimo|mínima|minimo|minstens|minst|минимум|vergessen|geändert|falsch|unbekannt|leer|keins|keine|kein|pflichtfeld|notwendig|erforderlich"
    r"|ungültig|abgelaufen|gesperrt|verweigert|siehe|ist|wird|wurde|nicht|oublié|requis|obligatoire"
    r"|vide|olvidada|requerido|obligatorio|vacío|ninguna|flag|option|argument|parameter|instead|file"
    r"|stdin|then|also|there|here|because|so|than|into|out|off|up|pending|ok|success|failed|failure"
    r"|error|warning|n/a|username|bearer|basic|digest|keyring|keychain|vault|self|const|let|var|return|throw"
)
_PLACEHOLDER = compile_late(
    r"\[redacted.*|<[a-z/!%?|].*|.*<[a-z][\w .-]{2,40}>.*|.*\{\{.*"
    r"|[{(\[][^{}()\[\]]*[})\]]?[,;:.)}\]]*"
    r"|[{(\[][\w.]*[})\]]\D*|.*\{\w*\}.*\{\w*\}.*|%\w*%|%[sdvq]|%\(.*|@\w+@|#\{.*|.*\$[{(\[].*|\$(?:[a-z_]+\d?|\d)[)}\],;]*"
    r"|\$\w*(?:->|\[|::|\.|:).*|.*(?:\*{3}|\.{3}|…|x{4}|•{3}|●{3}|_{4}).*|[*x•●.\-_?#~=|/]+"
    rf"|(?:(?:{_FILLERS})[-_ ./]?){{1,8}}\d?|(?:{_WORDS})[.,;:!?|)]*"
    r"|(?:str|string|text|bytes|int|bool|none|any|option(?:al)?)[|?\[<(,;].*"
    r"|[&*]{1,2}[a-z]+[,;)]*|!(?:secret|vault|ref|sub|getatt|env|env_var|include|join|importvalue|file)\b.*|enc\[.*|(?:op|vault|ssm|file|env|keyring|secretsmanager|https?|arn|awskms|gcpkms|sops):.*"
    r"|[\w.-]{1,60}::.*|/(?:\D*|.*/.*)|~/.*|\.{1,2}/.*|[a-z]:\\.*|\\[sdwbn(].*",
    re.I | re.S,
)


def is_placeholder(value: str) -> bool:
    """Whether it stands where a secret would, and tells none."""
    return _PLACEHOLDER.fullmatch(value[:LOOKED_CHARS]) is not None


_HINT = compile_late(
    r"info|index|obj|list|dict|map|tuple|pair|pass|passwd|password|passwords|passphrase|passwort|pwd|pw|secret|secrets|token|tokens"
    r"|key|keys|hash|hashed|cred|creds|credential|credentials|user|username|db|env|config|cfg"
    r"|conf|settings|input|raw|plain|new|old|current|value|val|param|params|arg|args|field"
    r"|default|auth|form|data|result|text|str|string|opts|options|state|ctx|context|req|request"
    r"|res|response|body|self|this|props|var|vars|local|random|generate|generated|get|read|load"
    r"|fetch|ask|prompt|login|account|session|client|server|id|name|url|path|file|api|app"
    r"|service|encrypted|decrypted|encoded|salt|digest|cookie|header|headers|payload|schema"
    r"|model|type|validator|required|process|os|import|environ|row|record|item|entry|node|event"
    r"|msg|message|cleaned|validated|manager|provider",
    re.I,
)
_IDENTIFIER = compile_late(
    r"[$@&*]?[A-Za-z_]+\d?(?:[.-][A-Za-z_]+\d?|\?\.[A-Za-z_]+|->[A-Za-z_]+)*\d?"
)
_PIECE = compile_late(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CALL = compile_late(
    r"[&*@!]?[A-Za-z_][\w.$:]*[(\[<{](?:[^!#%^~;]*[)\]>}](?:\.[A-Za-z_].*|[)\]}>;,:?!]*)"
    r"|[\w.,:\"'*&$@/=(\[-]*)"
    r"|[A-Za-z_][\w.]*\([rbf]{0,2}[\"'].*",
    re.S,
)
_KEY = compile_late(r"[\"']?[A-Za-z_-]+[\"']?:")


def _is_code(told: SecretCandidate) -> bool:
    """Whether it is a call, a key or the name of something that holds the secret."""
    if told.how is SecretNotation.ENVIRONMENT:
        return False
    raw = told.raw[:LOOKED_CHARS]
    if _CALL.fullmatch(raw) or _KEY.fullmatch(raw):
        return True
    return is_identifier(told.plain)


def is_identifier(word: str) -> bool:
    """Whether somebody who writes programs would have named something so."""
    if not _IDENTIFIER.fullmatch(word):
        return False
    pieces = _PIECE.findall(word)
    return len(pieces) > 1 and any(_HINT.fullmatch(each) for each in pieces)


# -- passwords -----------------------------------------------------------------------------

_TECHNICAL = compile_late(
    r"(?:base(?:32|58|64)|sha-?\d|md[45]|aes|utf-?(?:8|16)|pbkdf2|argon2|bcrypt|scrypt|hmac|oauth|rsa"
    r"|x509|pkcs|http|ipv?[46]|s3|k8s|i18n|[23]fa|mfa|totp|saml|sso|ldap|kerberos|1password|keepass|nist"
    r"|rfc|iso|cve|gpt|v\d)(?:[-_./,\d]|encoded|encrypted|hashed|id\b|s\b|hash|url|\W|$)[\w./-]*",
    re.I,
)
_SENTENCE = compile_late(
    r"\b(?:the|is|are|your|you|must|please|enter|invalid|wrong|required|least|characters?|pass(?:word|wort"
    r"|phrase)s?|token|secret|not|no|to|a|an|for|of|and|or|bitte|eingeben|muss|der|die|das|ein|eine)\b"
    r"|[.?!:]$|…",
    re.I,
)
_UNITS = compile_late(
    r"\s{0,2}(?:characters?|chars?|bytes?|bits?|days?|hours?|minutes?|months?|years?|times?|digits?"
    r"|letters?|symbols?|words?|attempts?|zeichen|tage|stunden|stellen|caract|users?|of\b|or more)",
    re.I,
)
_GOES_ON = compile_late(r"[,;]?[ \t]+[^\W\d_][\w'’-]*(?![\w'’-]*\s{0,2}[:=])", re.I)
_LETTERS = compile_late(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def _is_chosen_password(told: SecretCandidate) -> bool:
    plain = told.plain
    if len(plain) < CHOSEN_CHARS or _is_technical(told):
        return False
    if " " in plain:
        return told.how is not SecretNotation.SPOKEN and not _SENTENCE.search(plain)
    if told.how is SecretNotation.SPOKEN:
        return (told.quoted or is_mixed(plain) or _is_number(told)) and not _is_measure(told)
    return not _is_measure(told) and not _begins_a_sentence(told)


def _is_technical(told: SecretCandidate) -> bool:
    """Whether it is the name of a method or of a standard, as in `password: bcrypt`."""
    outright = told.quoted or told.how is SecretNotation.ENVIRONMENT
    return not outright and _TECHNICAL.fullmatch(told.plain) is not None


def is_technical_name(word: str) -> bool:
    """Whether a word is the name of a method or of a standard: `argon2id`, `OAuth2`."""
    return _TECHNICAL.fullmatch(word) is not None


def _is_number(told: SecretCandidate) -> bool:
    return told.plain.isdigit()


def _is_measure(told: SecretCandidate) -> bool:
    """Whether it says how long or how many: `8-16 characters`."""
    number = re.fullmatch(r"[\d.,+~<>=–-]+", told.plain)
    return number is not None and _UNITS.match(told.after) is not None


def _begins_a_sentence(told: SecretCandidate) -> bool:
    """Whether it is a word with others behind it."""
    if told.quoted or told.how is SecretNotation.ENVIRONMENT or not _LETTERS.fullmatch(told.plain):
        return False
    return _GOES_ON.match(told.after) is not None


_SIGNS = frozenset("!@#$%^&*?~\\{}[]<>§€")


def is_mixed(word: str) -> bool:
    """Whether a word has digits or signs in it, as a password has and a word of a language has
    not."""
    plain = word.rstrip(".,;:!?")
    digits = any(each.isdigit() for each in plain)
    letters = any(each.isalpha() for each in plain)
    return letters and (digits or any(each in _SIGNS for each in plain))


def is_jumbled(word: str) -> bool:
    """Whether letters, digits and signs take turns in it as in no name."""
    plain = re.sub(r"[._:,'’-]", "", word.rstrip(".,;:!?"))
    kinds = [_character_class(each) for each in plain]
    jumps = sum(one != other for one, other in itertools.pairwise(kinds))
    return len(plain) >= JUMBLED_CHARS and is_mixed(plain) and jumps >= JUMBLED_CHANGES


def _character_class(letter: str) -> str:
    return "digit" if letter.isdigit() else "letter" if letter.isalnum() else "sign"


# -- tokens --------------------------------------------------------------------------------

_PART = r"(?:[A-Z]?[a-z]{1,24}(?:[A-Z][a-z]{1,20}){0,5}|[A-Z]{1,24})\d{0,3}"
_NAME = compile_late(rf"v?\d{{1,4}}|{_PART}(?:[-_./:]{{1,2}}(?:{_PART}|v?\d{{1,4}}))*")
_NO_WORD = compile_late(r"[bcdfghjklmnpqrstvwxz]{5}", re.I)
_UUID = compile_late(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
_CAMEL = compile_late(r"(?:[A-Z]{2,6}(?=[A-Z]|$)|[A-Z]?[a-z]{2,})*[A-Z]?")
_DATE = compile_late(r"\d{4}-\d\d-\d\d.*|\d{1,2}:\d\d.*|\d+(?:\.\d+)+[\w.-]{0,12}")


def _is_random_token(told: SecretCandidate) -> bool:
    plain = told.plain
    if len(plain) < DRAWN_CHARS or " " in plain or is_name(plain) or _is_technical(told):
        return _is_plain_secret(told)
    if told.how is not SecretNotation.SPOKEN and _is_shuffled(plain):
        return True
    digits = any(each.isdigit() for each in plain)
    return digits and any(each.isalpha() for each in plain)


def _is_plain_secret(told: SecretCandidate) -> bool:
    """Whether what is named a secret was chosen like a password, in one word."""
    if not told.is_secret_by_name or told.how is SecretNotation.SPOKEN:
        return False
    outright = told.quoted or told.how is SecretNotation.ENVIRONMENT
    return outright and len(told.plain) >= 6 and told.plain.isalnum() and not _is_camel(told.plain)


def _is_camel(word: str) -> bool:
    return not word.islower() and _CAMEL.fullmatch(word) is not None


def is_name(word: str) -> bool:
    """Whether a word is put together of words and numbers, as names, versions and paths are."""
    if _DATE.fullmatch(word):
        return True
    return _NAME.fullmatch(word[:200]) is not None and not _NO_WORD.search(word)


def _is_shuffled(value: str) -> bool:
    """Whether letters alone look drawn: long, and large and small in no order a name has."""
    if len(value) < SHUFFLED_CHARS or not (value.isascii() and value.isalpha()):
        return False
    return not value.islower() and not value.isupper() and not _CAMEL.fullmatch(value)


def looks_random(value: str) -> bool:
    """Whether a string looks as if a machine had drawn it, and is no name or path."""
    if value.count("/") > MOST_SLASHES or _UUID.fullmatch(value) or is_name(value):
        return False
    mixed = any(each.isdigit() for each in value) and any(each.isalpha() for each in value)
    return mixed and _entropy_per_char(value) >= ENTROPY_BITS


def _entropy_per_char(value: str) -> float:
    counts = Counter(value).values()
    return -sum(each / len(value) * math.log2(each / len(value)) for each in counts)
