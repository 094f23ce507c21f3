"""A made-up world of any size: facts about projects and people, and questions about some.

Every subject has each relation of its kind once, so what stands between a question and its
answer is what stands there in a real store: the same relation of others, other relations of the
same subject. Half of the subjects have coined names, half are called by common words. A needle
is asked for three times: `lex` in the words of the memory, `para` in others, `task` as a request
that needs the fact without asking for it. The same number gives the same world.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = ("lex", "para", "task")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _values(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


@dataclass(frozen=True, slots=True)
class Relation:
    """One thing to know about a subject: how it is said, how it is asked, what it can be.

    `restated` says the same in words that no question uses; `whose` asks for the subject.
    """

    name: str
    said: tuple[tuple[str, str], ...]
    """How it is said, each with the question in the same words."""
    para: tuple[str, ...]
    task: tuple[str, ...]
    restated: str
    whose: str
    values: tuple[str, ...]


PROJECT = (
    Relation(
        "database",
        (
            ("{s} stores its data in {v}.", "What does {s} store its data in?"),
            ("The database of {s} is {v}.", "What is the database of {s}?"),
        ),
        ("Which persistence layer is behind {s}?", "Where does {s} keep its records?"),
        ("Write a backup script for {s}.", "Draft the migration that adds a column to {s}."),
        "Records of {s} end up in {v}.",
        "Which project stores its data in {v}?",
        _values(
            "Postgres|MySQL|SQLite|MongoDB|Cassandra|DynamoDB|MariaDB|Firestore|CockroachDB|DuckDB"
        ),
    ),
    Relation(
        "port",
        (
            ("{s} listens on port {v}.", "Which port does {s} listen on?"),
            (
                "The local server of {s} uses port {v}.",
                "Which port does the local server of {s} use?",
            ),
        ),
        (
            "At which number on localhost can {s} be reached?",
            "How do I open {s} in the browser here?",
        ),
        ("Put a reverse proxy in front of {s}.", "Add a health check that calls {s}."),
        "Reach {s} at localhost:{v}.",
        "Which project listens on port {v}?",
        tuple(str(number) for number in range(3001, 9700, 67)),
    ),
    Relation(
        "deployment",
        (
            ("{s} is deployed to {v}.", "Where is {s} deployed to?"),
            ("{s} deploys with every merge to {v}.", "What does {s} deploy to with every merge?"),
        ),
        ("What does {s} run on in production?", "Who hosts {s}?"),
        ("Roll out the hotfix for {s}.", "Find out why {s} is down for our users."),
        "In production {s} lives on {v}.",
        "Which project is deployed to {v}?",
        _values(
            "Heroku|Fly.io|Cloud Run|AWS Lambda|a Kubernetes cluster|Netlify|Render|bare metal|"
            "Vercel|Azure"
        ),
    ),
    Relation(
        "owner",
        (
            ("{s} is owned by {v}.", "Who is {s} owned by?"),
            ("The owner of {s} is {v}.", "Who is the owner of {s}?"),
        ),
        ("Who is responsible for {s}?", "Who decides what goes into {s}?"),
        (
            "Request a review for my change to {s}.",
            "Escalate the outage of {s} to the right person.",
        ),
        "{v} answers for {s}.",
        "Which project is owned by {v}?",
        _values(
            "Ana|Bram|Chidi|Dara|Elif|Farid|Greta|Hana|Ivo|Jun|Kemal|Lena|Mira|Noor|Otto|Priya"
        ),
    ),
    Relation(
        "language",
        (
            ("{s} is written in {v}.", "What is {s} written in?"),
            ("The code base of {s} is in {v}.", "What is the code base of {s} in?"),
        ),
        (
            "Which programming language was chosen for {s}?",
            "In what do the developers of {s} program?",
        ),
        ("Add a small function to {s} that parses dates.", "Sketch a new class for {s}."),
        "Whoever works on {s} needs to know {v}.",
        "Which project is written in {v}?",
        _values("Go|Rust|Kotlin|TypeScript|Python|Elixir|Java|Ruby|Swift|Scala|Haskell|Zig"),
    ),
    Relation(
        "tests",
        (
            ("The tests of {s} run with `{v}`.", "What do the tests of {s} run with?"),
            ("Run `{v}` to test {s}.", "What do I run to test {s}?"),
        ),
        ("How do I check that {s} still works?", "Which command verifies {s} before a commit?"),
        ("Make sure that I broke nothing in {s}.", "Set up continuous integration for {s}."),
        "Before a commit to {s}, type `{v}`.",
        "Which project is tested with `{v}`?",
        _values(
            "make check|npm test|cargo test|pytest -q|go test ./...|tox|gradle check|mix test|"
            "rspec|ctest"
        ),
    ),
    Relation(
        "formatter",
        (
            ("{s} is formatted with {v}.", "What is {s} formatted with?"),
            ("The formatter of {s} is {v}.", "What is the formatter of {s}?"),
        ),
        ("Which tool keeps the code style of {s} uniform?", "What tidies the source of {s}?"),
        ("Clean up the indentation in {s}.", "Write the pre-commit hook for {s}."),
        "{v} decides how the source of {s} looks.",
        "Which project is formatted with {v}?",
        _values("Black|Prettier|gofmt|rustfmt|clang-format|ktlint|Ruff|dprint|scalafmt|yapf"),
    ),
)

PERSON = (
    Relation(
        "drink",
        (
            ("{s} drinks {v} in the morning.", "What does {s} drink in the morning?"),
            ("The favourite drink of {s} is {v}.", "What is the favourite drink of {s}?"),
        ),
        ("Which beverage does {s} like best?", "What could I pour for {s}?"),
        ("Order something from the café for {s}.", "Prepare a welcome tray for {s}."),
        "Offer {s} some {v} and you will see a smile.",
        "Who drinks {v} in the morning?",
        _values(
            "green tea|black coffee|oat latte|mint tea|cocoa|apple juice|mate|espresso|"
            "ginger ale|buttermilk"
        ),
    ),
    Relation(
        "pet",
        (
            ("{s} has a {v} as a pet.", "What does {s} have as a pet?"),
            ("The pet of {s} is a {v}.", "What is the pet of {s}?"),
        ),
        ("Which animal lives with {s}?", "Who waits at home for {s} on four legs or fewer?"),
        ("Find a sitter while {s} is travelling.", "Choose a toy to bring when visiting {s}."),
        "A {v} sleeps on the sofa of {s}.",
        "Who has a {v} as a pet?",
        _values(
            "beagle|tabby cat|parrot|tortoise|hamster|goldfish|ferret|rabbit|gecko|canary|dachshund"
        ),
    ),
    Relation(
        "allergy",
        (
            ("{s} is allergic to {v}.", "What is {s} allergic to?"),
            ("{s} has an allergy to {v}.", "To what does {s} have an allergy?"),
        ),
        ("What must {s} never eat?", "Which ingredient makes {s} ill?"),
        ("Plan a dinner menu for {s}.", "Bake a birthday cake for {s}."),
        "Keep {v} away from {s}, or call a doctor.",
        "Who is allergic to {v}?",
        _values(
            "peanuts|shellfish|eggs|sesame|soy|hazelnuts|celery|mustard|strawberries|lupin|milk"
        ),
    ),
    Relation(
        "city",
        (
            ("{s} lives in {v}.", "Which city does {s} live in?"),
            ("The home of {s} is in {v}.", "Where is the home of {s}?"),
        ),
        ("Where would a letter reach {s}?", "From which town does {s} come to work?"),
        ("Book a train so that {s} can come to the office.", "Suggest a meeting place near {s}."),
        "{s} moved to {v} and stayed.",
        "Who lives in {v}?",
        _values(
            "Lisbon|Oslo|Dublin|Nairobi|Kyoto|Quito|Tallinn|Perth|Ghent|Fez|Hanoi|Bergen|Turin|"
            "Izmir"
        ),
    ),
    Relation(
        "hobby",
        (
            ("{s} spends weekends on {v}.", "What does {s} spend weekends on?"),
            ("The hobby of {s} is {v}.", "What is the hobby of {s}?"),
        ),
        ("What does {s} do for fun?", "How does {s} like to pass free time?"),
        ("Pick a present for {s}.", "Suggest a club that {s} could join."),
        "Ask {s} about {v} and listen for an hour.",
        "Who spends weekends on {v}?",
        _values(
            "fencing|origami|astronomy|rowing|pottery|chess|birdwatching|bouldering|knitting|"
            "judo|beekeeping"
        ),
    ),
)

SYLLABLES = _words(
    "vel kor ryn tas mur dov zel quor bex lan fyr gol nim pra sut wey yol hib jas ced ulm ost "
    "arv ek ith onk tor mez rak sil vun plo gri dra kel vos nar tup lir bam fen goz hux jor"
)
COMMON = _words(
    "amber anchor apple arrow autumn basket beacon bell birch bishop black blue bridge bright "
    "brook brown candle canyon castle cedar cherry circle cloud coast copper coral corner "
    "cotton crown crystal desert diamond dove eagle early east echo elm ember falcon feather "
    "field fire flint forest fountain fox garden gate glass golden grand granite gray green "
    "harbor harvest hazel hill hollow horizon house iron island ivory jade lake lantern lark "
    "leaf light lily lime little long lotus maple marble market meadow mill mint mirror misty "
    "moon morning moss mountain night north oak ocean old olive open orange orchard otter paper "
    "pearl pebble pepper pine plain planet plum pond quiet rain raven red reef ridge river "
    "robin rock rose royal salt sand scarlet shadow shore silent silver simple sky small snow "
    "south sparrow spring star stone storm stream summer sun swift table thistle thunder tide "
    "timber tower valley velvet village violet walnut water west wheat white wild willow wind "
    "winter wolf wood yellow young"
)
FIRST = _words(
    "Adam Alice Amy Anna Arthur Ben Carl Carol Clara Daniel David Diana Edward Ella Emily Emma "
    "Eric Eva Frank Fred George Grace Hannah Harry Helen Henry Ian Jack James Jane John Julia "
    "Karen Kate Laura Leo Linda Lisa Louis Lucy Mark Martin Mary Max Michael Nancy Nina Oliver "
    "Oscar Paul Peter Rachel Ralph Rita Robert Rose Ruth Sam Sarah Simon Sophie Susan Thomas "
    "Tim Tom Victor Walter"
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One memory of the world."""

    number: int
    subject: str
    rare: bool
    relation: Relation
    way: int
    value: str

    @property
    def text(self) -> str:
        return self._filled(self.relation.said[self.way][0])

    @property
    def restated(self) -> str:
        return self._filled(self.relation.restated)

    def question(self, kind: str) -> str:
        """Return how this fact is asked for."""
        if kind == "lex":
            return self._filled(self.relation.said[self.way][1])
        forms = self.relation.para if kind == "para" else self.relation.task
        return self._filled(forms[self.number % len(forms)])

    @property
    def whose(self) -> str:
        """The question that many subjects answer: which of them has this value?"""
        return self._filled(self.relation.whose)

    def with_value(self, value: str) -> Fact:
        """Return the same fact after it has changed."""
        return Fact(self.number, self.subject, self.rare, self.relation, self.way, value)

    def _filled(self, form: str) -> str:
        text = form.format(s=self.subject, v=self.value)
        return text[:1].upper() + text[1:]


