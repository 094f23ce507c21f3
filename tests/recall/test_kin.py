"""Recall by the thesaurus: a question and its answer share no word, and a table joins them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.api.wording import render_cause
from madeleine.language.user_terms import TERMS_TAG
from madeleine.minds.port import Minds
from madeleine.model.cause import ReasonKind
from madeleine.model.draft import Draft
from madeleine.model.words import MemoryType
from madeleine.write.stores import Stores
from tests.fakes import close, keep, make_stores
from tests.real_model import opened_real
from tests.recall.asking import ask, contents, first, keep_many

FOUND = [
    ("which linter do we use?", "Pylint runs on every commit and must be clean"),
    ("what is our job queue?", "arq picks up whatever the API hands over"),
    ("where is the app hosted?", "Fly.io keeps two copies running in Frankfurt"),
    ("how do I reach the k8s dashboard?", "Kubernetes: the page is behind the company VPN"),
    ("what does grandad take for his diabetes?", "Opa gets metformin twice a day"),
    (
        "which relational database did we settle on?",
        "MariaDB it is, because Ingrid knows it",
    ),
    ("what do we cache with?", "Valkey answers most reads before they get further"),
    ("which message broker is it?", "RabbitMQ sits between the shop and the warehouse"),
    ("what monitoring do we have?", "Grafana hangs on the big screen in the hall"),
    ("what does our error tracking?", "Sentry pings whoever is on duty"),
    ("which password manager is it?", "Bitwarden is for everything but the safe"),
    ("which design tool has the mockups?", "Figma files are named after the quarter"),
    ("which CI do we have?", "Jenkins takes six minutes for the whole thing"),
    ("what is our reverse proxy?", "Caddy renews everything by itself"),
    ("which editor does Tom like?", "Tom lives in Neovim and will not hear of others"),
    ("which test framework is used on the frontend?", "Vitest, with happy-dom underneath"),
    ("what are the infrastructure as code files?", "Terraform state lies in the Zurich bucket"),
    ("which operating system is on the laptops?", "Debian 12, and nobody asked for more"),
    ("what do we send newsletters with?", "Mailchimp costs too much above two thousand readers"),
    ("which accounting software is it?", "DATEV gets everything by the tenth"),
    ("which issue tracker is it?", "Jira stays until the summer"),
    ("which vacuum cleaner is broken?", "The Dyson smells burnt since Sunday"),
    ("what did the vet give the dog?", "Bello: Apoquel for his itching, half of one every morning"),
    ("which antibiotic did Mia get?", "Mia: amoxicillin for seven days, finished it"),
    ("what painkiller can she not have?", "No ibuprofen for Lena, it upset her stomach"),
    ("which blood thinner is dad on?", "Papa swallows Xarelto in the evening"),
    ("what allergy does Jonas have?", "Jonas sneezes all of May: hay fever"),
    ("which instrument does Clara play?", "Clara's cello lesson moved to Thursdays"),
    ("which board game do the kids want?", "Everyone keeps asking for Catan"),
    ("what car do the neighbours drive?", "Next door they bought a Skoda"),
    ("which airline was it?", "Lufthansa lost the suitcase on the way back"),
    ("what cheese goes on top?", "Gruyère, grated finely, under the grill"),
    ("which dance class is on Tuesday?", "Salsa at the old cinema, bring other shoes"),
    ("what bank is the joint account at?", "Comdirect has both our names on it"),
    ("which diet does Nora follow?", "Nora is vegan since January"),
    ("what fabric are the curtains made of?", "Linen, to be washed cold"),
    (
        "which tree do we cut in winter?",
        "The wisteria gets its trim in February",
    ),
    ("which language is Paul studying?", "Paul does Portuguese on Mondays"),
    ("which supplement was recommended?", "Frau Doktor said magnesium, before bed"),
    ("what specialist was he referred to?", "Off to the cardiologist in March"),
    ("which baby carrier do we own?", "The BabyBjörn hangs behind the door"),
    ("what is the thermostat called?", "Tado shows 19 degrees and lies"),
    ("which podcast recorder is used?", "SquadCast keeps both tracks apart"),
    ("what scans for vulnerabilities?", "Trivy complains every Monday"),
    ("who is our payment provider?", "Stripe takes its share and pays out weekly"),
]
"""A question, and the note that answers it."""

NOT_MISLED = [
    # A word that is a name as well, and here is none.
    (
        "what takes rust off the gate?",
        "Vinegar overnight takes off what is brown on the gate",
        "Cargo and Clippy are fast",
    ),
    (
        "how much slack does the rope need?",
        "A hand of play in the rope is enough",
        "The general channel is for everybody",
    ),
    (
        "who gave me the notion to sell the boat?",
        "It was Erik who talked me into selling the boat",
        "The wiki of the team has a page for guests",
    ),
    (
        "which apple is good for baking?",
        "Boskoop is the one for the oven",
        "The iPhone needs a new screen",
    ),
    (
        "when do we clean the windows?",
        "The panes get washed in April and October",
        "PowerShell scripts are signed by Karin",
    ),
    (
        "where does the spring in the wood start?",
        "Water comes out below the second hut in the wood",
        "Hibernate maps the orders",
    ),
    (
        "did anyone react to the letter?",
        "Only Aunt Vera answered the letter",
        "Components live in src/parts and use hooks",
    ),
    (
        "what is the ideal size of the bed?",
        "180 by 200 suits both of us, for the bed",
        "Payments from Holland come in within a minute",
    ),
    (
        "how swift is the ferry?",
        "Forty minutes by ferry, in good weather",
        "Xcode must be updated before the release",
    ),
    (
        "can I express the parcel?",
        "The parcel shop offers next-day for six euros",
        "The Node server listens on 3000",
    ),
    # A kin that is there, and a memory that says the word itself.
    (
        "which database do the accountants want?",
        "The accountants insist on a database of their own",
        "MariaDB is in the old rack",
    ),
    (
        "when is the dentist?",
        "Dentist on the 4th at nine",
        "Dr. Blum pulled two teeth of Ida's",
    ),
    (
        "what did the doctor say about the knee?",
        "The doctor says the knee needs rest",
        "The cardiologist was content with the ECG",
    ),
    (
        "who repairs the car?",
        "The car goes to Lorenz for repairs",
        "The Skoda of the neighbours is blue",
    ),
    (
        "which medicine is in the blue box?",
        "Blue box: medicine for the journey",
        "Ibuprofen is sold out at the corner",
    ),
    # A question about something else than the kin.
    (
        "what colour is the bedroom?",
        "The bedroom gets a warm grey",
        "The green folder is for taxes",
    ),
    (
        "how long is the lease of the flat?",
        "We may stay in the flat until 2031",
        "Airbnb guests get the small key",
    ),
    (
        "who wrote the chapter on bees?",
        "Chapter four, the one on bees, is by Sunniva",
        "Varroa treatment is due in August",
    ),
    (
        "how do we name branches?",
        "Branches begin with the ticket's number",
        "GitLab is down on Sundays",
    ),
    (
        "what is the wifi password at the cabin?",
        "At the cabin the wifi password stands under the lamp",
        "Bitwarden has the master key of the firm",
    ),
    (
        "what time does the shop close?",
        "The shop shuts at half past six",
        "Lidl had no bread left on Saturday",
    ),
]
"""A question, the memory that answers it, and one that a table might bring instead."""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory, minds: Minds) -> Iterator[Stores]:
    """All notes of `FOUND` in one store."""
    with opened_real(tmp_path_factory.mktemp("all"), minds) as stores:
        keep_many(stores, (Draft(note) for _, note in FOUND))
        yield stores


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Stores]:
    """Stores without a model."""
    stores = make_stores(tmp_path / "home", with_model=False)
    yield stores
    close(stores)


@pytest.mark.parametrize(("question", "note"), FOUND)
def test_a_name_is_found_by_what_it_is(everything: Stores, question: str, note: str) -> None:
    assert contents(everything, question)[0] == note


@pytest.mark.parametrize(("question", "answer", "decoy"), NOT_MISLED)
def test_a_table_does_not_mislead(real: Stores, question: str, answer: str, decoy: str) -> None:
    keep_many(real, map(Draft, (decoy, answer)))

    assert contents(real, question)[0] == answer


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("which linter?", "Ruff runs on every commit"),
        ("k8s", "Kubernetes: the page is behind the VPN"),
        ("our job queue", "arq picks up whatever the API hands over"),
        ("hosted", "Fly.io keeps two copies in Frankfurt"),
        ("medicine for diabetes", "Opa gets metformin twice a day"),
        ("C++", "Clang warns about it, so does GCC"),
        ("picked", "Chose the red one"),
    ],
)
def test_words_alone_find_kin_too(plain: Stores, question: str, note: str) -> None:
    keep_many(plain, map(Draft, ("Nothing of the kind", note, "Something else altogether")))

    assert contents(plain, question)[0] == note


def test_what_shares_no_word_is_drawn_from_a_large_store(plain: Stores) -> None:
    keep_many(plain, (Draft(f"the gardener came on day {number}") for number in range(400)))
    keep(plain, "Ruff runs on every commit")

    assert contents(plain, "which linter?")[0] == "Ruff runs on every commit"


def test_a_term_is_not_taken_for_a_misspelling(plain: Stores) -> None:
    keep_many(plain, map(Draft, ("The winter was long", "Ruff runs on every commit")))

    assert contents(plain, "the linter") == ["Ruff runs on every commit"]


@pytest.mark.parametrize(
    ("question", "note", "sentence"),
    [
        ("which linter?", "Ruff runs on every commit", "`linter`: Ruff is one"),
        ("is k8s up?", "Kubernetes is in Zurich", "`k8s`: also called Kubernetes"),
        ("what about Ruff?", "Our linter is strict", "`Ruff`: belongs to linter"),
        ("which job queue?", "arq picks it up", "`job queue`: arq is one"),
    ],
)
def test_a_reason_says_what_the_table_knows(
    plain: Stores, question: str, note: str, sentence: str
) -> None:
    keep(plain, note)

    reasons = first(plain, question).reasons

    assert [render_cause(each) for each in reasons if each.kind is ReasonKind.KIN] == [sentence]


def test_the_numbers_of_a_score_name_the_share_of_kin(plain: Stores) -> None:
    keep(plain, "Ruff runs on every commit")

    (hit,) = ask(plain, "which linter?", explain=True).hits

    assert hit.explained is not None
    assert 0 < hit.explained.features["kin"] <= 1
    assert hit.explained.weights["kin"] > 0


def test_a_word_that_a_memory_says_is_no_kin(plain: Stores) -> None:
    keep(plain, "The linter is Ruff")

    reasons = first(plain, "which linter?").reasons

    assert ReasonKind.KIN not in {each.kind for each in reasons}


# --- terms of the user's ----------------------------------------------------------------------


def keep_terms(stores: Stores, text: str, **fields: object) -> None:
    keep(stores, text, tags=(TERMS_TAG,), type=MemoryType.CONCEPT, **fields)


def test_a_term_of_the_user_is_known_at_once(plain: Stores) -> None:
    keep_many(plain, map(Draft, ("Bramble is down again", "The hall is full")))
    assert contents(plain, "which warehouse system?") == []

    keep_terms(plain, "Bramble | BRM | warehouse system, stock")

    assert "Bramble is down again" in contents(plain, "which warehouse system?")
    assert "Bramble is down again" in contents(plain, "is BRM there?")


def test_a_line_of_the_user_replaces_the_shipped_one(plain: Stores) -> None:
    keep(plain, "Ruff barks at night")
    assert contents(plain, "which linter?")

    keep_terms(plain, "Ruff: dog")

    assert contents(plain, "which linter?") == []
    assert "Ruff barks at night" in contents(plain, "whose dog?")


def test_a_shipped_name_is_taken_out(plain: Stores) -> None:
    keep(plain, "Ruff barks at night")

    keep_terms(plain, "- Ruff")

    assert contents(plain, "which linter?") == []


def test_terms_of_another_space_do_not_count(plain: Stores) -> None:
    keep(plain, "Bramble is down again")
    keep_terms(plain, "Bramble: warehouse system", space="depot")

    assert "Bramble is down again" in contents(plain, "which stockroom, or warehouse system?")
    assert contents(plain, "which warehouse system?", space="garden")[:1] != [
        "Bramble is down again"
    ]
