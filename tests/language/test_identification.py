"""The language of a text is told from a few words, and not where nothing shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.language.identification import find_chance, guess_languages, identify_language


def read_notes() -> dict[str, list[str]]:
    notes: dict[str, list[str]] = {}
    path = Path(__file__).parent / "data" / "notes_by_language.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            of_language = notes.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            of_language.append(line)
    return notes


NOTES = read_notes()


@pytest.mark.parametrize("language", sorted(NOTES))
def test_the_language_of_short_notes_is_told(language: str) -> None:
    told = [identify_language(note) for note in NOTES[language]]

    assert len(told) >= 20
    assert told.count(language) >= 18, list(zip(told, NOTES[language], strict=True))
    assert sum(each not in (language, None) for each in told) <= 1


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "2024-11-03 12:30", "!?", "🎂🎉", "8081", "https://", "…", "—", "42 + 17"],
)
def test_a_text_without_words_has_no_language(text: str) -> None:
    assert identify_language(text) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Server läuft mit FastAPI und PostgreSQL", "de"),
        ("テストは pytest で書く", "ja"),
        ("用 Docker 部署到 staging", "zh"),
        ("Развернуть через GitHub Actions каждый четверг", "ru"),
        ("déployer avec docker compose sur le serveur de test", "fr"),
        ("배포는 GitHub Actions 로 한다", "ko"),
        ("نستخدم Docker في الخادم الجديد", "ar"),
        ("usar pnpm en vez de npm para las dependencias", "es"),
        ("wdrożenie przez Ansible na serwerze produkcyjnym", "pl"),
        ("nie npm gebruiken maar pnpm voor dit project", "nl"),
    ],
)
def test_english_terms_do_not_hide_the_language_around_them(text: str, language: str) -> None:
    assert guess_languages(text)[0].code == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Τηλεφώνησε στη μητέρα", "el"),
        ("להתקשר לרופא השיניים", "he"),
        ("दंत चिकित्सक मंगलवार को", "hi"),
        ("โทรหาหมอฟันวันอังคาร", "th"),
    ],
)
def test_a_script_of_one_language_tells_it(text: str, language: str) -> None:
    assert identify_language(text) == language


def test_missing_accents_do_not_hide_the_language() -> None:
    assert identify_language("la llave esta debajo de la maceta del jardin") == "es"
    assert identify_language("der schluessel liegt unter dem blumentopf im garten") == "de"
    assert identify_language("zadzwonic do hydraulika w sprawie kranu w kuchni") == "pl"


@pytest.mark.parametrize(
    "text",
    [
        "def read_rows(path: Path) -> Iterator[dict[str, str]]:",
        "git commit --amend --no-edit && git push --force-with-lease",
        "SELECT id, name FROM users WHERE created > now()",
        "fix the flaky test in tests/server/test_fleet.py",
        "npm run build && docker compose up -d",
    ],
)
def test_code_and_commands_are_no_foreign_language(text: str) -> None:
    assert identify_language(text) in (None, "en")


@pytest.mark.parametrize(
    "text", ["", "17", "the cat sleeps", "gatto che dorme", "спит кошка", "会議", "ไป"]
)
def test_the_chance_of_one_language_is_what_it_has_among_all(text: str) -> None:
    every = {each.code: each.probability for each in guess_languages(text, 40)}

    assert find_chance(text, "en") == (every.get("en", 0.0) if every else None)
