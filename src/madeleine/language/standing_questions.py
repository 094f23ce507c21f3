"""Whether a question asks for all that says how things are to be done: `what are my preferences?`,
`which rules do I have here?`.

It is asked in a dozen languages. What asks for one rule of a subject (`what is the rule for dates`)
asks no such thing: nothing but the asker and the place may stand beside the words for rules.
"""

from __future__ import annotations

import re

from madeleine.language.late_pattern import compile_late

MOST_CHARS = 120

_RULES = (
    r"(?:(?:standing |house |coding |personal |own |current |general )*"
    r"(?:preferences?|rules|instructions|conventions|guidelines|standing orders|standing notes))"
)
_LISTED = rf"{_RULES}(?:,? (?:and|or) (?:my |our |the )?{_RULES})*"
_HERE = (
    r"(?:\s+(?:here|again|so far|do (?:i|we) have|have (?:i|we) (?:got|set|given you)?|that (?:i"
    r"|we) have"
    r"|(?:i|we) have|are there|apply|hold|for (?:this|the) (?:project|repo|repository|space)"
    r"|in (?:this|the) (?:project|repo|repository|space)|you (?:know|have)|of mine|stored|saved"
    r"|to (?:keep|follow)|should you (?:follow|keep to|know)|you should (?:follow|know)))*"
)
_ENGLISH = (
    r"(?:please |so |and |now |ok |then )*"
    r"(?:(?:what|which)(?: are|'re| were)?|list|show|tell|give|recall|remind me of|summari[sz]e"
    r"|do you know)"
    rf"(?: me| us)?(?: about)?(?: all)?(?: of)?(?: the| my| our| your"
    rf"| any)*(?: of my)? {_LISTED}{_HERE}"
)
_OTHERS = (
    r"(?:was sind|welche|zeig\w*|nenn\w*|liste)(?: mir)?(?: alle)?(?: sind)?(?: meine| unsere"
    r"| die)?"
    r" (?:vorlieben|präferenzen|regeln|vorgaben|anweisungen|konventionen)"
    r"(?: (?:habe ich|haben wir|gelten|gibt es|hier|auf|in diesem projekt|für dieses projekt))*",
    r"(?:cuáles son|qué|muéstrame|dime|lista)(?: todas)?(?: mis| nuestras| las)?"
    r" (?:preferencias|reglas|normas|instrucciones|convenciones)"
    r"(?: (?:tengo|tenemos|hay|aquí|en este proyecto|valen))*",
    r"(?:quelles sont|quelles|montre-moi|donne-moi|liste)(?: toutes)?(?: mes| nos| les)?"
    r" (?:préférences|règles|consignes|conventions)"
    r"(?: (?:ai-je|avons-nous|y a-t-il|ici|valent|pour ce projet|dans ce projet))*",
    r"(?:quali sono|quali|mostrami|dimmi|elenca)(?: tutte)?(?: le)?(?: mie| nostre)?"
    r" (?:preferenze|regole|istruzioni|convenzioni)"
    r"(?: (?:ho|abbiamo|ci sono|qui|valgono|in questo progetto))*",
    r"(?:quais são|quais|mostra-me|mostre|lista)(?: todas)?(?: as)?(?: minhas| nossas)?"
    r" (?:preferências|regras|instruções|convenções)"
    r"(?: (?:tenho|temos|há|aqui|valem|neste projeto|neste projecto))*",
    r"(?:wat zijn|welke|toon|geef)(?: me)?(?: al)?(?: mijn| onze| de)?"
    r" (?:voorkeuren|regels|afspraken|instructies)"
    r"(?: (?:heb ik|hebben we|zijn er|gelden|hier|in dit project|voor dit project))*",
    r"(?:jakie|pokaż|wymień|podaj)(?: są| mam| mamy)*(?: wszystkie)?(?: moje| nasze)?"
    r" (?:preferencje|zasady|reguły|instrukcje)(?: (?:mam|mamy|są|tu|tutaj|obowiązują"
    r"|w tym projekcie))*",
    r"(?:какие|покажи|перечисли)(?: есть)?(?: у меня| у нас)?(?: все)?(?: мои| наши)?"
    r" (?:предпочтения|правила|инструкции|договорённости)"
    r"(?: (?:есть|у меня|у нас|здесь|тут|действуют|в этом проекте))*",
    r"(?:tercihlerim|kurallarım|kurallarımız|tercihlerimiz)(?: burada)?(?: neler| ne|i göster)",
)
_IDEOGRAPHS = (
    r"(?:我的|我们的|这里|这个项目|我|我们)*(?:都|有|的|有哪些|有什么)*(?:偏好|规则|规矩|约定|习惯)"
    r"(?:是什么|有哪些|有什么|是哪些|都有哪些|呢)?",
    r"(?:私の|ここの|うちの|このプロジェクトの)+(?:好み|ルール|決まり|決まりごと|約束事|規則)"
    r"(?:は|を)?(?:何|なに|どれ|教えて|一覧|見せて)?(?:ですか|ください|がありますか)?",
)
_RULE_WORDS = tuple(
    """
    preference rules instruction convention guideline standing
    vorlieben präferenzen regeln vorgaben anweisungen konventionen
    preferencias reglas normas instrucciones convenciones
    préférences règles consignes
    preferenze regole istruzioni convenzioni
    preferências regras instruções convenções
    voorkeuren regels afspraken instructies
    preferencje zasady reguły instrukcje
    предпочтения правила инструкции договорённости
    tercihlerim kurallarım tercihlerimiz
    偏好 规则 规矩 约定 习惯 好み ルール 決まり 約束事 規則
    """.casefold().split()
)
"""What every such question holds one of. To read on takes patterns that take 20 ms to compile."""
_ASKED = compile_late(rf"\W*(?:{'|'.join((_ENGLISH, *_OTHERS, *_IDEOGRAPHS))})\W*\Z", re.IGNORECASE)
_ALONE = compile_late(rf"\W*(?:(?:all )?(?:my|our) {_LISTED}{_HERE})\W*\Z", re.IGNORECASE)


def asks_for_standing_notes(text: str) -> bool:
    """Whether all standing notes are asked for."""
    if len(text) > MOST_CHARS:
        return False
    folded = text.casefold()
    if not any(each in folded for each in _RULE_WORDS):
        return False
    plain = " ".join(text.replace("’", "'").split())
    return bool(_ASKED.match(plain) or _ALONE.match(plain))
