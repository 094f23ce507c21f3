"""What shows by its form whether something said in a conversation is worth keeping, and as what.

Each sign is a number that a learnt head weighs (`ingest/worth_head.py`): whether a sentence asks,
doubts, bids somebody do something now, states a rule, tells of a person, gives a number. The words
are those of several languages; of a language that is not among them fewer signs are seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from madeleine.language.late_pattern import compile_late

SHORT_WORDS = 3
MIDDLE_WORDS = 7
LONG_WORDS = 25


def _compile_words(text: str) -> re.Pattern[str]:
    return compile_late(rf"(?<!\w)(?:{'|'.join(text.split('/'))})(?!\w)", re.I)


_SIGNS: Mapping[str, re.Pattern[str]] = {
    "asks": compile_late(
        r"[?？]\s*$|^(?:what|why|how|where|when|who|which|is it|does|do we|did|can you|could you"
        r"|can we"
        r"|shall|should|was|wie|wo|warum|wann|wer|kannst|können|soll|qué|cómo|dónde|cuándo|por qué"
        r"|puedes|est-ce|c'est quoi|comment|pourquoi|peux-tu|tu peux)\b", re.I),
    "doubts": _compile_words(
        "maybe/perhaps/might/could/dunno/don't know/not sure/no idea/some ?day/one day/we'll see"
        "/who knows"
        "/let me think/sleep on it/probably/i think/i guess/i bet/i suppose/dreaming/thinking"
        "/tempted/tempting"
        "/or not/haven't decided/undecided/not decided/back and forth/at some point/would be nice"
        "/could be"
        "/just an idea/depends/wondering/what if/vielleicht/mal sehen/weiß nicht/weiss nicht"
        "/irgendwann/eventuell"
        "/womöglich/überlege[n]?/könnte[n]?/quizás?/a lo mejor/tal vez/igual/algún día/no sé/ya"
        " veremos/veremos"
        "/peut[- ]être/on verra/je sais pas/je ne sais pas/un jour/faudrait/pourrait/misschien"
        "/forse/może/talvez"
        "/ni idea/boh/zobaczymy/vediamo"),
    "bids_now": compile_late(
        r"^(?:please |pls |now |then |first |just |can you |could you )*(?:run|fix|show|look"
        r"|check|open|add|rename"
        r"|commit|push|do|try|write|list|move|revert|draft|sum|translate|find|make|give|tell|print|see|read"
        r"|compare|rebase|merge|restart|explain|paste|update|install|start|stop|go|let's|let me"
        r"|change|delete"
        r"|remove|build|test|put|undo|book|cancel|remind|sort|mach|zeig|schau|druck|schreib|ändere|bestell|such"
        r"|prüf|mira|haz|enséña|busca|escribe|cambia|regarde|montre|fais|écris|change|ajoute|cherche|vas-y)"
        r"(?:me|le|lo|la)?\b", re.I),
    "lasts": _compile_words(
        "always/never/ever/in future/in the future/from now on/going forward/every/each/as a rule"
        "/generally/in general"
        "/for all/all of our/everywhere/anywhere/no exceptions/whenever/nobody/house rule/general"
        " rule/rule/law/by default"
        "/ab jetzt/immer/nie/niemals/grundsätzlich/generell/in zukunft/künftig/jede[rsnm]?"
        "/überall/siempre/nunca"
        "/jamás/a partir de ahora/en general/cada/todos los/toujours/jamais/désormais/à partir de"
        " maintenant"
        "/chaque/partout/altijd/nooit/sempre/mai/zawsze/nigdy"),
    "likes": _compile_words(
        "hate/hates/can't stand/cannot stand/prefer/prefers/i'd rather/i like/i love/don't like"
        "/dislikes?/i want/wants/don't want"
        "/doesn't want/i don't do/hives/allergic/annoys me/please don't/no more/stop/i need you"
        "/albern/hasse/mag/lieber"
        "/will nicht/möchte/odio/prefiero/no soporto/me gusta/quiero/no quiero/déteste/préfère"
        "/j'aime/je veux"
        "/veux plus/niet leuk/odio/nie lubię"),
    "decides": _compile_words(
        "decided/settled/agreed/chose/we take/we'll take/we go/go with/going with/we'll use/we"
        " use/stays?/instead of/drop/drops"
        "/keep/keeps/cap/final/then/goes/gone/becomes?/it is/signed off/we do/we're not/we are"
        " not/won't/is out/out/only"
        "/must/has to/have to/shall/limit/wir nehmen/nehmen wir/bleibt/bleiben/ausgemacht"
        "/entschieden/fliegt raus/statt/muss"
        "/nur/nos quedamos/quedamos/decidimos/sin/fuera/solo/on garde/on prend/décidé/pas de"
        "/seulement/donc/also"),
    "rejects": compile_late(
        r"^(?:no|not|never|don't|do not|kein\w*|nicht|sin|nada de|pas de|geen|nie|bez)\s", re.I),
    "contrasts": compile_late(
        r",? (?:not|never|nicht|nie|no|pas|jamais|kein\w*|sondern|sino|rather than|instead of"
        r"|but only) ", re.I),
    "reasons": _compile_words(
        "because/since/so that/otherwise/or else/or you/that's why/the reason/due to/thanks to"
        "/weil/sonst/damit/denn"
        "/porque/si no/así/parce que/sinon/car/omdat/perché"),
    "warns": _compile_words(
        "careful/watch out/gotcha/turns out/turned out/only works?/doesn't work/the trick/what"
        " worked/what helped/wrong"
        "/you have to/you need to/has to be/had to/make sure/mind/beware/otherwise/or it/fails?"
        "/hangs/needs/without"
        "/before you/first and/and then/achtung/vorsicht/man muss/sonst/erst/lag am/ojo/cuidado"
        "/hay que/primero/era la"
        "/attention/il faut/faut/d'abord/sinon"),
    "person": compile_late(
        r"\b(?:my (?:boss|wife|husband|sister|brother|son|daughter|mother|father|trainer|partner"
        r"|team|landlady|landlord)"
        r"|is called|the contact|contact is|on leave|reports? to|owns|responsible|maintainer"
        r"|in charge|is out from"
        r"|left in|took over|stands in|mein\w* (?:chef|frau|mann|tochter|sohn|schwester|bruder)"
        r"|heißt|zuständig|herr"
        r"|frau|señora?|mi (?:hermana|hermano|jefe|hija|hijo|mujer|marido)|se encarga|en congés"
        r"|s'appelle"
        r"|c'est \w+ qui|mr\.?|mrs\.?|ms\.?|dr\.?|pani|mevrouw|she|he|her|his|him|er|sie|ella"
        r"|elle|lui)\b", re.I),
    "speaker": compile_late(
        r"\b(?:i|i'm|i've|i'd|my|me|ich|mein\w*|mir|yo|mi|je|j'|mon|ma)\b", re.I),
    "we": compile_late(
        r"\b(?:we|our|us|we're|we've|wir|uns\w*|nosotros|nuestr\w+|tenemos|on|nous|notre"
        r"|nos)\b", re.I),
    "number": compile_late(r"\d"),
    "dated": compile_late(
        r"\b(?:\d{1,2}(?:st|nd|rd|th)|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february"
        r"|march|april|june|july|august|september|october|november|december|deadline|due|until|christmas"
        r"|easter|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?|januar|februar|märz|mai"
        r"|juni|juli|oktober|dezember|ostern|lunes|martes|miércoles|jueves|viernes|sábado|domingo|enero|febrero"
        r"|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lundi|mardi|mercredi"
        r"|jeudi|vendredi|samedi|dimanche|janvier|février|mars|avril|juin|juillet|août|octobre"
        r"|novembre)\b", re.I),
    "moment": _compile_words(
        "right now/for now/at the moment/today/tonight/currently/still/again/just now/this time"
        "/for the moment/so far"
        "/this morning/tomorrow/jetzt gerade/gerade/heute/morgen/im moment/immer noch/ahora mismo"
        "/hoy/mañana/todavía"
        "/aujourd'hui/demain/pour l'instant/encore"),
    "will_do": _compile_words(
        "i'll/let me/i will/i do it/i do that/myself/back in/brb/gotta/i have to run/i'm going"
        "/ich geh/ich mach/me voy/je file"
        "/i'd have to/i need to see/i want to see/i'd like to see"),
    "chats": _compile_words(
        "lol/haha+/hehe/coffee/lunch/tea/dinner/starving/hungry/tired/weather/kid/dog/cat/beer/pub/canteen/rain/rains/snow/game"
        "/wish me luck/good night/sleep well/see you/bye/thanks/thank you/happy/sorry/love it"
        "/beautiful/perfect/nice/great"
        "/feierabend/essen/danke/wetter/gracias/genial/calor/comer/merci/nickel/bazar/kermesse"),
    "happened": _compile_words(
        "i tried/i measured/i looked/i ran/i went/i had/i ate/i read/i saw/i counted/yesterday"
        "/last night/gestern/ayer/hier"
        "/it fails/fails with/crashes/crashed/broke/error/is red/is down/same error"),
    "quotes": _compile_words(
        "says/said/they say/claims?/the docs/readme/the blog/in the ticket/the comment/i read"
        "/interview/magazine/steht/dice"
        "/según/il dit/selon/the mail/datasheet"),
    "means": compile_late(
        r"\b(?:means?|is what we call|when i say|with us|by .{1,20} we mean|on purpose"
        r"|the point of|heißt bei uns|meinen wir|chez nous|whole reason)\b", re.I),
    "aims": _compile_words(
        "i want to be/we want to/the plan is/goal/aim/by (?:christmas|easter|summer|autumn|spring"
        "|winter|the end)/due on/is due/deadline"
        "/before summer/until easter/bis ostern/soll fertig/ziel/antes de/on vise/au plus tard"
        "/this quarter/this year/hopefully"),
    "name": compile_late(r"(?<=[a-zà-ÿ,:;] )[A-ZÀ-Þ][a-zà-ÿ]{2,}"),
    "thing": compile_late(r"[a-z]+[._/][a-z]+|[a-z]+[A-Z][a-z]+|`|\b[A-Z]{2,}\d*\b|--?\w"),
    "colon": compile_late(r"\w:\s\w"),
    "loud": compile_late(r"!|\b[A-Z]{4,}\b"),
}  # fmt: skip


def read_worth_signs(
    sentence: str, lead: str = "", after_failure: bool = False
) -> dict[str, float]:
    """Return the signs of a sentence. `lead` is what was said to its author just before; after a
    failure what is said is more likely what helps."""
    words = len(sentence.split())
    found = {name: float(sign.search(sentence) is not None) for name, sign in _SIGNS.items()}
    asked = lead.rstrip().endswith(("?", "？"))
    found |= {
        "short": float(words <= SHORT_WORDS),
        "middle": float(SHORT_WORDS < words <= MIDDLE_WORDS),
        "long": float(words > LONG_WORDS),
        "words": min(words, LONG_WORDS) / LONG_WORDS,
        "answers": float(asked),
        "answers_in_short": float(asked and words <= MIDDLE_WORDS),
        "answers_with_number": found["number"] * asked,
        "after_failure": float(after_failure),
    }
    return found
