"""Keys, tokens and passwords in a text: what is never to be written down.

Whatever is taken in unasked goes through `redacted` first; what it cannot tell from a secret by
its own form (a provider's prefix, a key block, an address with a password) it tells by what stands
before it (`password = …`, `Authorization: Bearer …`). A long string alone is no secret: commits,
checksums, ids, paths and pictures stay. `suspicious` is for who would rather lose a sentence than
keep a secret: it also says yes where a secret is only spoken of.

The time grows with the text and no faster: every repetition is bounded, or gives nothing back.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

TEXT_CHARS = 8_000_000  # of a longer one nothing is looked at, and nothing may be kept
NEAR_CHARS = 40  # between a word that speaks of a secret and a string that may be it
MIXED_CHARS = 20  # from which a string of letters and digits may be one
ENTROPY_BITS = 3.2  # for each character; words have less, what a machine drew has more
CHOSEN_CHARS = 4  # a password somebody chose is no shorter
MOST_SLASHES = 2  # in what base64 makes of 30 bytes; a path has more
DRAWN_CHARS = 8  # a token somebody drew is no shorter
SHUFFLED_CHARS = 16  # from which letters alone may be one


class Redacted(NamedTuple):
    """A text without its secrets, and how many it had."""

    text: str
    secrets: int


def redacted(text: str) -> Redacted:
    """Return the text with `[redacted …]` in the place of each secret."""
    if len(text) > TEXT_CHARS:
        return Redacted("[redacted: too long to be looked through]", 1)
    count = 0
    for kind, pattern in _BY_FORM:
        text, found = _without_form(text, kind, pattern)
        count += found
    text, named = _replaced(text, _NAMED, _is_told)
    text, drawn = _replaced(text, _SPEAKS, _is_drawn)
    return Redacted(text, count + named + drawn)


def suspicious(text: str) -> bool:
    """Whether a text holds a secret, speaks of one as if to tell it, or has a string in it that
    nobody would type by hand."""
    return _TOLD.search(text) is not None or redacted(text).secrets > 0


# -- by its own form -----------------------------------------------------------------------

_PICTURE = re.compile(r"data:[\w.+-]{1,80}/[\w.+-]{1,80};base64,[A-Za-z0-9+/=\s]*+")

_PREFIXED = (
    r"sk-ant-[\w-]{16,}+|sk-(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}+"
    r"|sk-(?=[\w-]{0,200}?[A-Za-z0-9]{16})[A-Za-z0-9_-]{20,}+|sk\.eyJ[\w-]{16,}\.[\w-]{16,}+"
    r"|[spr]k_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/=]{20,}+"
    r"|gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+|gl(?:pat|ptt|dt|rt|cbt|soat)-[\w.-]{18,}+"
    r"|xox[abeoprs]-[\w-]{10,}+|xapp-[\w-]{10,}+|xwfp-[\w-]{10,}+"
    r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}[A-Z0-9]*+|AIza[\w-]{30,}+|ya29\.[\w.-]{20,}+"
    r"|GOCSPX-[\w-]{20,}+|1//0[\w-]{30,}+"
    r"|hf_[A-Za-z0-9]{24,}+|npm_[A-Za-z0-9]{30,}+|pypi-[\w-]{40,}+|gsk_[A-Za-z0-9]{30,}+"
    r"|xai-[A-Za-z0-9]{40,}+|pplx-[A-Za-z0-9]{30,}+|r8_[A-Za-z0-9]{30,}+|nvapi-[\w-]{40,}+"
    r"|tvly-[\w-]{20,}+|lin_api_[A-Za-z0-9]{20,}+|ntn_[A-Za-z0-9]{30,}+|figd_[\w-]{30,}+"
    r"|dapi[0-9a-f]{32}[0-9a-f-]*+|do[opr]_v1_[0-9a-f]{40,}+|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}+|sq0(?:atp|csp)-[\w-]{20,}+|key-[0-9a-f]{32}"
    r"|SK[0-9a-f]{32}|dckr_pat_[\w-]{20,}+|ATATT3[\w=-]{40,}+|hvs\.[\w-]{20,}+"
    r"|AGE-SECRET-KEY-1[0-9A-Z]{20,}+|PMAK-[0-9a-f-]{40,}+|rubygems_[0-9a-f]{32,}+"
    r"|sbp_[0-9a-f]{30,}+|vercel_[A-Za-z0-9]{20,}+|cfut_[\w-]{30,}+|glsa_[\w]{30,}+"
    r"|sb_secret_[\w-]{20,}+|nfp_[A-Za-z0-9]{30,}+|pscale_(?:tkn|pw|oauth)_[\w.-]{30,}+"
    r"|sntry[su]_[\w+/=-]{30,}+|dp\.(?:pt|st|sa|ct|scim|audit)\.[\w.-]{30,}+|NRAK-[A-Z0-9]{20,}+"
    r"|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{6,}+"
    r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}+|HRKU-[\w-]{30,}+"
    r"|phx_[A-Za-z0-9]{30,}+|pul-[0-9a-f]{40}|bkua_[0-9a-f]{40}"
)
_BY_FORM = (
    (
        "private key",
        re.compile(
            r"(?P<value>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----END ).)*+(?:-----END [A-Z0-9 ]{0,60}-----)?)",
            re.S,
        ),
    ),
    ("token", re.compile(r"(?<![\w.-])(?P<value>eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?)")),
    ("token", re.compile(rf"(?<![A-Za-z0-9])(?P<value>{_PREFIXED})")),
    ("token", re.compile(r"(?<![\w:/.-])(?P<value>\d{8,10}:AA[\w-]{33})(?![\w-])")),
    (
        "address",
        re.compile(
            r"(?P<value>https://(?:hooks\.slack\.com/(?:services|workflows)"
            r"|discord(?:app)?\.com/api/webhooks|[\w-]{1,80}\.webhook\.office\.com)/[^\s\"'<>)]++)"
        ),
    ),
    (
        "password",
        re.compile(
            r"(?<=://)[^\s/:@\"'<>\[\]]{0,200}:(?P<value>(?!\[redacted|\$|\{|<|%\w*%|\*)"
            r"[^\s/@\"'<>]{1,200})(?=@[\w.\[-])"
        ),
    ),
    (
        "token",
        re.compile(
            r"\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:bearer|basic|token|digest)\s{1,3})?"
            r"(?P<value>(?![\[$<{])[\w.~+/=-]{8,}+)",
            re.I,
        ),
    ),
    (
        "token",
        re.compile(
            r"\bbearer\s{1,3}(?P<value>(?=[\w.~+/-]{0,200}\d)[\w.~+/-]{16,}+=*+)",
            re.I,
        ),
    ),
    (
        "cookie",
        re.compile(
            r"\bcookie[\"']?\s{0,2}:\s{0,2}[\"']?(?P<value>[\w.-]{1,80}=(?!\[redacted)[^\s;\"']{6,400}"
            r"(?:;\s{0,2}[\w.-]{1,80}=[^\s;\"']{0,400}){0,40})",
            re.I,
        ),
    ),
    (
        "signature",
        re.compile(
            r"(?:(?<=[?&])(?:sig|signature|hmac)|\bX-(?:Amz|Goog)-(?:Signature|Security-Token))="
            r"(?P<value>[\w%.~+/=-]{16,}+)",
            re.I,
        ),
    ),
    (
        "password",  # that a command is given: `curl -u ana:…`
        re.compile(
            r"\b(?:curl|wget|https?|xh)\s[^\n|]{0,300}?(?<=\s)(?:-u\s{0,2}|--user[ =])[\"']?"
            r"[^\s:\"'$]{1,80}:(?P<value>(?![$<{\[*])[^\s\"']{1,200})"
        ),
    ),
    (
        "password",  # `mysql -p…`, where a space makes it something else
        re.compile(
            r"\b(?:mysql(?:dump|admin|import)?|mariadb(?:-dump)?)\s(?:[^\n|]{0,200}?\s)?-p[\"']?"
            r"(?P<value>(?![$<{\[*])[^\s\"']{3,200})"
        ),
    ),
    (
        "password",
        re.compile(
            r"\b(?:sshpass|(?:docker|podman|helm(?: registry)?|oras|skopeo|nerdctl)\s{1,3}login"
            r"|redis-cli)\s(?:[^\n|]{0,200}?\s)?-[pa][ =]?[\"']?"
            r"(?P<value>(?![$<{\[*-])[^\s\"']{3,200})"
        ),
    ),
    (
        "password",
        re.compile(
            r"<(?P<tag>pass(?:word|wd|phrase|code)|pwd)>(?P<value>(?![$<{\[])[^<\s]{4,400})</(?P=tag)>",
            re.I,
        ),
    ),
    (
        "password",  # a row of a table that has two columns; the next line shows a heading
        re.compile(
            r"^[ \t]{0,8}\|[ \t]{0,40}[*`]{0,2}(?:[\w -]{0,20}[_ -])?"
            r"(?:pass(?:word|wd|phrase|code)|pwd)[*`]{0,2}[ \t]{0,40}\|[ \t]{0,40}[*`]{0,2}"
            r"(?P<value>(?!value\b|required|optional|string|text)(?![$<{\[*-])[^|\s`]{4,400})"
            r"[*`]{0,2}[ \t]{0,40}\|[ \t]*+$(?!\n[ \t]*\|?[ \t]*:?-)",
            re.I | re.M,
        ),
    ),
)


def _without_form(text: str, kind: str, pattern: re.Pattern[str]) -> tuple[str, int]:
    """Take out what has the form of a secret, unless it stands in a picture."""
    pictures = [each.span() for each in _PICTURE.finditer(text)]
    return _replaced(text, pattern, lambda found: not _inside(found, pictures), kind)


def _replaced(
    text: str, pattern: re.Pattern[str], is_secret: Callable[[re.Match[str]], bool], kind: str = ""
) -> tuple[str, int]:
    """Put a mark in the place of each value that is found to be a secret."""
    count = 0

    def mark(found: re.Match[str]) -> str:
        nonlocal count
        if not is_secret(found):
            return found[0]
        count += 1
        start, end = (place - found.start() for place in found.span("value"))
        return f"{found[0][:start]}[redacted {kind or _kind(found)}]{found[0][end:]}"

    return pattern.sub(mark, text), count


def _kind(found: re.Match[str]) -> str:
    return "password" if found.groupdict().get("chosen") else "token"


def _inside(found: re.Match[str], spans: list[tuple[int, int]]) -> bool:
    return any(start <= found.start("value") < end for start, end in spans)


# -- by what stands before it --------------------------------------------------------------

_CHOSEN = (
    r"pass(?:word|wd|phrase|code)|(?<=_)pass|passwort|contraseña|mot de passe|pwd|wachtwoord|senha"
    r"|hasło|lösenord|пароль|密码|密碼|口令|パスワード|비밀번호"
)
_DRAWN = (
    r"secret(?:[_-]?(?:access[_-]?)?key)?|(?:api|access|private|signing|encryption|account|auth|"
    r"master|service|subscription|storage)[_ -]?keys?|(?:access|auth|refresh|bearer|id|session|"
    r"personal[ _-]access|deploy|bot|api|csrf)?[_ -]?token|client[_-]?secret|credentials?|"
    r"sharedaccesskey|accountkey|connection[_-]?string"
)
# `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`, `password is …`, `?token=…`.
_NAMED = re.compile(
    r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=PASSW)))"
    rf"(?:(?P<chosen>{_CHOSEN})|(?P<weak>pass|pw)(?=[:=])|(?P<drawn>{_DRAWN}))"
    r"(?:[\"'`]\]?|\]|[*_]{1,3})?"
    r"(?:\s(?:for|of|to|on|at|in|für|de|pour|para|von)\s[^\n:=.,;|]{1,30}?)?"
    r"(?:\s{0,3}(?:(?<=\s)is\s{0,2})?(?::=|=>|[:=：])[*_]{0,3}\s{0,3}(?:[|>][+-]?\n\s{1,20})?"
    r"|(?P<spoken>\s{1,3}(?:is|was|ist|es|est)\s{1,3}(?:now\s)?|\s{0,2}[是は为為]\s{0,2})"
    r"|(?<=\w)\s(?=[\"'`]))"
    r"(?P<quote>[\"'`]?)(?P<value>(?<=[\"'`])[^\"'`\n]{1,400}|[^\s\"'`,;&)}\]]{1,400})",
    re.I,
)
_HARMLESS = re.compile(
    r"\[redacted.*|[<%{(\[*].*|.*[({\[].*|\$(?:(?-i:[A-Z_][A-Z0-9_]*)|[a-z_]+|[{(\[>-].*)"
    r"|(?:(?:your|my|the|some|example|dummy|fake|test|sample|own|new|old)[-_ ]?){0,2}"
    r"(?:pass(?:word|phrase)?|secret|token|api[-_ ]?key|key|here|value|string)(?:[-_ ]?here)?"
    r"|x{3,}|\.{3,}|…|(?:str|string|text|bytes|int|bool|none|null|nil|undefined|true"
    r"|false|required|optional|any|unknown|empty|missing|redacted|hidden|secretstr|see|use|set|get"
    r"|env|from|todo|changeme|invalid|expired|wrong|correct|valid|stored|kept|read|sent|needed"
    r"|not|too|a|an|the|in|on|at|for|to|it|no|used|only|never|always|generated|rotated|broken)"
    r"[.,;:!?|]*|(?:process\.env|os\.environ|env|settings|config|self|secrets|vars|import\.meta)"
    r"[.\[].*|[\w.-]{1,60}::.*|/(?:\D*|.*/.*)|~/.*|\./.*",
    re.I | re.S,
)


def _is_told(found: re.Match[str]) -> bool:
    """Whether a secret is named and then told, and not its type, its place or its absence."""
    value, spoken = found["value"], found["spoken"] is not None
    plain = value.strip().rstrip(".,;:!?")
    if _HARMLESS.fullmatch(value.strip()):
        return False
    if found["weak"]:
        return len(plain) >= DRAWN_CHARS and _STRONG.fullmatch(plain) is not None
    if spoken and (found["drawn"] or "").casefold() == "secret" and _WORD.fullmatch(plain):
        return False  # what the secret is may be said of anything
    if found["drawn"] and not spoken and _is_shuffled(plain):
        return True
    return _may_be_secret(plain, found["chosen"] is not None, spoken)


def _may_be_secret(plain: str, by_hand: bool, spoken: bool) -> bool:
    """Whether what stands behind the name of a secret may be it. A password that somebody chose
    may be a word; a token has letters and digits, and in a sentence a password has too."""
    if by_hand and not spoken:
        return len(plain) >= CHOSEN_CHARS
    digits = any(each.isdigit() for each in plain)
    odd = any(not each.isalnum() and each not in "-_.'’" for each in plain)
    if " " in plain or len(plain) < (CHOSEN_CHARS if by_hand else DRAWN_CHARS):
        return False
    return digits or odd if by_hand else digits and not plain.isdigit()


_STRONG = re.compile(r"(?=.*\d)(?=.*[A-Za-z])(?=.*[A-Z]|.*[^\w./:-]).*", re.S)
_WORD = re.compile(r"[A-Za-z][a-z]{3,}\d{0,4}")
_CAMEL = re.compile(r"(?:[A-Z]{2,6}(?=[A-Z]|$)|[A-Z]?[a-z]{2,})*[A-Z]?")


def _is_shuffled(value: str) -> bool:
    """Whether letters alone look drawn: long, and large and small in no order a name has."""
    if len(value) < SHUFFLED_CHARS or not (value.isascii() and value.isalpha()):
        return False
    return not value.islower() and not value.isupper() and not _CAMEL.fullmatch(value)


_SPEAKS = re.compile(
    rf"(?<![A-Za-z])(?:{_CHOSEN}|{_DRAWN}|api[_ -]?key)(?![A-Za-z])[^\n]{{0,{NEAR_CHARS}}}?"
    rf"(?<![\w/.+=-])(?P<value>[A-Za-z0-9+/_=-]{{{MIXED_CHARS},400}})(?![\w/.+-])",
    re.I,
)
_EXPLAINED = re.compile(
    r"\b(?:commit|sha(?:-?\d+)?|hash|digest|checksum|revision|rev|etag|uuid|guid|branch|tag|file"
    r"|path|test|id|md5|fingerprint|public|integrity)\b",
    re.I,
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PLACED = re.compile(r"\b(?:in|at|by|since|from|see|before|after|until)\s+$", re.I)
_NAME = re.compile(
    r"(?:[A-Za-z]{1,20}\d{0,3}|\d{1,4})(?:[-_](?:[A-Za-z]{1,20}\d{0,3}|\d{1,4})){2,}"
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)


def _is_drawn(found: re.Match[str]) -> bool:
    """Whether the words before speak of a secret and nothing else, and a machine drew it."""
    before = found[0][: found.start("value") - found.start()]
    if _COMMIT.fullmatch(found["value"]) and _PLACED.search(before):
        return False  # something happened there
    return not _EXPLAINED.search(before) and _drawn(found["value"])


def _drawn(value: str) -> bool:
    """Whether a string looks as if a machine had drawn it, and is no name or path."""
    if value.count("/") > MOST_SLASHES or _UUID.fullmatch(value) or _NAME.fullmatch(value):
        return False
    mixed = any(each.isdigit() for each in value) and any(each.isalpha() for each in value)
    return mixed and _entropy(value) >= ENTROPY_BITS


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(each / len(value) * math.log2(each / len(value)) for each in counts)


# -- in doubt ------------------------------------------------------------------------------

_TOLD = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)|secret|api[ _-]?key|access[ _-]?key|private[ _-]?key|token"
    r"|credentials?|pin|cvv)\b.{0,30}?(?:\bis\b|[=:])"
    r"|-----BEGIN|\beyJ[A-Za-z0-9_-]{10,}\."
    r"|(?<![\w.-])(?=[a-z_=]{0,63}\d)[a-z0-9_=]{28,}",
    re.I,
)
