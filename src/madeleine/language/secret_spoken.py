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
_COMPOUND = r"(?:\w{1,20}-|\w{2,20}(?=passwort|kennwort|wachtwoord|lösenord))?"
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
    r"|combinazione|combinaç[aã]o|combinatie|kombinacj[aąeę]|комбинаци\w+|zahlenschloss"
)
_PLACE = compile_late(
    r"\b(?:alarm\w*|door|gate|entrance|lock|safe|shed|phone|tablet\w*|till|card|key ?box|box"
    r"|unlock|warehouse|tür|tor"
    r"|tresor|schuppen|lager|handy|schlüsselk\w+|karte|kasse|alarma|puerta|portal|caja|candado|cajita|almacén"
    r"|móvil|tarjeta|tableta|l'alarme|porte|portail|coffre|cadenas|boîte|téléphone|carte|tablette|entrepôt"
    r"|allarme|dell'allarme|porta|cancello|lucchetto|cassetta|magazzino|telefono|carta|alarme|portão|cofre"
    r"|cadeado|caixa|armazém|telemóvel|cartão|kluis|slot|sleutelkastje|magazijn|telefoon|kaart|kassa|alarmu|drzwi"
    r"|bramy|sejf|kłódki|skrzynki|magazynu|telefonu|karty|kasy|tablet|larm\w*|dörr\w*|port\w*|kassaskåp\w*|lås\w*"
    r"|nyckelskåp\w*|\w*garage|garaje|garagem|garaż\w*|гараж\w*|building|immeuble|edificio|edifício|gebäude"
    r"|\w{2,}(?:tür|deur|poort|dörren|porten|schrank|schranke)|cellar|keller|cave|sótano|cantina"
    r"|lagret|telefonen|kortet|plattan|сигнализации|двери|ворот|сейфа|замка|ключницы|склад"
    r"|телефона|карты|планшет|кассы)\b",
    re.I,
)
_OPENS = (
    r"(?:safe|tresor|caja fuerte|coffre|cassaforte|cofre|kluis|sejf|kassaskåpet"
    r"|сейф)\b.{0,20}?\b(?:opens?|geht|se abre|s'ouvre"
    r"|si apre|abre|gaat open|otwiera|öppnas|открыва\w+)"
)
# What opens or goes off when a number is told to it, and how that is said.
_GUARDED = (
    r"(?:\w*alarm\w*|l'alarme|allarme|gates?|doors?|garage|shed|barrier|lock(?:er)?|box|\w*tür|\w*tor"
    r"|\w*schrank|schranke|portail|porte|barrière|puerta|portal|garaje|verja|porta|cancello|portone"
    r"|portão|garagem|\w*deur|\w*poort|slagboom|brama|bramę|drzwi|garaż|szlaban|ворота|дверь|шлагбаум"
    r"|сигнализаци\w+|larmet|\w*dörr\w*|porten|grinden|bommen)"
)
_YIELDS = (
    r"(?:opens?|unlocks?|is (?:dis)?armed|goes off|turns off|shuts off|geht|öffnet|wird|lässt sich"
    r"|s'ouvre|se coupe|se désactive|se abre|se apaga|se desactiva|si apre|si spegne|si disattiva"
    r"|abre|desliga|desativa|gaat|opent|otwiera|wyłącza|rozbraja|открыва\w+|отключа\w+|снима\w+"
    r"|öppnas|stängs|larmas)"
)
_BY = r"(?:with|using|by|mit|avec|con|com|met|med|na|kodem|на|кодом|per|via|auf|cu)"
_OPENS_BY = rf"{_GUARDED}\b.{{0,25}}?\b{_YIELDS}\b(?:\s\w+){{0,2}}?\s{_BY}"
_PHRASE = (
    r"pass-?phrase|(?:seed|recovery|backup) phrase|phrase (?:secrète|de passe)|frase (?:de paso"
    r"|de contraseña|secreta|segreta)|wachtzin|fraza has[łl]a|fraza|(?:кодов\w+|парольн\w+) фраз\w+"
    r"|lösenfras(?:en)?|kennsatz"
)
_NETWORK = (
    r"(?:\w{0,12}netz(?:werk)?s?|networks?|réseau|(?<=la )red|rete|rede|\w{0,12}netwerk|sie(?:ć|ci)"
    r"|сет[ьи]|\w{0,12}nätet|hotspot|ssid|vpn)"
)
_SET_KEY = r"(?:set|changed) (?:the |our |my )?key (?:for|of|on) [^.;\n]{2,30}? to"
_UNLOCK = (
    r"unlock\w*|entsperr\w*|desbloque\w+|déverrouill\w+|sblocc\w+|ontgrendel\w*"
    r"|odblok\w+|lås\w* upp|разблокир\w+|keypad|tastenfeld|digicode|tastierino|knappsats"
    r"|(?:dial|wähle?)(?= \d{4,8}\b)"
)
_LOGIN = (
    r"log ?in|login|sign in|melde dich|anmeld\w+|entra con|entra com|entra|connecte-toi"
    r"|identifiants?|zaloguj|inlog\w*|logga in|accedi|accesso|zaloguj się|заходи|войди|вход"
    r"|connexion|anmeldung"
    r"|inloggningen|доступ|логин|credentials|acceso|accès|zugang"
)
_NAMES = compile_late(
    rf"(?<![\w-])(?:(?P<phrase>{_PHRASE})|(?P<password>{_COMPOUND}(?:{_PASSWORD})(?:'s)?)"
    rf"|(?P<code>{_CODE})|(?P<pin>{_PIN})|(?P<key>{_SET_KEY})|(?P<opens_by>{_OPENS_BY})"
    rf"|(?P<plain>{_PLAIN_CODE})|(?P<opens>{_OPENS})|(?P<network>{_NETWORK})|(?P<unlock>{_UNLOCK})|(?P<wifi>{_WIFI})|(?P<login>{_LOGIN}))(?![\w])",
    re.I,
)
_WIFI_KEY = compile_late(rf"(?<!\w)(?:{_KEY})(?!\w)", re.I)
_NO_SECRET = compile_late(
    r"(?:^|\b)(?:exit|error|zip|postal|post|country|area|status|http|dress|source|qr|bar|promo|fehler|exit-|salida|erreur|postale"
    r"|sortie|uscita|errore|saída|erro|wyjścia|pocztowy|błędu|slut|fel|выхода|города|ошибки)\W*$",
    re.I,
)
_OTHER_CODE = compile_late(
    r"\s*(?:postale?|pocztow\w+|error\w*|d'erreur|de error|di errore|de erro|błędu|ошибки|de barras"
    r"|a barre|à barres|de barre|kreskow\w+|review|of conduct|source|fiscale?|fuente)\b",
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
_HANDS_ON = compile_late(r"\s(?:the|a|an|it|them|this|that|me|us|him|her|your|my|our)\b", re.I)
_LOCK_NUMBERS = compile_late(r"(?<![\d-])\d{1,2}(?:[-–/ ]\d{1,2}){2,3}(?![\d-])")
_COMBINES = compile_late(r"[ck]om?bina|комбина|zahlenschloss", re.I)
_DOOR_CODE = compile_late(r"(?=.*\d{2})(?:\d{1,4}[A-F]\d{1,4}|[A-F]\d{4,5}|\d{4,5}[A-F])[#*]?")
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
_ORDINARY = compile_late(  # words with digits in them that are no passwords: names, amounts, places
    r"[A-Za-zÀ-ÿ]{1,3}\d{1,3}|\d+[A-Za-zÀ-ÿ%°]{1,12}|[a-z]{1,7}\d{1,2}|[A-Za-z]+-\d{1,2}|\d+-\w+"
    r"|[A-Z][a-z]+\d|\w+\.\w+(?:\.\w+)*|[\w.+-]+@[\w.-]+"
)
_NAME_IN_CODE = compile_late(r"(?=.*_)(?:[a-z0-9]+_[a-z0-9_]*|[A-Z0-9]+_[A-Z0-9_]*|_\w*|\w*_)")
_UNITS = compile_late(
    r"\s*(?:%|percent|prozent|euros?|eur\b|days?|tage?\b|días|jours|giorni|dias|dagen|dni|dag\b|дней|characters?|chars|zeichen"
    r"|digits?|letters?|caracteres|caractères|caratteri|tekens|znaków|tecken|символ\w*|stellen|times|users?|hours?|minutes?"
    r"|seconds?|ms|gb|mb|kg|cm|tokens?|attempts?|versuche)\b",
    re.I,
)
_YEAR = compile_late(r"19[5-9]\d|20[0-4]\d")
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
    r"(?:[\w-]+\s){0,2}|\s+(?:as|als|como|comme|come|jako|som|как"
    r"|for|für|pour|para|per|voor|dla|для|för)\s+(?:the |das |la |a |[\w-]+\s){0,2})$",
    re.I,
)
_PHRASE_WORDS = compile_late(
    r"(?:\s(?:for|of|to|on|für|zum|du|de|del|della|do|da|van|do|от|till|för) [^.:;\n]{2,30}?)?"
    r"\s*(?:[:=—–-]|\b(?:is|ist|lautet|heißt|est|c'est|es|è|é|to|jest|är|это)\b|(?=\s[^\W\d_]))"
    r"(?:\s(?:now|jetzt|maintenant|ahora|adesso|agora|nu|teraz|теперь))?[:\s]*[\"'„“«]?"
    r"(?P<words>[^\W\d_]{2,20}(?:[ -][^\W\d_]{1,20}){2,11})[\"'”“»]?\s*[.!]?\s*$",
    re.I,
)
_NO_PHRASE = compile_late(  # what is said of a phrase, and is none
    r"^(?:in|im|at|on|by|too|not|only|the same|longer|stored|kept|saved|asked|wrong|required"
    r"|zu|nicht|gespeichert|falsch|dans|trop|pas|demandée|en|demasiado|no|guardada|nel|nella|troppo|non|no"
    r"|na|muito|não|te|niet|opgeslagen|w|za|nie|в|не|слишком|i|för|inte|sparad|never|is|are|when)\b"
    r"|\b(?:stored|kept|saved|required|expired|expires|must|should|asked|printed|encrypted|needed|has|have"
    r"|was|were|gespeichert|abgelegt|muss|wird|wurde|läuft|stockée|doit|expire|guardada|debe|caduca|deve"
    r"|scade|expira|opgeslagen|moet|verloopt|zapisana|musi|wygasa|хранится|должна|sparas|måste|it)\b",
    re.I,
)
_ACCOUNTS = (
    r"(?:admin\w*|root|user\w*|guest|operator|sysadmin|superuser|postgres|pi|ubuntu|test\w*|demo"
    r"|service|svc\w*|support)"
)
_ACCOUNT_PAIR = compile_late(
    rf"(?<![\w/]){_ACCOUNTS}\s+/\s+(?P<word>[^\s,;/]{{6,64}})(?!\s*/)", re.I
)
_TYPED = compile_late(
    r"(?:type|enter|use|put|tape|tapez|saisis|mets|escribe|pon|teclea|gib|gebe|tippe|digita|inserisci"
    r"|digite|põe|typ|voer|wpisz|podaj|введи|набери|skriv|ange)\s+[\"'„«]?"
    r"(?P<value>[^\s,;()\"']{4,64})[\"'”»]?\s(?:in |ein |dans )?"
    r"(?:when|if|once|wenn|sobald|quand|si|lorsqu\w*|cuando|quando|se"
    r"|wanneer|als|gdy|kiedy|jak|когда|если|när|om)\b[^.;\n]{0,40}$",
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
    for pair in itertools.islice(_ACCOUNT_PAIR.finditer(text), NAMES_AT_MOST):
        if _has_password_form(pair["word"].rstrip(".!?")):
            yield SecretSpan(*pair.span("word"), "password")
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
    elided = before in ("'", "’") and text[max(0, name.start() - 2)].lower() in "ldn"
    return (
        (bool(before) and before in _CODE_BEFORE and not elided)
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
    if kind == "phrase":
        words = _PHRASE_WORDS.match(window)
        if words and _NO_PHRASE.search(words["words"]) is None:
            yield SecretSpan(start + words.start("words"), start + words.end("words"), "password")
            return
        kind = "password"
    if kind in ("wifi", "network") and not _WIFI_KEY.search(sentence):
        return
    of_a_lock = _LOCK_NUMBERS.search(window) is not None and _COMBINES.match(name[0]) is not None
    is_of_a_place = _PLACE.search(sentence) is not None and not _is_other_code(text, name)
    if kind == "plain" and not (of_a_lock or is_of_a_place):
        return
    if name[0].lower() == "pass" and _HANDS_ON.match(window):
        return
    if kind in ("password", "wifi"):
        yield from _find_used_as(text, name)
    if kind == "password":
        yield from _find_typed(text, name)
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
        or _OTHER_CODE.match(after) is not None
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
        if kind == "network" and not _is_connected(before):
            continue
        if kind == "password" and not (_is_connected(before) or _is_odd_word(value)):
            continue
        if _has_form_of(value, kind, window[token.end() :], before):
            return token.start(), token.start() + len(token[0].rstrip(".:"))
    words = _find_words(window) if kind == "password" else None
    return words


_USER = compile_late(
    r"\b(?:user|username|usuario|benutzer|utilisateur|utente|usuário|utilizador|gebruiker|użytkownik|användare|network|netz"
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


def _is_odd_word(value: str) -> bool:
    """Whether a word behind the name of a password is one by its looks alone: nobody says a word
    like that of a password for another reason."""
    return _has_password_form(value) and _ORDINARY.fullmatch(value.strip(_EDGE_SIGNS)) is None


def _has_form_of(value: str, kind: str, after: str, before: str) -> bool:
    """Whether a word has the form that is enough for what was named."""
    if is_placeholder(value) or _UNITS.match(after):
        return False
    if kind != "pin" and _YEAR.fullmatch(value):
        return False
    if kind == "pin":
        tells = re.search(r"\d", before) is None
        return tells and re.fullmatch(r"\d{4,8}", value) is not None
    if kind in ("network", "key"):
        return _has_password_form(value)
    if kind in ("code", "plain") and _DOOR_CODE.fullmatch(value) is not None:
        return True
    if kind in ("code", "plain", "opens", "opens_by", "unlock"):
        return _DIGITS.fullmatch(value) is not None and not _TELLS_TIME.fullmatch(value)
    return _has_password_form(value) or re.fullmatch(r"\d{4,8}", value) is not None


def _has_password_form(value: str) -> bool:
    """Whether a word has digits or signs among its letters, as a password has and no name."""
    plain = value.strip(_EDGE_SIGNS).strip("*_")
    if len(plain) < 4 or _TELLS_TIME.fullmatch(plain) or _TICKET.fullmatch(plain):
        return False
    if is_technical_name(plain) or _FILE.search(plain) or _NAME_IN_CODE.fullmatch(plain):
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


def _find_typed(text: str, name: re.Match[str]) -> Iterator[SecretSpan]:
    """Yield what is to be typed where a password is asked for: `type x9! when it asks for it`."""
    start = max(0, name.start() - BEFORE_CHARS - WINDOW_CHARS)
    found = _TYPED.search(text[start : name.start()])
    if found and _has_password_form(found["value"]):
        yield SecretSpan(start + found.start("value"), start + found.end("value"), "password")


def _find_used_as(text: str, name: re.Match[str]) -> Iterator[SecretSpan]:
    """Yield what is used as a password, or said to be one: `x9! is the old password`."""
    start = max(0, name.start() - BEFORE_CHARS)
    found = _USED_AS.search(text[start : name.start()])
    hashing = _AFTER_USED.match(text, name.end())
    if found and hashing is None and _has_password_form(found["value"]):
        yield SecretSpan(start + found.start("value"), start + found.end("value"), "password")
