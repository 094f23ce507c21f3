"""Secrets that somebody tells in plain words: "the alarm code is 4471", "log in with admin / x9!".

A word of ten languages that names a secret, and near it, in the same sentence, something that has
the form of one: letters with digits or signs among them, a run of digits, numbers of a lock. What
names it says which form is enough: whoever says *password* means almost any odd word, a *code*
has to be one of a door, an alarm or the like, and a *pin* is also a part of a plug. Where that
leaves a doubt the value goes and the sentence stays.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from madeleine.language.late_pattern import compile_late
from madeleine.language.secret_values import SecretSpan, is_placeholder, is_technical_name

WINDOW_CHARS = 90  # after a name in which its value is looked for
NAMES_AT_MOST = 200  # of one text; with more of them it is no speech
WORDS_BETWEEN = 9  # a name and its value, at most
BEFORE_CHARS = 60  # before it, in which what is used as one stands

_PASSWORD = (
    r"pass(?:word|phrase|wort|code)?s?|passwd|pwd?|kennwort|contrase[ñn]as?|clave|mot de passe"
    r"|mdp|senha"
    r"|palavra-passe|wachtwoord|ww|has[łl](?:o|em|a)|l[öo]sen(?:ord)?(?:et)?|парол[ьяем]+|geheimzahl"
)
_COMPOUND = r"(?:[\w]+-)?"
_WIFI = r"wi-?fi\w*|wlan|вайфа\w+|gästnätet"
_KEY = (
    r"key|schlüssel|clave|clé|chiave|chave|sleutel|wifi-sleutel|klucz|wifi-nyckeln|nyckel\w*|ключ"
)
_CODE = (
    r"(?:alarm|tür|tor|zugangs|deur|poort|toegangs|larm|dörr|port|pin|sim-pin)-?(?:codes?|kod(?:en)?)"
    r"|digicode|(?:recovery|backup|unlock|entry|access|alarm|door|gate|safe|lock"
    r"|key ?box)[ -]codes?"
    r"|cvv|cvc|prüfnummer|security code"
)
_PIN = r"pin(?:code|-code|koden|-?код)?s?|пин(?:-код)?|sim-pin"
_PLAIN_CODE = (
    r"codes?|c[oó]digo|codice|koden?|kodem|kod|код(?:ом)?|combinations?|kombination(?:en)?|combinaci[oó]n|combinaison"
    r"|combinazione|combinaç[aã]o|combinatie|kombinacj[aąeę]|zahlenschloss"
)
_PLACE = compile_late(
    r"\b(?:alarm\w*|door|gate|entrance|lock|safe|shed|phone|tablet\w*|till|card|key ?box|box"
    r"|unlock|warehouse|tür|tor"
    r"|tresor|schuppen|lager|handy|schlüsselk\w+|karte|kasse|alarma|puerta|portal|caja|candado|cajita|almacén"
    r"|móvil|tarjeta|tableta|l'alarme|porte|portail|coffre|cadenas|boîte|téléphone|carte|tablette|entrepôt"
    r"|allarme|dell'allarme|porta|cancello|lucchetto|cassetta|magazzino|telefono|carta|alarme|portão|cofre"
    r"|cadeado|caixa|armazém|telemóvel|cartão|kluis|slot|sleutelkastje|magazijn|telefoon|kaart|kassa|alarmu|drzwi"
    r"|bramy|sejf|kłódki|skrzynki|magazynu|telefonu|karty|kasy|tablet|larm\w*|dörr\w*|port\w*|kassaskåp\w*|lås\w*"
    r"|nyckelskåp\w*|lagret|telefonen|kortet|plattan|сигнализации|двери|ворот|сейфа|замка|ключницы|склад"
    r"|телефона|карты|планшет|кассы)\b",
    re.I,
)
_OPENS = (
    r"(?:safe|tresor|caja fuerte|coffre|cassaforte|cofre|kluis|sejf|kassaskåpet"
    r"|сейф)\b.{0,20}?\b(?:opens?|geht|se abre|s'ouvre"
    r"|si apre|abre|gaat open|otwiera|öppnas|открыва\w+)"
)
_UNLOCK = (
    r"unlock|entsperr\w*|desbloque\w+|déverrouill\w+|sblocca|desbloqueia|ontgrendel"
    r"|odblokuj|lås upp|разблокируй"
)
_LOGIN = (
    r"log ?in|login|sign in|melde dich|anmeld\w+|entra con|entra com|entra|connecte-toi"
    r"|identifiant|zaloguj|inlog\w*|logga in"
    r"|inloggningen|доступ|логин|credentials|acceso|accès|zugang"
)
_NAMES = compile_late(
    rf"(?<![\w-])(?:(?P<password>{_COMPOUND}(?:{_PASSWORD})(?:'s)?)|(?P<code>{_CODE})|(?P<pin>{_PIN})"
    rf"|(?P<plain>{_PLAIN_CODE})|(?P<opens>{_OPENS})|(?P<unlock>{_UNLOCK})|(?P<wifi>{_WIFI})|(?P<login>{_LOGIN}))(?![\w])",
    re.I,
)
_WIFI_KEY = compile_late(rf"(?<!\w)(?:{_KEY})(?!\w)", re.I)
_NO_SECRET = compile_late(
    r"(?:^|\b)(?:exit|error|zip|postal|post|country|area|status|http|dress|source|qr|bar|promo|fehler|exit-|salida|erreur|postale"
    r"|sortie|uscita|errore|saída|erro|wyjścia|pocztowy|błędu|slut|fel|выхода|города|ошибки)\W*$",
    re.I,
)
_AFTER_NAME = compile_late(  # what is said of a password that tells none
    r"\b(?:rules?|policy|policies|field|manager|at least|minimum|mindestens|mínimo|minimo|minst"
    r"|minstens|every|alle|all|cada"
    r"|tous|ogni|elke|co|var|каждые|минимум|manager|gestor|stored|expired|pad|reset|reglas"
    r"|password(?:s)? (?:is|are) not"
    r"|caractères|characters|zeichen|tecken|znaków|tekens|caratteri|caracteres|символов|primary|primaria|primaire)\b",
    re.I,
)
_EDGE_SIGNS = " \t,;:'\"`()[]{}<>«»„“”‚‘’"
_TOKEN = compile_late(r"[^\s,;()\[\]\"'`«»„“”]{3,64}")
_STOP = compile_late(r"[.!?](?=\s+[A-ZА-Я]|\s*$)|\n|;")
_DIGITS = compile_late(r"\d{3,8}[#*]?|\d{1,4}(?:-\d{1,4}){2,3}|\d{4}(?:-\d{4}){1,3}")
_MIXED_SIGNS = "!#@$%&*?+~^="
_TELLS_TIME = compile_late(
    r"\d{1,2}[:h.]\d{2}|\d{4}-\d\d-\d\d|\d+(?:[.,]\d+)+%?|\d+(?:st|nd|rd|th|er|e|x|ms|gb|mb|kg|cm|m2|min)"
)
_TICKET = compile_late(
    r"[A-Z]{1,5}-\d{1,6}|#\d+|v\d[\w.]*|sha\d+|md5|base\d+|aes\d*|tls[\d.]*|1password|[A-Z]{2}\d{6,}|[a-z]\d"
)
_FILE = compile_late(
    r"\.(?:py|js|ts|go|rs|java|md|txt|json|ya?ml|toml|sql|sh|html?|css|c|h|cpp|rb|php)$", re.I
)
_UNITS = compile_late(
    r"\s*(?:%|percent|prozent|euros?|eur\b|days?|tage?\b|días|jours|giorni|dias|dagen|dni|dag\b|дней|characters?|chars|zeichen"
    r"|digits?|letters?|caracteres|caractères|caratteri|tekens|znaków|tecken|символ\w*|stellen|times|users?|hours?|minutes?"
    r"|seconds?|ms|gb|mb|kg|cm|tokens?|attempts?|versuche)\b",
    re.I,
)
_YEAR = compile_late(r"(?:19|20)\d\d")
_PAIR = compile_late(r"(?P<user>[\w.@-]{2,40})\s+/\s+(?P<word>[^\s,;/]{4,64})(?!\s*/)")
_WORDS_ONLY = compile_late(
    r"\s*(?:(?:of|for|to|on|from) (?:[\w-]+ ){1,4})?(?:is|="
    r"|:)\s+(?P<words>[a-z]{3,20}(?: [a-z]{3,20}){2,6})\s*[.!]?\s*$",
    re.I,
)
_ONE_WORD = compile_late(
    r"(?:\s+(?:of|for|to|on|from) (?:[\w-]+ ){1,4}|\s*)(?:is|is now"
    r"|:)\s+(?P<word>[a-z]{6,24})\s*[.!]?\s*$",
    re.I,
)
_USED_AS = compile_late(
    r"(?P<value>[^\s,;()\"']{4,64})\"?'?(?:\s+(?:is|ist|es|c'est|est|è|é|är|to|это|was"
    r"|war)\s+(?:the |das |la |l'|a |het |de |det |our |my )?"
    r"(?:[\w-]+\s){0,2}|\s+(?:as|als|como|comme|come|jako|som|как)\s+(?:the |das |la |a "
    r"|[\w-]+\s){0,2})$",
    re.I,
)
_STATES = frozenset(
    [
        "stored",
        "expired",
        "wrong",
        "correct",
        "required",
        "missing",
        "weak",
        "strong",
        "needed",
        "changed",
        "rotated",
        "encrypted",
        "hashed",
        "secret",
        "invalid",
        "empty",
        "optional",
        "mandatory",
        "unknown",
        "broken",
        "forgotten",
        "everywhere",
        "nowhere",
        "somewhere",
        "different",
        "visible",
        "hidden",
        "public",
        "private",
        "enough",
        "always",
        "never",
        "written",
        "printed",
        "generated",
        "shared",
        "protected",
        "disabled",
        "enabled",
        "accepted",
        "rejected",
        "ignored",
        "checked",
        "logged",
        "masked",
        "plaintext",
        "random",
        "unique",
        "outdated",
        "temporary",
    ]
)


def find_spoken(text: str) -> Iterator[SecretSpan]:
    """Yield what is told as a secret in plain words."""
    for name in itertools.islice(_NAMES.finditer(text), NAMES_AT_MOST):
        if _is_written_code(text, name):
            continue
        window = _read_window(text, name.end())
        sentence = text[_sentence_start(text, name.start()) : name.end() + len(window)]
        yield from _find_values(text, name, window, sentence)


_CODE_BEFORE = "._<>\"'=$(/{[*@&|-"
_CODE_AFTER = "=._(<>[{\"']/)*|$"
_ASSIGNED = compile_late(r"(?:pass(?:word|wort|phrase|wd|code)?|pwd?|mdp|kennwort)s?\s*[:=]", re.I)


def _is_written_code(text: str, name: re.Match[str]) -> bool:
    """Whether a name stands in code, a form or an assignment, which `secret_names` reads."""
    before, after = text[max(0, name.start() - 1) : name.start()], text[name.end() : name.end() + 1]
    return (
        (bool(before) and before in _CODE_BEFORE)
        or (bool(after) and after in _CODE_AFTER and not text.startswith("'s ", name.end()))
        or _ASSIGNED.match(text, name.start()) is not None
    )


def _read_window(text: str, start: int) -> str:
    """Return what follows a name in its sentence."""
    window = text[start : start + WINDOW_CHARS]
    stop = _STOP.search(window)
    return window[: stop.start() + 1] if stop else window


def _sentence_start(text: str, at: int) -> int:
    before = text[max(0, at - BEFORE_CHARS) : at]
    ends = max(before.rfind(". "), before.rfind("\n"), before.rfind("! "), before.rfind("? "))
    return at - len(before) + ends + 1


def _find_values(
    text: str, name: re.Match[str], window: str, sentence: str
) -> Iterator[SecretSpan]:
    kind, start = name.lastgroup, name.end()
    if kind == "login":
        pair = _PAIR.search(window)
        if pair and _has_password_form(pair["word"].rstrip(".!?")):
            yield SecretSpan(start + pair.start(), start + pair.end(), "login")
        return
    if kind == "wifi" and not _WIFI_KEY.search(sentence):
        return
    if kind == "plain" and not (_PLACE.search(sentence) and not _is_other_code(text, name)):
        return
    if kind in ("password", "wifi"):
        yield from _find_used_as(text, name)
    beside_user = (
        _USER.search(sentence) is not None or not name[0].isascii() or name[0].endswith("'s")
    )
    told = _find_after(f", {window[2:]}" if beside_user and len(window) > 1 else window, kind or "")
    if told is not None:
        yield SecretSpan(start + told[0], start + told[1], "pin" if kind == "pin" else "password")


def _is_other_code(text: str, name: re.Match[str]) -> bool:
    around = text[max(0, name.start() - 14) : name.start()]
    after = text[name.end() : name.end() + 14]
    return (
        _NO_SECRET.search(around) is not None
        or _NO_SECRET.search(after.rstrip(" 0123456789")) is not None
    )


def _find_after(window: str, kind: str) -> tuple[int, int] | None:
    """Return where in what follows a name the value stands."""
    pair = _PAIR.search(window) if kind == "password" else None
    if pair and _has_password_form(pair["word"].rstrip(".!?")):
        return pair.start("word"), pair.end("word")
    for token in _TOKEN.finditer(window):
        before = window[: token.start()]
        if _AFTER_NAME.search(before):
            return None
        if before.count(" ") > WORDS_BETWEEN:
            break
        value = token[0].strip(_EDGE_SIGNS).rstrip(".:")
        if kind == "password" and not _is_connected(before):
            continue
        if _has_form_of(value, kind, window[token.end() :], before):
            return token.start(), token.start() + len(token[0].rstrip(".:"))
    words = _find_words(window) if kind == "password" else None
    return words


_USER = compile_late(
    r"\b(?:user|username|usuario|benutzer|utilisateur|utente|usuário|gebruiker|użytkownik|användare|network|netz"
    r"|red|réseau|rete|rede|netwerk|sieć|nät|пользователь|wi-?fi\w*|wlan)\b",
    re.I,
)
_CONNECTS = compile_late(
    r"[:,=]|\b(?:is|'s|to|now|was|ist|lautet|heißt|auf|jetzt|es|a|en|ahora|est|c'est|à|maintenant|è|in|adesso|é|para|em"
    r"|agora|nu|op|na|jest|teraz|är|till|теперь|на|use|with)(?=\s|$)|^'s",
    re.I,
)


def _is_connected(before: str) -> bool:
    """Whether something between a name and a value says that it is one."""
    return _CONNECTS.search(before) is not None


def _has_form_of(value: str, kind: str, after: str, before: str) -> bool:
    """Whether a word has the form that is enough for what was named."""
    if is_placeholder(value) or _UNITS.match(after) or _YEAR.fullmatch(value):
        return False
    if kind == "pin":
        tells = re.search(r"\d", before) is None
        return tells and re.fullmatch(r"\d{4,8}", value) is not None
    if kind in ("code", "plain", "opens", "unlock"):
        return _DIGITS.fullmatch(value) is not None and not _TELLS_TIME.fullmatch(value)
    return _has_password_form(value) or re.fullmatch(r"\d{4,8}", value) is not None


def _has_password_form(value: str) -> bool:
    """Whether a word has digits or signs among its letters, as a password has and no name."""
    plain = value.strip(_EDGE_SIGNS).strip("*_")
    if len(plain) < 4 or _TELLS_TIME.fullmatch(plain) or _TICKET.fullmatch(plain):
        return False
    if is_technical_name(plain) or _FILE.search(plain) or "_" in plain:
        return False
    if is_placeholder(plain) or "/" in plain or plain.startswith(("http", "--", "$", "@")):
        return False
    letters = any(each.isalpha() for each in plain)
    digits = any(each.isdigit() for each in plain)
    signs = any(each in _MIXED_SIGNS for each in plain.rstrip("!?"))
    return letters and (digits or signs)


def _find_words(window: str) -> tuple[int, int] | None:
    """Return where a password of plain words stands, which ends its sentence."""
    several = _WORDS_ONLY.match(window)
    if several and not any(each in _STATES for each in several["words"].lower().split()):
        return several.span("words") if _is_phrase(several["words"]) else None
    one = _ONE_WORD.match(window)
    if (
        one
        and one["word"].lower() not in _STATES
        and not one["word"].lower().endswith(("ed", "ing"))
    ):
        return one.span("word")
    return None


_SENTENCE_WORDS = frozenset(
    [
        "the",
        "a",
        "an",
        "in",
        "on",
        "at",
        "is",
        "are",
        "was",
        "not",
        "no",
        "to",
        "from",
        "of",
        "for",
        "by",
        "with",
        "and",
        "or",
        "that",
        "it",
        "this",
        "my",
        "your",
        "our",
        "we",
        "you",
        "four",
        "five",
        "six",
        "eight",
        "ten",
        "long",
        "too",
        "only",
        "never",
        "always",
        "must",
        "should",
        "when",
        "if",
        "until",
        "kept",
        "stored",
    ]
)


def _is_phrase(words: str) -> bool:
    """Whether words stand side by side as in no sentence."""
    return _SENTENCE_WORDS.isdisjoint(words.lower().split())


_AFTER_USED = compile_late(
    r"\s*(?:hash|hashing|manager|policy|field|reset|algorithm|library)", re.I
)


def _find_used_as(text: str, name: re.Match[str]) -> Iterator[SecretSpan]:
    """Yield what is used as a password, or said to be one: `x9! is the old password`."""
    start = max(0, name.start() - BEFORE_CHARS)
    found = _USED_AS.search(text[start : name.start()])
    hashing = _AFTER_USED.match(text, name.end())
    if found and hashing is None and _has_password_form(found["value"]):
        yield SecretSpan(start + found.start("value"), start + found.end("value"), "password")
