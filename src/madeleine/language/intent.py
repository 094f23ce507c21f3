"""What a prompt is for: talk, going on, the asker themselves, a time, or anything else.

Told by turns of phrase where those are plain, and otherwise by similarity to examples, which
the caller measures. The phrases are English, but for thanks and greetings, which a table gives
in other languages too; in those, similarity decides the rest. Whether the person is asked about is
told by `self_questions.py` alone: what is only like such a question brings nothing private.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from madeleine.language.language_files import LanguageFile
from madeleine.language.late_pattern import compile_late
from madeleine.language.phrases import find_foreign_phrases, fold_in_place, likely_languages
from madeleine.language.question_words import UNSPACED_LANGUAGES
from madeleine.language.self_questions import asks_about_person
from madeleine.language.small_talk import asks_to_go_on, names_nothing
from madeleine.language.times import find_newest_words

TALK_MARGIN = 0.15  # how much less likely all else must be for a prompt to be mere talk
_WORD = re.compile(r"[^\W_]+")
SHORT_WORDS = 8  # a longer prompt says more than that it goes on


class Intent(StrEnum):
    """A prompt may have several."""

    CONVERSATIONAL = "conversational"
    CONTINUATION = "continuation"
    IDENTITY = "identity"
    TEMPORAL = "temporal"
    GENERAL = "general"


INTENT_EXAMPLES: Mapping[Intent, tuple[str, ...]] = {
    Intent.CONVERSATIONAL: (
        "thanks a lot",
        "ok great",
        "sounds good to me",
        "hello, how are you?",
        "good morning",
        "yes please go ahead",
        "nice work, well done",
        "tell me a joke",
        "what is the meaning of life?",
        "bye, see you tomorrow",
    ),
    Intent.CONTINUATION: (
        "continue with that",
        "go on from where we left off",
        "keep going with the same thing",
        "what about the other one?",
        "and then what?",
        "do the same for the rest",
    ),
    Intent.IDENTITY: (
        "what do you know about me?",
        "who am I?",
        "where do I live?",
        "what are my preferences?",
        "what is my name?",
    ),
    Intent.TEMPORAL: (
        "what did we do yesterday?",
        "what happened last week?",
        "what have I been working on recently?",
        "what did we decide today?",
    ),
}

_TALK_BY_LANGUAGE = {
    "German": "danke|danke schön|danke sehr|vielen dank|besten dank|tausend dank|hallo|moin|servus"
    "|guten morgen|guten tag|guten abend|gute nacht|grüß gott|tschüss|tschüß|bis bald|bis später"
    "|auf wiedersehen|ja|nein|gut|sehr gut|super|prima|toll|genau|alles klar|passt|bitte",
    "French": "merci|merci beaucoup|mille mercis|bonjour|bonsoir|salut|coucou|bonne nuit"
    "|bonne journée|au revoir|à bientôt|à demain|oui|non|d'accord|parfait|très bien|super|génial"
    "|ça va|comment ça va",
    "Spanish": "gracias|muchas gracias|mil gracias|hola|buenos días|buenas tardes|buenas noches"
    "|buenas|adiós|hasta luego|hasta mañana|sí|no|vale|de acuerdo|perfecto|genial|muy bien"
    "|qué tal|cómo estás|de nada",
    "Italian": "grazie|grazie mille|molte grazie|ciao|salve|buongiorno|buonasera|buonanotte"
    "|arrivederci|a presto|a domani|sì|no|va bene|d'accordo|perfetto|ottimo|come stai|prego",
    "Portuguese": "obrigado|obrigada|muito obrigado|muito obrigada|valeu|olá|oi|bom dia|boa tarde"
    "|boa noite|tchau|até logo|até amanhã|sim|não|tudo bem|perfeito|ótimo|de nada",
    "Dutch": "dank je|dank je wel|dankjewel|dank u|bedankt|hartelijk dank|hallo|hoi|goedemorgen"
    "|goedemiddag|goedenavond|welterusten|doei|tot ziens|tot morgen|ja|nee|prima|goed|alsjeblieft",
    "Swedish, Danish, Norwegian": "tack|tack så mycket|tusen tack|tak|mange tak|tusind tak|takk"
    "|mange takk|tusen takk|hej|hejsan|hei|hallå|god morgon|god morgen|godmorgen|god kväll|god natt"
    "|hej då|ha det|ja|nej|nei|bra|perfekt",
    "Finnish": "kiitos|kiitos paljon|moi|hei|huomenta|hyvää huomenta|hyvää iltaa|näkemiin|kyllä",
    "Polish": "dziękuję|dziękuję bardzo|dzięki|wielkie dzięki|cześć|hej|dzień dobry|dobry wieczór"
    "|dobranoc|do widzenia|na razie|tak|nie|dobrze|super|świetnie",
    "Czech": "děkuji|děkuju|díky|moc děkuji|ahoj|dobrý den|dobré ráno|dobrou noc|na shledanou|ano",
    "Romanian": "mulțumesc|mulțumesc mult|mersi|bună|bună ziua|bună dimineața|noapte bună"
    "|la revedere|da|nu",
    "Greek": "ευχαριστώ|ευχαριστώ πολύ|γεια|γεια σου|γεια σας|καλημέρα|καλησπέρα|καληνύχτα|ναι|όχι"
    "|τέλεια|εντάξει",
    "Turkish": "teşekkürler|teşekkür ederim|çok teşekkürler|sağ ol|merhaba|selam|günaydın"
    "|iyi akşamlar|iyi geceler|evet|hayır|tamam",
    "Ukrainian": "дякую|дуже дякую|привіт|добрий день|добрий ранок|добрий вечір|на добраніч|так",
    "Russian": "спасибо|большое спасибо|спасибо большое|благодарю|привет|здравствуйте|здравствуй"
    "|доброе утро|добрый день|добрый вечер|спокойной ночи|до свидания|пока|да|нет|хорошо|отлично"
    "|супер|ладно|понятно|как дела",
    "Arabic": "شكرا|شكرا جزيلا|شكرا لك|ألف شكر|مرحبا|أهلا|أهلا وسهلا|السلام عليكم|وعليكم السلام"
    "|صباح الخير|صباح النور|مساء الخير|تصبح على خير|مع السلامة|إلى اللقاء|نعم|لا|حسنا|تمام|ممتاز"
    "|كيف حالك|عفوا",
    "Hebrew": "תודה|תודה רבה|שלום|בוקר טוב|ערב טוב|לילה טוב|להתראות|כן|לא|מצוין",
}
"""Thanks, greetings and a short yes or no, by language. A prompt is talk only if nothing else
stands in it, so a word that means something else in another language does no harm."""
_UNSPACED_TALK = {
    "Japanese": "ありがとう|ありがとうございます|ありがとうございました|どうもありがとう"
    "|どうも|感謝します|こんにちは|こんばんは|おはよう|おはようございます|おやすみ|おやすみなさい|さようなら"
    "|またね|また明日|お疲れ様|お疲れ様です|お疲れさま|お疲れさまです|よろしく|よろしくお願いします"
    "|はい|いいえ|了解|了解です|いいね|いいですね|わかりました|分かりました|すみません",
    "Chinese": "谢谢|谢谢你|谢谢您|多谢|非常感谢|感谢|謝謝|謝謝你|多謝|感謝|你好|您好|嗨|大家好"
    "|早|早上好|早安|下午好|晚上好|晚安|再见|再見|拜拜|明天见|好|好的|好吧|是|是的|对|對|不|不是"
    "|没问题|沒問題|太好了|很好|不错|不錯|辛苦了|明白|明白了|了解|收到",
    "Korean": "감사합니다|감사해요|고마워|고마워요|고맙습니다|안녕|안녕하세요|안녕히 가세요"
    "|좋은 아침|잘 자|네|아니요|좋아요|알겠습니다",
}
"""The same where words are not set apart."""


def _fold_accents(text: str) -> str:
    """Return a text in lower case and without accents, which not everybody types."""
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    return "".join(each for each in letters if not unicodedata.combining(each))


def _build_alternation(tables: Iterable[str]) -> str:
    """Return a pattern of the tables' phrases, the longer first."""
    phrases = {_fold_accents(each) for table in tables for each in table.split("|")}
    return "|".join(
        re.escape(each) for each in sorted(phrases, key=lambda each: (-len(each), each))
    )


