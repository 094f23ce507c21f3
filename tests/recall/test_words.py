"""What a question names: the asker, people, quotes, ids; and words of any script."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.model.draft import Draft
from madeleine.model.memory import Origin
from madeleine.model.words import ABOUT_SELF, MemoryType
from madeleine.write.revise import retire
from madeleine.write.stores import Stores
from tests.fakes import close, keep, make_stores
from tests.recall.asking import ask, contents, first, hit_of, keep_many, place, services
from tests.sentences import in_words

# -- the asker -----------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["where do I live?", "tell me about my home", "who am I?"])
def test_words_for_the_asker_bring_what_is_known_about_them(tmp_path: Path, question: str) -> None:
    """Without a model, too, though it shares no word with the question."""
    stores = make_stores(tmp_path / "home", with_model=False)
    keep_many(stores, services(400))
    mine = keep(stores, "Dublin, Ireland, third floor", about_self=True, tags=(ABOUT_SELF,))

    recalled = ask(stores, question)

    assert "about you" in in_words(hit_of(mine, recalled).reasons)
    close(stores)


@pytest.mark.parametrize(
    "question", ["who am I?", "what do you know about me?", "tell me about myself", "me"]
)
def test_who_speaks_of_nothing_else_gets_what_is_about_them_first(
    stores: Stores, question: str
) -> None:
    keep_many(stores, services(40))
    mine = keep(stores, "Dublin, Ireland, third floor", about_self=True, tags=(ABOUT_SELF,))

    hit = first(stores, question)

    assert hit.memory.id == mine.id
    assert hit.score > 0.5


def test_what_is_about_the_asker_is_preferred_only_when_they_speak_of_themselves(
    real: Stores,
) -> None:
    mine = keep(real, "likes green tea", about_self=True, tags=(ABOUT_SELF,))
    hers = keep(real, "Anna likes green tea")

    assert place(mine, ask(real, "which tea do I like?")) == 1
    about_her = ask(real, "which tea does Anna like?")
    assert place(hers, about_her) == 1
    assert "about you" not in in_words(hit_of(mine, about_her).reasons)


@pytest.mark.soak
def test_what_is_about_the_asker_crowds_nobody_out(stores: Stores) -> None:
    """There is more of it than is compared, and the question is about something else."""
    tags = (ABOUT_SELF,)
    many = (f"habit number {number} of many" for number in range(250))
    keep_many(stores, (Draft(text, about_self=True, tags=tags) for text in many))
    keep_many(stores, services(100))
    wanted = keep(stores, "lantern repair: clean the wick first")

    assert first(stores, "how do I repair my lantern?").memory.id == wanted.id


@pytest.mark.few(1)
@pytest.mark.proves("I11")
def test_what_is_about_the_asker_still_has_to_pass_the_filter(stores: Stores) -> None:
    """Many others about the asker stand before the one that the filter lets through."""
    tags = (ABOUT_SELF,)
    others = [f"home number {number} of many" for number in range(320)]
    keep_many(stores, (Draft(text, about_self=True, tags=tags) for text in others))
    keep_many(stores, (Draft(f"pier {number}", space="atlas") for number in range(320)))
    mine = keep(stores, "Dublin, third floor", about_self=True, tags=tags, space="atlas")

    recalled = ask(stores, "what do you know about me?", spaces=("atlas",))

    assert recalled.hits[0].memory.id == mine.id
    assert {hit.memory.space for hit in recalled.hits} == {"atlas"}


# -- people --------------------------------------------------------------------------------


def said(stores: Stores, speaker: str, text: str, turn: int, session: str = "s1") -> None:
    keep(stores, text, origin=Origin(session, turn, speaker))


def test_who_is_named_is_who_is_heard_first(stores: Stores) -> None:
    said(stores, "Anna", "I would love to see the lighthouse", 1)
    said(stores, "Boris", "I would love to see the lighthouse too", 2)

    by_boris, by_anna = (
        first(stores, f"what would {name} love to see?") for name in ("Boris", "Anna")
    )

    assert by_boris.memory.origin == Origin("s1", 2, "Boris")
    assert by_anna.memory.origin == Origin("s1", 1, "Anna")
    assert "said by whom you name" in in_words(by_boris.reasons)


def test_a_name_cut_short_is_still_that_name(stores: Stores) -> None:
    said(stores, "Melanie", "I would love to see the lighthouse", 1)
    said(stores, "Boris", "I would love to see the lighthouse too", 2)

    hit = first(stores, "what would Mel love to see?")

    assert hit.memory.origin == Origin("s1", 1, "Melanie")
    assert "said by whom you name" in in_words(hit.reasons)


def test_somebody_who_is_only_spoken_of_is_found_by_words(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep(stores, "Zelda repairs clocks")
    keep(stores, "Boris repairs boats")

    assert contents(stores, "what does Zelda repair?")[0] == "Zelda repairs clocks"
    close(stores)


# -- quotes --------------------------------------------------------------------------------


@pytest.mark.few(6)
@pytest.mark.parametrize("with_model", [True, False])
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ('who said "never again"?', "he swore: Never\n again, and left"),
        ("who said “never again”?", "never again, she said"),
        ("qui a dit «plus jamais»?", "Plus jamais, dit-il"),
        ("„Straße gesperrt“", "die STRAßE gesperrt"),
        ('"ﬁne weather"', "fine weather at last"),
        ('"fine weather"', "ﬁne weather at last"),
        ("「また明日」と言った人", "彼は、また明日、と言った"),
    ],
)
def test_the_very_words_that_are_quoted_come_first(
    tmp_path: Path, question: str, text: str, with_model: bool
) -> None:
    stores = make_stores(tmp_path / "home", with_model=with_model)
    wanted = keep(stores, text)
    keep_many(stores, services(20))

    hit = first(stores, question)

    assert hit.memory.id == wanted.id
    assert in_words(hit.reasons)[0] == "holds the quoted words"
    close(stores)


@pytest.mark.parametrize("with_model", [True, False])
def test_what_is_quoted_is_found_behind_many_that_fit_the_rest(
    tmp_path: Path, with_model: bool
) -> None:
    stores = make_stores(tmp_path / "home", with_model=with_model)
    keep_many(stores, services(60))
    wanted = keep(
        stores, "so long, and thanks for the fish: a sign at the pier, as I recall it now"
    )

    hit = first(stores, 'the fast database of which service says "so long"?', limit=3)

    assert hit.memory.id == wanted.id
    close(stores)


def test_words_apart_are_not_the_words_quoted(stores: Stores) -> None:
    apart = keep(stores, "again and again he said never")
    together = keep(stores, "never again, he said")

    recalled = ask(stores, 'who said "never again"?')

    assert place(together, recalled) == 1
    assert "holds the quoted words" not in in_words(hit_of(apart, recalled).reasons)


def test_what_is_quoted_may_stand_in_the_title(stores: Stores) -> None:
    wanted = keep(stores, "a film about a whale", title="Moby Dick")
    keep(stores, "a film about a shark")

    assert first(stores, 'the film "Moby Dick"').memory.id == wanted.id


# -- ids -----------------------------------------------------------------------------------


@pytest.mark.parametrize("with_model", [True, False])
@pytest.mark.parametrize("form", ["{short}", "what is {short}?", "{id}", "show {upper} please"])
def test_an_id_in_the_question_brings_that_memory(
    tmp_path: Path, form: str, with_model: bool
) -> None:
    stores = make_stores(tmp_path / "home", with_model=with_model)
    keep(stores, "what is shown, please")
    wanted = keep(stores, "the cat sleeps")

    said = {"short": wanted.short_id, "id": wanted.id, "upper": wanted.short_id.upper()}
    hit = first(stores, form.format(**said))

    assert hit.memory.id == wanted.id
    assert in_words(hit.reasons)[0] == "named by its id"
    assert hit.score == 1
    close(stores)


@pytest.mark.few(1)
@pytest.mark.parametrize("with_model", [True, False])
def test_an_id_is_found_behind_many_that_fit_the_rest(tmp_path: Path, with_model: bool) -> None:
    """More of them than are compared closely."""
    stores = make_stores(tmp_path / "home", with_model=with_model)
    keep_many(stores, services(400))
    wanted = keep(stores, "the cat sleeps")

    hit = first(stores, f"is the database of service 7 as fast as {wanted.short_id} says?")

    assert hit.memory.id == wanted.id
    close(stores)


def test_an_id_does_not_get_round_the_filter(stores: Stores) -> None:
    wanted = keep(stores, "the cat sleeps")

    recalled = ask(stores, f"what is {wanted.short_id}?", types=(MemoryType.GOAL,))

    assert recalled.hits == ()


def test_an_id_of_what_is_retired_is_answered_with_that(stores: Stores) -> None:
    old = keep(stores, "the cat sleeps")
    retire(stores, old.id)
    said = f"{old.short_id} is retired; ask with outdated to see it"

    alone = ask(stores, old.short_id)
    assert (alone.hits, in_words(alone.silence), in_words(alone.notes)) == ((), said, ())

    other = keep(stores, "the dog barks")
    beside = ask(stores, f"does the dog know {old.short_id}?")
    assert [hit.memory.id for hit in beside.hits] == [other.id]
    assert (in_words(beside.silence), in_words(beside.notes)) == (None, (said,))

    asked_for = ask(stores, old.short_id, outdated=True)
    assert asked_for.hits[0].memory.id == old.id
    assert in_words(asked_for.notes) == ()


def test_an_id_of_what_is_replaced_names_what_took_its_place(stores: Stores) -> None:
    old, new = keep(stores, "the cat sleeps"), keep(stores, "the cat is awake")
    retire(stores, old.id, superseded_by=new.id)

    recalled = ask(stores, old.short_id)

    said = (in_words(recalled.silence) or "", *in_words(recalled.notes))
    assert any(f"{old.short_id} is retired, {new.short_id} took its place" in each for each in said)
    assert old.id not in [hit.memory.id for hit in recalled.hits]


def test_an_id_that_another_filter_keeps_out_is_not_called_retired(stores: Stores) -> None:
    old = keep(stores, "the cat sleeps")
    retire(stores, old.id)

    recalled = ask(stores, old.short_id, types=(MemoryType.GOAL,))

    assert "retired" not in (in_words(recalled.silence) or "")


def test_an_id_that_nobody_has_is_a_word_like_any_other(stores: Stores) -> None:
    noted = keep(stores, "commit 1234abcd broke the build")

    assert first(stores, "what about 1234abcd?").memory.id == noted.id


# -- words that say little -----------------------------------------------------------------


@pytest.mark.parametrize("with_model", [True, False])
def test_a_question_of_stop_words_finds_them(tmp_path: Path, with_model: bool) -> None:
    stores = make_stores(tmp_path / "home", with_model=with_model)
    wanted = keep(stores, "to be or not to be")
    keep_many(stores, services(20))

    assert first(stores, "to be or not to be").memory.id == wanted.id
    assert first(stores, "not to be").memory.id == wanted.id
    close(stores)


def test_stop_words_decide_nothing_when_there_are_others(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep(stores, "what is it that is in the of and the")
    wanted = keep(stores, "plan: sell boats")

    assert first(stores, "what is the plan?").memory.id == wanted.id
    close(stores)


# -- scripts -------------------------------------------------------------------------------

SCRIPTS = [
    ("猫の名前はタマです", "猫の名前は何ですか？", "犬は庭で寝ています"),
    ("私の妹は大阪に住んでいます", "妹は大阪のどこ？", "父は東京で働く"),
    ("القط ينام على السرير", "أين ينام القط؟", "الكتاب على الطاولة"),
    ("кошка Мурка спит на диване", "где спит Мурка?", "поезд уходит утром"),
    ("แมวของฉันชื่อส้ม", "แมวชื่ออะไร", "ฝนตกหนักเมื่อวาน"),
    ("고양이 이름은 나비입니다", "고양이 이름이 뭐예요?", "기차는 아침에 떠난다"),
    ("बिल्ली का नाम मोती है", "बिल्ली का नाम क्या है?", "ट्रेन सुबह जाती है"),
    ("η γάτα κοιμάται στον καναπέ", "πού κοιμάται η γάτα;", "το τρένο φεύγει το πρωί"),
]


@pytest.mark.parametrize(("wanted", "question", "other"), SCRIPTS)
@pytest.mark.parametrize("with_model", [True, False])
def test_any_script_is_found_by_its_words(
    tmp_path: Path, wanted: str, question: str, other: str, with_model: bool
) -> None:
    stores = make_stores(tmp_path / "home", with_model=with_model)
    keep(stores, other)
    keep(stores, wanted)

    found = contents(stores, question)

    assert found[0] == wanted
    close(stores)


@pytest.mark.parametrize(("wanted", "question", "other"), SCRIPTS)
def test_words_of_another_script_are_shared_words_too(
    tmp_path: Path, wanted: str, question: str, other: str
) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep(stores, wanted)

    assert any("shares words" in reason for reason in in_words(first(stores, question).reasons))
    close(stores)


@pytest.mark.parametrize(
    ("wanted", "question"),
    [
        ("the ﬁle lies in the oﬃce", "file"),
        ("the ﬁle lies in the oﬃce", "what lies in the office?"),
        ("ＡＢＣ is our customer", "ABC"),
        ("our customer is ABC", "ＡＢＣ"),
        ("a cake for Ada 🍰", "🍰"),
        ("a cake for Ada🍰", "🍰?"),
        ("she likes it ❤️", "❤"),
        ("she likes it ❤", "❤️"),
        ("a fox🦊in the garden", "🦊"),
    ],
)
def test_what_only_looks_otherwise_is_found(tmp_path: Path, wanted: str, question: str) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep(stores, "a dog in the house 🐕")
    keep(stores, wanted)

    hit = first(stores, question)

    assert hit.memory.content == wanted
    assert any(reason.startswith("shares") for reason in in_words(hit.reasons))
    close(stores)


def test_an_emoji_that_nobody_used_finds_nothing(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep(stores, "a cake for Ada 🍰")

    recalled = ask(stores, "🚗")

    assert recalled.hits == ()
    assert in_words(recalled.silence)
    close(stores)


def test_an_accent_more_or_less_finds_the_same(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep(stores, "un café à Montréal")

    assert contents(stores, "cafe Montreal") == ["un café à Montréal"]
    assert contents(stores, "CAFÉ") == ["un café à Montréal"]
    close(stores)


def test_a_quoted_word_is_looked_for_as_a_whole_word(stores: Stores) -> None:
    keep(stores, "deploys on Friday are forbidden")
    wanted = keep(stores, "the id of a user is a number")

    recalled = ask(stores, 'where does "id" come from?')

    assert "holds the quoted words" in in_words(hit_of(wanted, recalled).reasons)
    assert sum("holds the quoted words" in in_words(hit.reasons) for hit in recalled.hits) == 1
