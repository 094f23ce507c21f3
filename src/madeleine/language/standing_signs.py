"""What shows by its form whether a note says how things are to be done.

`Short sentences, no emojis` and `use uv, never pip` hold for whatever comes; `we moved to uv in
March` tells what happened. Each sign is a number that a head weighs (`language/standing.py`); of
a language that is not among the dozen of these words fewer signs are seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from madeleine.language.late_pattern import compile_late
from madeleine.language.word_pattern import WordPattern

READ_CHARS = 600  # of a note: what it is shows at its beginning
SHORT_WORDS = 6
LONG_WORDS = 30


def _list_words(text: str) -> WordPattern:
    return WordPattern.of(text.split("/"))


_WORD_SIGNS: Mapping[str, WordPattern] = {
    "always": _list_words(
        "always/every/each/everything/everywhere/anything/whenever/any/all/by default/from now on"
        "/in future/as a rule/immer/jede[rsnm]?/alle[sn]?/grundsätzlich/stets/überall"
        "/siempre/cada/todos?/todas?/toujours/chaque/toutes?/tous/sempre/ogni/tutt[ieao]/todo"
        "/altijd/elke?/alle/zawsze/każd\\w+/wszystk\\w+/всегда/кажд\\w+/все/her zaman/her"
    ),
    "never": _list_words(
        "never/no/not/none/nothing/nobody/without/don't/dont/do not/doesn't/cannot/can't"
        "/must not/mustn't"
        "/nowhere/neither/nor/banned/forbidden/avoid/stop/nie/niemals/nicht/kein\\w{0,2}/ohne"
        "/niemand/nichts/nunca/jamás/nada/sin/ningun[oa]/no se/jamais/aucune?/pas/sans/ne"
        "/mai/niente/senza/non/nunca/não/sem/nenhum\\w?/nooit/niet/geen/zonder"
        "/nigdy/bez/nie/никогда/без/не/нельзя/asla/hiç"
    ),
    "only": _list_words(
        "only/just/nowhere else/at most/at least/max/exactly/before/first/until/unless/instead of"
        "/rather than/except/but not/nur/höchstens/mindestens/erst/vorher/sólo/solo/antes/máximo"
        "/como mucho/seulement/uniquement/avant/au plus/prima/soltanto/só/apenas/alleen/eerst"
        "/tylko/najpierw/только/сначала/сперва/sadece/önce"
    ),
    "must": _list_words(
        "must/should/shall/has to/have to/needs?/needed/required/may/is to/are to/ought/please/pls"
        "/make sure/muss/müssen/soll\\w*/darf/dürfen/bitte/debe\\w*/hay que/tiene que/por favor"
        "/doit/doivent/il faut/merci de/s'il te plaît/deve/devono/bisogna/per favore/devem?"
        "/tem de/moet\\w*/mag/graag/musi/trzeba/proszę/должн\\w+/надо/нужно/пожалуйста/\\w+malı"
    ),
    "prefers": _list_words(
        "prefer\\w*/i want/i like/i love/i hate/i'd rather/can't stand/cannot bear/unreadable"
        "/i don't want"
        "/i read/i only/tell me/give me/show me/ask me/ask/ich mag/ich möchte/ich will/lieber"
        "/prefiero/me gusta/no me gusta/quiero/préfère/je veux/j'aime/réponds\\S*/preferisco"
        "/voglio/prefiro/quero/wil/liever/wolę/chcę/люблю/предпочита\\w+/хочу"
    ),
    "done_so": _list_words(
        r"is/are/gets?/stays?/goes/go/carr(?:y|ies)/live/lives?/starts?/ends?/belongs?/come/comes"
        r"/wird/werden/gehen?/bleib\w+/kommt/se \w+/van/on \w+/vanno/vão/krijgt/gaan/ma/mają"
    ),
    "happened": _list_words(
        r"was/were/had/did/went/came/got/took/left/moved/switched/chose/picked/decided/bought/paid"
        r"/said/told/broke/failed/turned/started/asked/became/ran/yesterday/ago"
        r"/last (?:week|month|year|winter|summer|spring|autumn|night)"
        r"/war/waren/wurden?/hatten?/haben/gestern/ist \w+ \w*ge\w+t"
        r"/fue/fueron/pasó/compramos/cayó/ayer/a été/ont/est passé\w*/sommes/era/è stat\w"
        r"/abbiamo/ieri/foi/saiu/mudámos/ontem/werd/was/zijn/waren/był\w?/przeszliśmy/kupiliśmy"
        r"/было/был\w?/ушла/перее\w+/выбрал\w*/taşındı/geçtik/geçemedi"
    ),
    "tells": _list_words(
        "lives/works/runs/owns/weighs/costs/lasts/takes/means/opens/leaves/holds/speaks/is called"
        "/located/i am/i'm/my name/wohnt/heißt/leitet/steht/liegt/vive/dirige/trabaja/habite"
        "/s'appelle/abita/lavora/si chiama/mora/fica/woont/leidt/draait/mieszka/prowadzi/живёт"
        "/ведёт/стоит"
    ),
    "dated": _list_words(
        r"20\d\d/january/february/march/april/may \d/june/july/august/september/october/november"
        r"/december/januar/märz/mai/juni/juli/enero/marzo/mayo/janvier/mars/juin/janeiro/maart"
    ),
}

_CHANGE_SIGNS: Mapping[str, WordPattern] = {
    "ended": WordPattern(
        (),
        r"\b(?:no longer|any ?more|is gone|switched off"
        r"|(?:nicht|keine?[nrsm]?|nie) (?:\w+ ){0,3}?mehr|ya no|n(?:e |')\S+ (?:\w+ )?plus"
        r"|plus (?:à|sur|de|d'|du|en|le|la|les)|non (?:\w+ )?più|già non|já não|não \w+ mais"
        r"|niet (?:\w+ ){0,2}?meer|geen (?:\w+ )?meer|już nie|nie \w+ już)\b"
        r"|больше не|уже не|不再|ではな[いく]|なくなった",
        (
            *("longer", "more", "gone", "switched", "mehr", "ya no", "plus", "più", "già", "já"),
            *("mais", "meer", "już", "больше", "уже", "不再", "ではな", "なくなった"),
        ),
    ),
    "by_now": WordPattern(
        (),
        r"(?<!from )\bnow\b(?! on\b)|(?<!ab )(?<!von )\bjetzt\b|(?<!de )\bahora\b"
        r"|(?<!de )\bmaintenant\b|(?<!d')(?<!\w)ora\b(?! in poi)|(?<!de )\bagora\b"
        r"|(?<!vanaf )\bnu\b|(?<!od )\bteraz\b|(?<!\w)теперь(?!\w)|现在|今は",
        (
            *("now", "jetzt", "ahora", "maintenant", "ora", "agora", "nu", "teraz"),
            *("теперь", "现在", "今は"),
        ),
    ),
}
_LISTED_SIGNS = {**_WORD_SIGNS, **_CHANGE_SIGNS}

_BEGINNINGS: Mapping[str, re.Pattern[str]] = {
    "bids": compile_late(
        r"\W{0,3}(?:please |and |also |bitte |always |never )*(?:use|keep|write|put|call|run"
        r"|name|give|tell"
        r"|show|ask|answer|reply|send|sign|quote|cite|sort|prefer|avoid|check|commit|make|do|let"
        r"|leave|add"
        r"|explain|translate|review|present|return|travel|bring|paste|treat|read|start|stop|wait"
        r"|document"
        r"|nimm|nutze?|schreib\w?|verwende|frag|antworte|zeig|halte|gib|usa|escribe|escreve|pon"
        r"|di|dime|haz"
        r"|evita|responde|utilise|écris|mets|réponds|évite|scrivi|metti|rispondi|gebruik|schrijf"
        r"|geef"
        r"|używaj|pisz|odpowiadaj|stosuj|отвечай|пиши|используй|kullan|yaz)\b",
    ),
    "orders": compile_late(
        r"\W{0,3}(?:never|always|do not|don't|dont|please|only|no more|from now on|make sure|nie"
        r"|niemals|immer|bitte|ab (?:jetzt|sofort)|stets|nunca|siempre|por favor"
        r"|a partir de (?:ahora|agora)|jamais|toujours|désormais|mai|sempre|d'ora in poi|altijd"
        r"|nooit|voortaan|zawsze|nigdy|od teraz|всегда|никогда)\b",
    ),
    "when": compile_late(
        r"\W{0,3}(?:when|whenever|if|before|after|anything|everything|whoever|for|in this|wenn"
        r"|bei|vor"
        r"|für|cuando|si|antes|para|quand|si|avant|pour|quando|se|prima|per|als|voor|gdy|jeśli"
        r"|если|когда"
        r"|перед|для)\b",
    ),
}

_FIGURES = compile_late(r"\d{2,}|[€$£%]|\d[.,:]\d")
_HAPPENED_IN_IDEOGRAPHS = compile_late(r"た。|ました|去年|昨|上次|了。?$")
_RULE_IN_IDEOGRAPHS = compile_late(
    r"必ず|絶対|しない|ないで|ください|すること|こと。|禁止|だけ|のみ|お願い|使わ|一律|不要|不许|不能"
    r"|不得|必须|尽量|绝不|绝对|只用|禁止|先|不上|要用|一定"
)
_LIST_MARKS = frozenset(",;、，")
_NAMES = compile_late(r"\w[\s,]+[A-ZÄÖÜА-Я][a-zäöüßа-яё]{2,}")


def read_standing_signs(text: str) -> Mapping[str, float]:
    """Return the signs, each from 0 to 1."""
    begins = text[:READ_CHARS].strip()
    count = len(begins.split())
    lowered = begins.lower()  # patterns that ignore case take five times as long
    signs = {name: float(listed.fits(lowered)) for name, listed in _LISTED_SIGNS.items()}
    for name, beginning in _BEGINNINGS.items():
        signs[name] = float(beginning.match(lowered) is not None)
    rules = False
    if not lowered.isascii():
        rules = _RULE_IN_IDEOGRAPHS.search(lowered) is not None
        if _HAPPENED_IN_IDEOGRAPHS.search(lowered) is not None:
            signs["happened"] = 1.0
    return {
        **signs,
        "figures": float(_FIGURES.search(lowered) is not None),
        "asks": float(lowered.endswith(("?", "？"))),
        "rule_in_ideographs": float(rules),
        "lists": float(not _LIST_MARKS.isdisjoint(lowered)),
        "short": float(count <= SHORT_WORDS),
        "long": min(count, LONG_WORDS) / LONG_WORDS,
        "names": float(_NAMES.search(begins) is not None),
    }
