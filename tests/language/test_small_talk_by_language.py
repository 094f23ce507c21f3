"""Talk in Polish, Russian, Chinese and Japanese names nothing, and a question does."""

from __future__ import annotations

import pytest

from madeleine.language.small_talk import asks_to_go_on, names_nothing

TALK = {
    "pl": [
        "dzięki, super",
        "ok, jasne",
        "dobra, poczekaj chwilę",
        "tak, zgadzam się",
        "dzień dobry",
        "nie wiem",
        "dziękuję bardzo",
        "świetnie, gotowe",
        "zaraz wracam",
        "no dobrze",
    ],
    "ru": [
        "спасибо, отлично",
        "ладно, понятно",
        "да, конечно",
        "подожди минуту",
        "доброе утро",
        "не надо",
        "хорошо, договорились",
        "я подумаю",
        "супер, получилось",
        "ну ладно",
    ],
    "zh": [
        "好的，谢谢",
        "明白了",
        "嗯，没问题",
        "等一下",
        "早上好",
        "不用了",
        "太好了",
        "我想想",
        "可以，就这样",
        "哈哈，不错",
    ],
    "ja": [
        "はい、わかりました",
        "ありがとうございます",
        "了解です",
        "ちょっと待って",
        "おはようございます",
        "なるほど",
        "いいですね",
        "それで大丈夫です",
        "すごい、完璧です",
        "うん、そうだね",
    ],
}
MORE = {
    "pl": [
        "dlaczego?",
        "wyjaśnij dokładniej",
        "opowiedz więcej",
        "jak to?",
        "dalej proszę",
        "podsumuj to",
        "powtórz jeszcze raz",
        "pokaż przykład",
        "co dalej",
        "kontynuuj",
    ],
    "ru": [
        "почему?",
        "объясни подробнее",
        "расскажи ещё",
        "как это?",
        "продолжай, пожалуйста",
        "а что потом",
        "скажи ещё раз",
        "покажи пример",
        "дальше",
        "короче, пожалуйста",
    ],
    "zh": [
        "为什么？",
        "继续",
        "详细一点",
        "解释一下",
        "还有呢",
        "然后呢",
        "再说一遍",
        "举个例子",
        "什么意思",
        "告诉我怎么做",
    ],
    "ja": [
        "なぜ？",
        "続けてください",
        "もっと詳しく",
        "説明してください",
        "それから？",
        "どういう意味ですか",
        "もう一度お願いします",
        "例えば？",
        "まとめてください",
        "教えてください",
    ],
}
TELLING = {
    "pl": [
        "gdzie są klucze do piwnicy?",
        "jak nazywa się pies sąsiada?",
        "popraw test logowania",
        "kiedy mam dentystę?",
        "zadzwoń do hydraulika",
        "wdróż serwer",
        "co je chomik?",
        "napisz do Anny",
        "jaki mamy port bazy?",
        "kup mleko",
    ],
    "ru": [
        "где ключи от подвала?",
        "как зовут собаку соседа?",
        "исправь тест входа",
        "когда у меня стоматолог?",
        "позвони сантехнику",
        "разверни сервер",
        "что ест хомяк?",
        "напиши Анне",
        "какой порт у базы?",
        "купи молоко",
    ],
    "zh": [
        "地下室的钥匙在哪里？",
        "邻居的狗叫什么名字？",
        "修复登录测试",
        "我什么时候看牙医？",
        "给水管工打电话",
        "部署服务器",
        "仓鼠吃什么？",
        "给安娜写信",
        "数据库端口是多少？",
        "买牛奶",
    ],
    "ja": [
        "地下室の鍵はどこ？",
        "隣の犬の名前は？",
        "ログインのテストを直して",
        "歯医者はいつ？",
        "水道屋に電話して",
        "サーバーをデプロイして",
        "ハムスターは何を食べる？",
        "アンナに手紙を書いて",
        "データベースのポートは？",
        "牛乳を買う",
    ],
}


def each_of(cases: dict[str, list[str]]) -> list[str]:
    return [text for texts in cases.values() for text in texts]


@pytest.mark.parametrize("text", each_of(TALK))
def test_talk_names_nothing(text: str) -> None:
    assert names_nothing(text)


@pytest.mark.parametrize("text", each_of(MORE))
def test_who_asks_for_more_names_nothing_and_goes_on(text: str) -> None:
    assert names_nothing(text)
    assert asks_to_go_on(text)


@pytest.mark.parametrize("text", each_of(TELLING))
def test_who_names_something_is_looked_up(text: str) -> None:
    assert not names_nothing(text)
