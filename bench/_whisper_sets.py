"""The public data sets, read as stores and the prompts that arrive there.

The stores are those of `_recall_sets`; here stands what whispering needs besides: prompts that
nothing fits, memories that must not be offered, and what a set gives an agent anyway.
`gather_prompts` hands all of it to whoever learns or sets a gate.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from _recall_sets import (
    SOURCES,
    USUAL_USER,
    Draft,
    Question,
    Store,
    memory_id,
    read_beam,
    read_locomo,
    read_ormah,
    read_precision,
)
from _whisper_proactive import read_domains
from _whisper_prompts import OWN, Prompt, Trial, read_asides, sampled, swapped
from recall import PLACES

ANSWERED = ("1", "2", "3", "4")  # LoCoMo's categories that have an answer; 5 is a trap
NO_POINT = ("summarization", "event_ordering", "abstention")  # BEAM's about everything or nothing
LOCOMO_OTHERS = 120
BEAM_OTHERS = 60
PROACTIVE_OTHERS = 40  # of each other domain

WHISPER_SOURCES = SOURCES | {
    "proactive": "github.com/FxyQwQ/ProactiveMemBench, data (MIT)",
    "negatives": "a folder with negatives*.jsonl (text; kind small or task) and filler*.txt",
}
WHISPER_PLACES = PLACES | {"proactive": "proactive*", "negatives": "negatives*"}
"""Where each set is in a folder that holds them."""

Asides = Sequence[Prompt]
"""Small talk and tasks."""

Gathered = tuple[Store, str, str, frozenset[str]]
"""What the home holds, the text of a prompt, its kind, and the ids that fit it."""


def gather_prompts(part: str, data: Path) -> list[Gathered]:
    """Return every prompt of a part with the store it arrives at.

    `Homes.of_store` lends a home for such a store. Spaces and forbidden memories are in the
    trials that `read_trials` returns.
    """
    return [
        (trial.store, prompt.text, prompt.kind, prompt.gold)
        for trial in read_trials(part, data)
        for prompt in trial.prompts
    ]


def read_trials(part: str, data: Path) -> list[Trial]:
    """Return the stores of a part with their prompts, from a folder that holds the sets."""
    read, names = READERS[part]
    return read(*(_placed(name, data) for name in names))


def place(name: str, data: Path) -> Path | None:
    """Return where a set is in a folder that holds several."""
    return min(data.glob(WHISPER_PLACES[name]), default=None)


def _placed(name: str, data: Path) -> Path:
    found = place(name, data)
    if found is None:
        raise FileNotFoundError(f"no {WHISPER_PLACES[name]} in {data}: {WHISPER_SOURCES[name]}")
    return found


# -- LoCoMo --------------------------------------------------------------------------------


def locomo_trials(path: Path, negatives: Path) -> list[Trial]:
    """Return a trial for each conversation: its own questions, those of conversations that
    share no speaker, and the same with the names changed."""
    stores, speakers = read_locomo(path), _speakers(path)
    asides = read_asides(negatives)
    return [
        Trial(store, (*_own(store), *_foreign(store, stores, speakers), *asides))
        for store in stores
    ]


def _own(store: Store) -> list[Prompt]:
    asked = (each for each in store.questions if each.label in ANSWERED)
    return [Prompt(each.text, OWN, each.gold) for each in asked]


def _foreign(
    store: Store, stores: Iterable[Store], speakers: Mapping[str, tuple[str, str]]
) -> list[Prompt]:
    ours = speakers[store.name]
    pool = [
        (prompt.text, speakers[other.name])
        for other in stores
        if not set(ours) & set(speakers[other.name])
        for prompt in _own(other)
    ]
    chosen = sampled(store.name, pool, LOCOMO_OTHERS)
    other = [Prompt(text, "other") for text, _ in chosen]
    return other + [Prompt(swapped(text, theirs, ours), "swap") for text, theirs in chosen]


def _speakers(path: Path) -> dict[str, tuple[str, str]]:
    """Return who speaks in each conversation, the first and the second."""
    found = {sample["sample_id"]: sample["conversation"] for sample in _json(path)}
    return {f"locomo-{name}": (of["speaker_a"], of["speaker_b"]) for name, of in found.items()}


# -- BEAM and ProactiveMemBench ------------------------------------------------------------


def beam_trials(folder: Path, negatives: Path) -> list[Trial]:
    """Return a trial for each chat: its own questions, some of other chats, and apart from
    these the questions on its topic that it does not answer."""
    own = {
        store.name: (store, [Prompt(each.text, OWN, each.gold) for each in _to_the_point(store)])
        for store in read_beam(folder)
    }
    asides = read_asides(negatives)
    trials = []
    for name, (store, prompts) in own.items():
        foreign = [each.text for other in own if other != name for each in own[other][1]]
        others = [Prompt(text, "other") for text in sampled(name, foreign, BEAM_OTHERS)]
        apart = _unanswered(folder / name.removeprefix("beam-"))
        trials.append(Trial(store, (*prompts, *others, *asides, *apart)))
    return trials


def _to_the_point(store: Store) -> list[Question]:
    return [each for each in store.questions if each.label not in NO_POINT]


def _unanswered(chat: Path) -> list[Prompt]:
    asked = _json(chat / "probing_questions.json").get("abstention", [])
    return [Prompt(each["question"], "abstention") for each in asked]


def proactive_trials(folder: Path, negatives: Path) -> list[Trial]:
    """Return a trial for each domain: its own triggers, and some of each other domain."""
    domains, asides = read_domains(folder), read_asides(negatives)
    return [
        Trial(store, (*triggers, *_of_other_domains(store, domains), *asides))
        for store, triggers in domains
    ]


def _of_other_domains(
    store: Store, domains: Iterable[tuple[Store, Sequence[Prompt]]]
) -> list[Prompt]:
    return [
        Prompt(each.text, "other")
        for other, triggers in domains
        if other.name != store.name
        for each in sampled(store.name, triggers, PROACTIVE_OTHERS)
    ]


# -- ormah ---------------------------------------------------------------------------------


def ormah_trials(path: Path, negatives: Path) -> list[Trial]:
    """Return one trial with the memories of all cases in one store, each as old as its case
    says."""
    prompts = [
        _golden_prompt(prompt, case.get("space"))
        for case in _cases(path)
        for prompt in case["prompts"]
    ]
    return [Trial(_dated(path), (*prompts, *read_asides(negatives)))]


def _golden_prompt(prompt: Mapping[str, Any], space: str | None) -> Prompt:
    expected = prompt["expected"]
    gold, forbidden = (
        frozenset(memory_id("ormah", each) for each in expected.get(name) or ())
        for name in ("should_inject", "should_not_inject")
    )
    silent = "noise" if expected.get("should_suppress") else "unanswered"
    return Prompt(prompt["text"], OWN if gold else silent, gold, space, forbidden)


def _dated(path: Path) -> Store:
    (store,) = read_ormah(path)
    ages = {
        memory_id("ormah", each["node_id"]): timedelta(
            days=each.get("created_days_ago", 0), hours=each.get("created_hours_ago", 0)
        )
        for case in _cases(path)
        for each in case["memories"]
    }
    # To the hour: within one, a home that is kept can be used again.
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    aged = ({**draft, "created": now - ages[str(draft["id"])]} for draft in store.drafts)
    return Store("ormah-dated", tuple(aged), ())


def _cases(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


# -- PrecisionMemBench ---------------------------------------------------------------------


def precision_trials(folder: Path) -> list[Trial]:
    """Return a trial for each user: cases whose whole answer is known, down to the empty one."""
    cases = [each for path in sorted(folder.glob("retrieval.cases*.json")) for each in _json(path)]
    return [
        Trial(store, tuple(_case(each, store) for each in cases if _is_of(each, store)))
        for store in _believers(folder)
    ]


def _is_of(case: Mapping[str, Any], store: Store) -> bool:
    return store.name == _believer_name(case.get("userId", USUAL_USER))


def _case(case: Mapping[str, Any], store: Store) -> Prompt:
    expected = case["expect"].get("relevantBeliefs") or {}
    held = {str(draft["id"]) for draft in store.drafts}
    gold = _belief_ids(expected.get("shouldOnlyInclude")) & held
    noise = case["expect"].get("noiseCheck", {}).get("mustNotSurface")
    forbidden = _belief_ids(expected.get("mustExclude")) | _belief_ids(noise)
    space = next(iter(case.get("scope") or ()), None)
    text = case["query"] if "query" in case else case["userMessage"]
    return Prompt(text, OWN if gold else "empty", gold, space, forbidden - gold)


def _belief_ids(names: Iterable[str] | None) -> frozenset[str]:
    return frozenset(memory_id("precision", each) for each in names or ())


def _believers(folder: Path) -> list[Store]:
    """Return each user's beliefs without those that the agent has before it in any case: what
    is pinned, and open questions. What took another's place may be among them, so the date
    says what is over."""
    beliefs = {memory_id("precision", each["_id"]): each for each in _beliefs(folder)}
    return [
        Store(_believer_name(store.name), tuple(_sought(store.drafts, beliefs)), ())
        for store in read_precision(folder)
    ]


def _sought(drafts: Iterable[Draft], beliefs: Mapping[str, Mapping[str, Any]]) -> Iterable[Draft]:
    for draft in drafts:
        belief = beliefs[str(draft["id"])]
        if belief.get("pinned") or belief["type"] == "open_question":
            continue
        over = {"valid_until": belief["updated_at"]} if belief.get("superseded_by") else {}
        yield draft | over


def _beliefs(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _json(folder / "beliefs.seed.json")
    return found


def _believer_name(user: str) -> str:
    return f"sought-precision-{user.removeprefix('precision-')}"


# -- dialogues -----------------------------------------------------------------------------


def session_trials(precision: Path, ormah: Path) -> list[Trial]:
    """Return the dialogues of both sets, each of which is one session."""
    beliefs = next(each for each in _believers(precision) if _is_of({}, each))
    paths = sorted(precision.glob("session-retrieval.cases*.json"))
    dialogues = [
        Trial(beliefs, tuple(_case(turn, beliefs) for turn in each["turns"]), each["caseId"])
        for path in paths
        for each in _json(path)
    ]
    cases = [case for case in _cases(ormah) if case.get("simulate_session")]
    return dialogues + [_golden_session(case, _dated(ormah)) for case in cases]


def _golden_session(case: Mapping[str, Any], store: Store) -> Trial:
    prompts = tuple(_golden_prompt(each, case.get("space")) for each in case["prompts"])
    return Trial(store, prompts, case["id"])


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


Reader = Callable[..., list[Trial]]
READERS: Mapping[str, tuple[Reader, tuple[str, ...]]] = {
    "locomo": (locomo_trials, ("locomo", "negatives")),
    "beam": (beam_trials, ("beam", "negatives")),
    "proactive": (proactive_trials, ("proactive", "negatives")),
    "ormah": (ormah_trials, ("ormah", "negatives")),
    "precision": (precision_trials, ("precision",)),
    "session": (session_trials, ("precision", "ormah")),
}
"""How each part is read, and the sets that it needs."""