def facts(seed: int) -> Iterator[Fact]:
    """Yield the facts of the world, subject after subject, without end."""
    dice = random.Random(seed)
    taken: set[str] = set()
    number = 0
    for relations, rare in _kinds():
        subject = _name(dice, taken, relations is PERSON, rare)
        for relation in relations:
            way, value = dice.randrange(len(relation.said)), dice.choice(relation.values)
            yield Fact(number, subject, rare, relation, way, value)
            number += 1


def needles(given: list[Fact], count: int) -> list[Fact]:
    """Return one fact each of the first `count` subjects, all relations in turn."""
    by_subject: dict[str, list[Fact]] = {}
    for fact in given:
        by_subject.setdefault(fact.subject, []).append(fact)
    chosen = list(by_subject.values())[:count]
    return [of[place // 4 % len(of)] for place, of in enumerate(chosen)]


def another(dice: random.Random, fact: Fact) -> str:
    """Return a value that a fact could have instead."""
    return dice.choice([each for each in fact.relation.values if each != fact.value])


def _kinds() -> Iterator[tuple[tuple[Relation, ...], bool]]:
    while True:
        for rare in (True, False):
            yield PROJECT, rare
            yield PERSON, rare


def _name(dice: random.Random, taken: set[str], person: bool, rare: bool) -> str:
    """Return a name that nobody has yet."""
    while True:
        name = _coined(dice) if rare else _common(dice, person)
        if name not in taken:
            taken.add(name)
            return name


def _coined(dice: random.Random) -> str:
    return "".join(dice.choice(SYLLABLES) for _ in range(dice.randint(3, 4))).capitalize()


def _common(dice: random.Random, person: bool) -> str:
    """Return two or three common words; there are more of three than anybody needs."""
    first = dice.choice(FIRST) if person else dice.choice(COMMON)
    others = [dice.choice(COMMON) for _ in range(dice.choice([1, 2, 2]))]
    return " ".join([first, *others]).title()