# The longer phrase stands first and a word once taken is not given back (`(?>`): otherwise "thank
# you", which is also two words, doubles the work each time that it is said.
_TALK = compile_late(
    r"(?>\W|\b(?:got it|i see|makes sense|sounds good|looks good|well done|good job|nice work"
    r"|love it|good (?:morning|afternoon|evening|night)|see you|go ahead|go for it"
    r"|do (?:it|that|so)|run it|ship it|go on|carry on|keep going|let'?s go|try again|never ?mind"
    r"|how are you(?: doing)?|what'?s up|a lot|so much|very much|thank you"
    r"|ok(?:ay)?|k|yes|yeah|yep|yup|no|nope|sure|thanks?|thx|ty|great|good|nice"
    r"|cool|perfect|awesome|excellent|fine|right|correct|exactly|indeed|agreed"
    r"|lgtm|hi|hello|hey|bye|goodbye|welcome|please|hm+|ah+|oh+|wow"
    r"|lol|haha|proceed|continue|next|stop|wait|cancel|undo|retry|again|done"
    r"|all|it|that|then|now|everyone|there|you|and|me|for|to|the|is"
    rf"|{_build_alternation(_TALK_BY_LANGUAGE.values())})\b|{_build_alternation(_UNSPACED_TALK.values())})+",
)
_CONSENT = compile_late(
    r"\b(?:go ahead|go for it|go on|do (?:it|that|so)|carry on|keep going|let'?s go|proceed"
    r"|continue)\b"
)
_GOING_ON = compile_late(
    r"^\W*(?:and|also|but|so|then|now)\b|^\W*(?:continue|go on|keep going|carry on|resume"
    r"|pick up where|same (?:again|thing|for)|what about|how about|do (?:the same|that|it) )"
    r"|\b(?:where we left off|as (?:before|above)|the (?:other|next|same) one|do that again)\b",
    re.IGNORECASE,
)
_RESUMES = compile_late(r"\b(?:left off|pick up where|last time)\b", re.IGNORECASE)
"""What goes on with an earlier session, and so needs nothing said in this one."""
_OF_A_TIME = compile_late(
    r"\b(?:what|which|anything|summari[sz]e|recap|show|list|remind)\b.{0,60}\b(?:yesterday|today"
    r"|tonight|last (?:night|week|month|year|time|session|\w+day)|this (?:week|month|morning|year)"
    r"|recent(?:ly)?|lately|latest|past (?:few |\d+ )?(?:days?|weeks?|months?)"
    r"|since \w+|\d+ (?:days?|weeks?|months?) ago)\b",
    re.IGNORECASE,
)


