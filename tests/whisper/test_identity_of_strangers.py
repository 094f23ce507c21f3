"""People whose notes the tables were not made for: what is asked of them, and what work brings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from madeleine import Madeleine
from madeleine.minds.local import load_built_in, why_not_built_in

SPEAKING = {
    "name": "I'm Ines Carvalho, 36",
    "home": "I moved to Porto in 2021, to a flat near Bolhão",
    "wife": "My wife Linnea teaches chemistry at a secondary school",
    "asthma": "I have asthma and use a salbutamol inhaler",
    "allergy": "Allergic to shellfish",
    "job": "Product designer at Farfetch",
    "parrot": "I have a parrot named Zeca",
    "coffee": "I prefer oat milk flat whites, never filter coffee",
    "shell": "I prefer fish shell over zsh",
    "degree": "BA in graphic design from the University of Aveiro",
    "birthday": "Born on 12 February 1990 in Coimbra",
    "phone": "My mobile is 912 345 678",
    "salary": "My salary is 52,000 euros",
    "brother": "My brother Tiago has epilepsy and lives in Lyon",
    "laptop": "I use a MacBook Air with two monitors",
    "hours": "Works 9 to 17 Lisbon time",
    "passport": "My passport number is CB123456",
    "email": "My email address is ines@carvalho.example",
}
NOTED = {
    "name": "User's name is Kwame Adjei-Lund",
    "home": "Lives in Gothenburg, in the Majorna district",
    "wife": "Married to Priya since 2015; she runs a bakery",
    "diabetes": "Has type 1 diabetes and wears a Libre sensor",
    "job": "Staff engineer at a wind turbine company called Vindkraft",
    "editor": "Prefers Neovim with LazyVim",
    "packages": "Prefers pnpm to npm",
    "lactose": "Lactose intolerant",
    "origin": "Grew up in Kumasi, Ghana",
    "birthday": "Born 1984-05-30",
    "degree": "MSc in control theory from Chalmers",
    "phone": "Phone number is +46 70 123 45 67",
    "laptop": "Works from a ThinkPad X1 with Fedora",
    "hours": "Timezone is Europe/Stockholm, working hours 7 to 15",
    "mother": "Mother Abena had a stroke in 2023",
}
WORK = (
    "The checkout page uses Stripe Elements",
    "The address form validates postcodes with libpostal",
    "The date picker is react-aria",
    "Unit tests run with vitest",
)

Person = tuple[Madeleine, Mapping[str, str]]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Person]]:
    """One who speaks of herself, and one of whom somebody took notes."""
    if load_built_in(threads=1) is None:
        pytest.skip(why_not_built_in())
    folder = tmp_path_factory.mktemp("strangers")
    with (
        Madeleine.open(folder / "speaking", in_process=True) as one,
        Madeleine.open(folder / "noted", in_process=True) as other,
    ):
        yield {"speaking": (one, _fill(one, SPEAKING)), "noted": (other, _fill(other, NOTED))}


def _fill(opened: Madeleine, notes: Mapping[str, str]) -> Mapping[str, str]:
    for each in WORK:
        opened.remember(each)
    keys = {}
    for key, text in notes.items():
        kind = "preference" if "refer" in text else "fact"
        keys[opened.remember(text, type=kind, about_self=True).id] = key
    return keys


def brought(person: Person, prompt: str) -> set[str]:
    opened, keys = person
    said = opened.whisper(prompt)
    return {keys[each.memory.id] for each in said.injected if each.memory.id in keys}


@pytest.mark.few(9)
@pytest.mark.parametrize(
    ("person", "prompt", "wanted"),
    [
        ("speaking", "where do i live", {"home"}),
        ("speaking", "what's my name", {"name"}),
        ("speaking", "how old am i", {"name"}),
        ("speaking", "do i have any pets", {"parrot"}),
        ("speaking", "which shell do i prefer", {"shell"}),
        ("speaking", "do i have any health conditions", {"asthma", "allergy"}),
        ("speaking", "any food i should avoid?", {"allergy"}),
        ("speaking", "where do i work", {"job"}),
        ("speaking", "what did i study", {"degree"}),
        ("speaking", "which university did i go to", {"degree"}),
        ("speaking", "when is my birthday", {"birthday"}),
        ("speaking", "where was i born", {"birthday"}),
        ("speaking", "what's my number", {"phone"}),
        ("speaking", "what computer do i have", {"laptop"}),
        ("speaking", "what are my working hours", {"hours"}),
        ("speaking", "what's my passport number", {"passport"}),
        ("noted", "whats my date of birth", {"birthday"}),
        ("noted", "when did i get married", {"wife"}),
        ("noted", "what's my job", {"job"}),
        ("noted", "what does my wife do", {"wife"}),
        ("noted", "which disease do i have", {"diabetes"}),
        ("noted", "how is my mother", {"mother"}),
        ("noted", "what do you know about my health?", {"diabetes", "lactose"}),
        ("noted", "any food i can't eat?", {"lactose"}),
        ("noted", "what degree do i have", {"degree"}),
        ("noted", "what country was i born in", {"origin"}),
        ("noted", "npm or pnpm: what do i prefer", {"packages"}),
        ("noted", "when do i start work", {"hours"}),
    ],
)
def test_a_question_brings_what_states_its_attribute_of_the_person(
    people: Mapping[str, Person], person: str, prompt: str, wanted: set[str]
) -> None:
    assert brought(people[person], prompt) == wanted


@pytest.mark.few(12)
@pytest.mark.parametrize("person", ["speaking", "noted"])
@pytest.mark.parametrize(
    "prompt",
    [
        "where do i put the tests",
        "what are my open issues",
        "what are my failing tests",
        "where do i live reload the page",
        "where do i find my home folder",
        "where do i find my logs",
        "add a phone number field to the form",
        "add an email address field to the form",
        "implement the birthday picker",
        "create a passport number input",
        "show the phone number in the profile page",
        "add a salary column to the employees table",
        "move the date of birth column to the users table",
        "can i eat lunch now",
        "i'm allergic to yaml",
        "rename the allergies field to allergens",
        "what language server do i need",
        "where do i register the dag",
    ],
)
def test_work_on_a_program_brings_nothing_about_the_person(
    people: Mapping[str, Person], person: str, prompt: str
) -> None:
    assert brought(people[person], prompt) == set()


def test_what_the_person_calls_theirs_may_go_into_a_program(
    people: Mapping[str, Person],
) -> None:
    assert brought(people["speaking"], "put my email address into the footer of the page") == {
        "email"
    }
