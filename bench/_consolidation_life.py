"""A store that lives through some months, with and without consolidation.

Every day somebody learns a few facts of the made-up world, says some of them again in other
words, notes things that nobody will ever ask for, and asks about what matters to them: a fifth of
the subjects are asked about all the time, the others hardly ever. Now and then a fact changes. The
clock is made up too, so that half a year goes by in a minute; everything else is real: each day
goes through the same verbs, and each night through the same jobs, as in a home.

At the end the same questions are put to every life: what is so now, in the words of the memory and
in others; prompts that need a fact without asking for it, and prompts that need none.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from _corpus import THINGS, Texts
from _measure import progress
from _recall_homes import Homes
from _recall_metrics import Mean, any_at, mean, reciprocal_rank
from _recall_report import Figure, share
from _recall_world import Fact, another, facts
from _sleep_updates import CHANGED

from madeleine.api.call import OperationCall
from madeleine.api.contract.responses import RecallAnswer
from madeleine.api.operations import perform_operation
from madeleine.bootstrap import HomeContext, open_home
from madeleine.sleep.sleeper import ORDER, TASKS

SEED = 23
FIRST_DAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
LEARNED = 6  # facts a day
SAID_AGAIN = 0.2  # share of them that is said again within the week
NOISE = 6  # notes a day that nobody asks for
ON_THE_THEME = 1  # notes a day about what the week is about, all much alike
ASKED = 4  # questions a day
HOT = 0.2  # share of the subjects that most questions are about
ABOUT_HOT = 0.9  # share of the questions that is
CHANGES_EVERY = 3  # days between two facts that change
SLEEP_EVERY = 7  # days between two nights of the sleep cycle, in every life
PROMPTS = 120
LIMIT = 5

IDLE = (
    "Sort this list of numbers in descending order.",
    "What is the difference between a tuple and a list?",
    "Translate 'good evening' into Portuguese.",
    "Rename the variable tmp to total in this function.",
    "Why is the sky blue?",
    "Write a regular expression that matches an ISO date.",
    "Explain what a mutex is in two sentences.",
    "How many ounces are in a pound?",
    "Fix the off-by-one error in the loop above.",
    "Convert this JSON into YAML.",
    "Give me a synonym for 'quick'.",
    "What does HTTP status 418 mean?",
    "Split this string at every comma.",
    "Who wrote Don Quixote?",
    "Summarise the paragraph that I just pasted.",
    "Add a docstring to the method below.",
    "What is 17 times 23?",
    "Show me how to reverse a linked list.",
    "Is a tomato a fruit?",
    "Turn these bullet points into a table.",
)
THEME = (
    "Spent the morning on the {t} again, {n} open points left.",
    "The {t} is coming along, {n} points are still open.",
    "Worked on the {t} for {n} minutes this morning.",
    "Talked about the {t} with the team, {n} points to go.",
    "Another day on the {t}; {n} things left to do.",
)
DECAY, CREATIVE, CLUSTER, FORGET = TASKS


@dataclass(frozen=True, slots=True)
class Way:
    """How a store lives: which tasks run how often, in days, and with which settings."""

    every: Mapping[str, int]
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


WAYS: Mapping[str, Way] = {
    "none": Way({}),
    "decay": Way({DECAY: 1}, {"recall": {"relevance_weight": 0.1}}),
    "creative": Way({DECAY: 1, CREATIVE: 7}),
    "cluster": Way({DECAY: 1, CLUSTER: 7}),
    "forget": Way(
        {DECAY: 1, FORGET: 7},
        {"consolidation": {"archive_threshold": 0.05, "grace_period_days": 30.0}},
    ),
    "documented": Way({DECAY: 1, CREATIVE: 7, CLUSTER: 30}),
}


def lives(homes: Homes, days: int, ways: Sequence[str]) -> Iterator[Figure]:
    """Yield what each life came to."""
    for name in ways:
        home = homes.folder / f"life-{name}"
        yield from _life(homes, home, name, WAYS[name], days)


@dataclass(slots=True)
class Days:
    """A clock that somebody else moves; no two looks give the same time."""

    at: datetime

    def now(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at


@dataclass(slots=True)
class Known:
    """What is so by now: each fact, the memories that state it, and those that state what it
    was before."""

    fact: Fact
    ids: set[str]
    olds: set[str] = field(default_factory=set)


def _life(homes: Homes, home: Path, name: str, way: Way, days: int) -> Iterator[Figure]:
    progress(f"a life of {days} days: {name}")
    context, clock = _opened(homes, home, way)
    try:
        known = _lived(context, clock, way, days)
        yield from _asked(context, name, known, random.Random(SEED + 1))
        yield from _sizes(context, name)
    finally:
        context.close()


def _opened(homes: Homes, home: Path, way: Way) -> tuple[HomeContext, Days]:
    """Return an empty home whose clock is ours."""
    for each in sorted(home.rglob("*"), reverse=True) if home.exists() else ():
        each.unlink() if each.is_symlink() or each.is_file() else each.rmdir()
    home.mkdir(exist_ok=True)
    homes.share_embeddings(home)
    (home / "config.toml").write_text(_config(way), encoding="utf-8")
    context, clock = open_home(home), Days(FIRST_DAY)
    context.stores = replace(context.stores, clock=clock)
    context.__post_init__()  # what was made with the stores of before
    return context, clock


def _config(way: Way) -> str:
    lines = []
    for section, values in way.settings.items():
        lines.append(f"[{section}]")
        lines += [f"{name} = {value}" for name, value in values.items()]
    return "\n".join(lines) + "\n"


# -- living --------------------------------------------------------------------------------


def _lived(context: HomeContext, clock: Days, way: Way, days: int) -> list[Known]:
    """Live so many days, and return what is so at the end."""
    dice, world, texts = random.Random(SEED), facts(SEED), Texts(seed=SEED)
    known: list[Known] = []
    again: dict[int, list[Fact]] = {}
    for day in range(days):
        clock.at = FIRST_DAY + timedelta(days=day)
        for _ in range(LEARNED):
            fact = next(world)
            known.append(Known(fact, {_remember(context, fact.text)}))
            if dice.random() < SAID_AGAIN:
                again.setdefault(day + dice.randint(1, 7), []).append(fact)
        for fact in again.pop(day, ()):
            _say_again(context, known, fact)
        for _ in range(NOISE):
            _remember(context, texts.text())
        for _ in range(ON_THE_THEME):
            _remember(context, _about(dice, THINGS[day // 7 % len(THINGS)]))
        if day % CHANGES_EVERY == 0:
            _change(context, dice, dice.choice(known))
        _use(context, dice, known, day)
        _night(context, clock, way, day)
    clock.at = FIRST_DAY + timedelta(days=days)
    return known


def _about(dice: random.Random, thing: str) -> str:
    """Return a note about the theme of a week."""
    form = dice.choice(THEME)
    return form.format(t=thing, n=dice.randint(2, 40))


def _remember(context: HomeContext, text: str) -> str:
    answer = perform_operation(context, "remember", OperationCall(body={"content": text}))
    return str(answer.node_id)


def _say_again(context: HomeContext, known: Sequence[Known], fact: Fact) -> None:
    for each in known:
        if each.fact == fact:
            each.ids.add(_remember(context, fact.restated))


def _change(context: HomeContext, dice: random.Random, known: Known) -> None:
    """Let a fact change: it is told in other words, with another value."""
    old = known.fact
    new = old.with_value(another(dice, old))
    form = dice.choice(CHANGED[old.relation.name])
    text = form.format(s=old.subject, v=new.value, o=old.value)
    known.olds |= known.ids
    known.fact, known.ids = new, {_remember(context, text[:1].upper() + text[1:])}


def _use(context: HomeContext, dice: random.Random, known: Sequence[Known], day: int) -> None:
    hot = [each for each in known if _is_hot(each.fact)]
    for number in range(ASKED):
        chosen = dice.choice(hot if hot and dice.random() < ABOUT_HOT else list(known))
        query = chosen.fact.question(dice.choice(("lex", "para")))
        body = {"query": query, "limit": LIMIT, "session_id": f"{day}-{number % 2}"}
        hits = _results(perform_operation(context, "recall", OperationCall(body=body)))
        right = [each for each in hits if each in chosen.ids]
        for each in right[:1]:
            perform_operation(context, "show", OperationCall(id=each))


def _is_hot(fact: Fact) -> bool:
    return random.Random(fact.subject).random() < HOT


def _night(context: HomeContext, clock: Days, way: Way, day: int) -> None:
    clock.at = FIRST_DAY + timedelta(days=day, hours=15)
    if day % SLEEP_EVERY == SLEEP_EVERY - 1:
        _run(context, ORDER)
    due = [task for task in TASKS if task in way.every and (day + 1) % way.every[task] == 0]
    if due:
        _run(context, due)


def _run(context: HomeContext, jobs: Sequence[str]) -> None:
    asked = context.sleeper.ask(jobs)
    context.sleeper.wait(asked)
    for report in asked.reports:
        if report.error:
            raise SystemExit(f"{report.job} failed: {report.error}")


def _results(answer: RecallAnswer) -> list[str]:
    return [each.memory.id for each in answer.results]


# -- asking --------------------------------------------------------------------------------


def _asked(
    context: HomeContext, name: str, known: Sequence[Known], dice: random.Random
) -> Iterator[Figure]:
    current = [each for each in known if not each.olds]
    hot = [each for each in current if _is_hot(each.fact)]
    cold = [each for each in current if not _is_hot(each.fact)]
    for what, chosen in (("asked about often", hot), ("hardly ever asked about", cold)):
        ranked = [(_ranked(context, each, "para"), each) for each in _some(dice, chosen)]
        yield share(
            name, f"recall: hit in 5, {what}", _mean(any_at(r, _gold(k), 5) for r, k in ranked)
        )
        yield share(
            name, f"recall: MRR, {what}", _mean(reciprocal_rank(r, _gold(k)) for r, k in ranked)
        )
    changed = [each for each in known if each.olds]
    firsts = [
        (_ranked(context, each, kind)[:1], each) for each in changed for kind in ("lex", "para")
    ]
    stale = _mean(float(bool(each.olds.intersection(first))) for first, each in firsts)
    yield share(name, "an old value at rank 1", stale)
    yield from _whispers(context, name, _some(dice, hot), dice)


def _some(dice: random.Random, known: Sequence[Known]) -> list[Known]:
    return dice.sample(list(known), min(PROMPTS, len(known)))


def _gold(known: Known) -> frozenset[str]:
    return frozenset(known.ids)


def _mean(values: Iterator[float]) -> Mean:
    return mean(list(values))


def _ranked(context: HomeContext, known: Known, kind: str) -> list[str]:
    """Return what a question finds; a memory that a summary or a keeper took in counts as it."""
    body = {"query": known.fact.question(kind), "limit": 10}
    return [
        _stands_for(context, each, known)
        for each in _results(perform_operation(context, "recall", OperationCall(body=body)))
    ]


def _stands_for(context: HomeContext, memory: str, known: Known) -> str:
    """Return the id of the memory that this one says: of two that were merged the keeper says
    both."""
    if memory in known.ids | known.olds:
        return memory
    stored = context.stores.search.get(memory)
    said = stored.memory.content if stored else ""
    holds = known.fact.subject in said and known.fact.value in said
    return next(iter(known.ids)) if holds and known.ids else memory


def _whispers(
    context: HomeContext, name: str, known: Sequence[Known], dice: random.Random
) -> Iterator[Figure]:
    """Whisper about facts that are needed, and about nothing at all."""
    right = told = heard = 0
    for number, each in enumerate(known):
        injected = _injected(context, each.fact.question("task"), f"w{number}")
        fitting = [one for one in injected if _is_about(context, one, each)]
        right, told, heard = right + len(fitting), told + len(injected), heard + bool(fitting)
    idle = [_injected(context, prompt, f"i{n}") for n, prompt in enumerate(IDLE)]
    yield Figure(name, "whisper: precision", right / max(told, 1), told)
    yield Figure(
        name, "whisper: prompts that got what they need", heard / max(len(known), 1), len(known)
    )
    yield Figure(
        name,
        "whisper: prompts that need nothing and got something",
        sum(map(bool, idle)) / len(IDLE),
        len(IDLE),
    )


def _is_about(context: HomeContext, memory: str, known: Known) -> bool:
    """Whether a memory is about the subject that a prompt names."""
    stored = context.stores.search.get(memory)
    return stored is not None and known.fact.subject in stored.memory.content


def _injected(context: HomeContext, prompt: str, session: str) -> list[str]:
    answer = perform_operation(
        context, "whisper", OperationCall(body={"prompt": prompt, "session_id": session})
    )
    return [str(each.node_id) for each in answer.injected]


def _sizes(context: HomeContext, name: str) -> Iterator[Figure]:
    counts = context.stores.search.counts()
    vault = sum(path.stat().st_size for path in (context.home / "vault").glob("*.md"))
    journal = sum(path.stat().st_size for path in (context.home / "journal").iterdir())
    active = counts.memories - counts.by_tier.get("archival", 0)
    yield Figure(name, "memories outside the archive", active, counts.memories, unit="of n")
    yield Figure(name, "connections", counts.edges, counts.memories, unit="edges")
    yield Figure(name, "vault", vault / 1000, counts.memories, unit="kB")
    yield Figure(name, "journal", journal / 1000, counts.memories, unit="kB")