def read_intents(prompt: str) -> frozenset[Intent]:
    """Return the intents that a prompt's own words tell."""
    text = prompt[:2_000].strip()
    few = len(text.split()) <= SHORT_WORDS
    found = set()
    if few and is_only_continuation(text):
        found.add(Intent.CONTINUATION)
    elif text and _is_talk(text):
        found.add(Intent.CONVERSATIONAL)
    if few and _GOING_ON.search(text):
        found.add(Intent.CONTINUATION)
    if asks_about_person(text):
        found.add(Intent.IDENTITY)
    if _asks_of_a_time(text):
        found.add(Intent.TEMPORAL)
    if not found and _names_no_subject(text):
        found.add(Intent.CONTINUATION if asks_to_go_on(text) else Intent.CONVERSATIONAL)
    return frozenset(found)


def is_only_continuation(prompt: str) -> bool:
    """Whether a prompt only lets something go on that was spoken of before, or asks for more of
    it: `yes, go ahead`, `tell me more`."""
    text = prompt[:2_000].strip()
    if _is_talk(text):
        return _CONSENT.search(text.lower()) is not None
    return _names_no_subject(text) and asks_to_go_on(text) and _RESUMES.search(text) is None


def _names_no_subject(text: str) -> bool:
    """Whether a prompt names nothing to look for: neither a matter nor a time nor the person."""
    return names_nothing(text) and not asks_about_person(text) and not _asks_of_a_time(text)


def _asks_of_a_time(text: str) -> bool:
    """Whether something is asked of a time: by English words, or by those that the file of another
    language gives."""
    if _OF_A_TIME.search(text) is not None:
        return True
    if not (find_newest_words(text) or find_foreign_phrases(text, "times")):
        return False
    words = _WORD.findall(fold_in_place(text))
    return any(_asks_in(text, words, known) for known in likely_languages(text) if known.asks)


def _asks_in(text: str, words: Sequence[str], known: LanguageFile) -> bool:
    if known.code in UNSPACED_LANGUAGES:
        return any(each in text for each in known.asks)
    asking = {fold_in_place(each) for each in known.asks}
    small = fold_in_place(text)
    return not asking.isdisjoint(words) or any(
        not each.isalpha() and each in small for each in asking
    )


def _is_talk(text: str) -> bool:
    return _TALK.fullmatch(_fold_accents(text)) is not None


def combine_intents(
    told: frozenset[Intent], similarity: Mapping[Intent, float], threshold: float
) -> frozenset[Intent]:
    """Return what a prompt is for, given its words and its best similarity to each intent's
    examples. It is mere talk only if nothing else comes near."""
    found = set(told) | {each for each, value in similarity.items() if value >= threshold}
    talk = similarity.get(Intent.CONVERSATIONAL, 0.0)
    others = [value for each, value in similarity.items() if each is not Intent.CONVERSATIONAL]
    surely = Intent.CONVERSATIONAL in told or all(value <= talk - TALK_MARGIN for value in others)
    if not surely:
        found.discard(Intent.CONVERSATIONAL)
    return frozenset(found) or frozenset({Intent.GENERAL})


def is_only_talk(found: frozenset[Intent]) -> bool:
    """Whether a prompt asks for nothing that a memory could help with."""
    return found == {Intent.CONVERSATIONAL}
