"""What a system says to the prompts, actions and questions of Everyday, as figures.

Prompts that are borderline are reported apart. Of two memories that say the same, either will do.
A memory that was said earlier in the same session counts as said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from _everyday_set import (
    PROMPT_KINDS,
    TRICKY_SILENCE,
    EverydayAction,
    EverydayPrompt,
    EverydayQuestion,
    EverydayStore,
)
from _everyday_systems import ScoredId, System, Whispered
from _recall_metrics import mean
from _recall_report import Figure, share

from madeleine.language.identification import guess_languages

BINS = 5
ALL_GUESSES = 99  # more than there are languages


@dataclass(frozen=True, slots=True)
class Labels:
    """What fits a prompt or an action, with what says the same."""

    must: tuple[frozenset[str], ...]
    """For each memory that is needed, the ids of which any one will do."""
    fitting: frozenset[str]

    @classmethod
    def of(cls, row: EverydayPrompt | EverydayAction, same: Mapping[str, frozenset[str]]) -> Labels:
        must = tuple(dict.fromkeys(same[each] for each in sorted(row.must)))
        return cls(must, frozenset(other for each in row.must | row.ok for other in same[each]))


@dataclass(frozen=True, slots=True)
class Answered:
    """What fits a prompt or an action, and what was said to it."""

    labels: Labels
    said: Whispered

    @property
    def needed(self) -> list[bool]:
        """For each memory that is needed, whether it was said."""
        told = {each.id for each in self.said.now} | self.said.before
        return [not each.isdisjoint(told) for each in self.labels.must]

    @property
    def needed_with_brief(self) -> list[bool]:
        """The same, where what the session was told at its start counts as said."""
        brief = self.said.brief or frozenset()
        return [
            said or not each.isdisjoint(brief)
            for said, each in zip(self.needed, self.labels.must, strict=True)
        ]

    @property
    def fits(self) -> list[bool]:
        """For each memory that was said, whether it fits."""
        return [each.id in self.labels.fitting for each in self.said.now]


@dataclass(frozen=True, slots=True)
class AnsweredPrompt(Answered):
    """A prompt and what was said to it."""

    row: EverydayPrompt
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Recalled:
    """A question and what came back."""

    question: EverydayQuestion
    grades: Mapping[str, int]
    hits: Sequence[ScoredId]
    language: str = "en"

    def right_within(self, count: int) -> bool:
        return any(self.grades.get(each.id) == 2 for each in self.hits[:count])


def language_of(text: str, store: EverydayStore) -> str:
    """Return which of a store's languages a text is in, by its two letters."""
    guesses = (each.code for each in guess_languages(text, ALL_GUESSES))
    return next((each for each in guesses if each in store.languages), store.languages[0])


def same_as(store: EverydayStore) -> dict[str, frozenset[str]]:
    """Return for each memory all that say the same, itself included."""
    groups: dict[str, set[str]] = {each.id: {each.id} for each in store.memories}
    for each in store.memories:
        if each.same_as is not None:
            joined = groups[each.id] | groups[each.same_as]
            for member in joined:
                groups[member] = joined
    return {key: frozenset(group) for key, group in groups.items()}


# -- prompts and actions ---------------------------------------------------------------------


def ask_prompts(system: System, store: EverydayStore) -> list[AnsweredPrompt]:
    same = same_as(store)
    with system.opened(store) as asked:
        return [
            AnsweredPrompt(
                Labels.of(each, same),
                asked.whisper(each.text, each.space, each.session),
                each,
                language_of(each.text, store),
            )
            for each in store.prompts
        ]


def ask_actions(system: System, store: EverydayStore) -> list[Answered]:
    """Tell what an agent is about to do, by its tool and target. A system that knows prompts only
    is told in a line."""
    same = same_as(store)
    with system.opened(store) as asked:
        return [
            Answered(Labels.of(each, same), asked.act(each.tool, each.target, each.space))
            for each in store.actions
        ]


def whisper_figures(answered: Sequence[AnsweredPrompt]) -> Iterator[Figure]:
    clear = [each for each in answered if not each.row.borderline]
    yield from _whisper_figures("whisper", clear)
    for kind in PROMPT_KINDS:
        of_kind = [each for each in clear if each.row.kind == kind and each.labels.must]
        yield share("whisper", f"hit, {kind}", mean(float(any(each.needed)) for each in of_kind))
    yield from _brief_figures([each for each in clear if each.labels.must])
    border = [each for each in answered if each.row.borderline]
    yield from _whisper_figures("whisper, borderline", border)
    for language in _languages(clear):
        rows = [each for each in clear if each.language == language]
        yield from _needed_figures(f"whisper, {language}", rows)
        yield _false_figure(f"whisper, {language}", "false on silent", rows)


def _brief_figures(wanted: Sequence[AnsweredPrompt]) -> Iterator[Figure]:
    """Return how much is said where the brief of the session counts too, if there is one."""
    if all(each.said.brief is None for each in wanted):
        return
    for name, kinds in (("", PROMPT_KINDS), (", preference", ("preference",))):
        rows = [each for each in wanted if each.row.kind in kinds]
        told = mean(float(any(each.needed_with_brief)) for each in rows)
        yield share("whisper", f"hit{name}, counting the brief", told)


def _whisper_figures(part: str, answered: Sequence[AnsweredPrompt]) -> Iterator[Figure]:
    yield from _needed_figures(part, answered)
    silent = [each for each in answered if each.row.silence is not None]
    tricky = [each for each in silent if each.row.silence in TRICKY_SILENCE]
    plain = [each for each in silent if each.row.silence not in TRICKY_SILENCE]
    for name, rows in (("", silent), (", plain", plain), (", tricky", tricky)):
        yield _false_figure(part, f"false on silent{name}", rows)


def _false_figure(part: str, what: str, answered: Sequence[AnsweredPrompt]) -> Figure:
    silent = [each for each in answered if each.row.silence is not None]
    return share(part, what, mean(float(bool(each.said.now)) for each in silent))


def _languages(answered: Sequence[AnsweredPrompt] | Sequence[Recalled]) -> list[str]:
    """Return the languages asked in; none if there is only one, of which the other lines speak."""
    found = sorted({each.language for each in answered})
    return found if len(found) > 1 else []


def action_figures(answered: Sequence[Answered]) -> Iterator[Figure]:
    yield from _needed_figures("actions", answered)
    silent = [each for each in answered if not each.labels.fitting]
    yield share("actions", "false on silent", mean(float(bool(each.said.now)) for each in silent))


def _needed_figures(part: str, answered: Sequence[Answered]) -> Iterator[Figure]:
    wanted = [each for each in answered if each.labels.must]
    yield share(part, "hit: any needed one", mean(float(any(each.needed)) for each in wanted))
    every = mean(float(told) for each in wanted for told in each.needed)
    yield share(part, "needed ones said", every)
    yield share(part, "precision", mean(float(fits) for each in answered for fits in each.fits))


def best_threshold(answered: Sequence[Answered]) -> tuple[float, float]:
    """Return the score from which on whispers have the best F1, and that F1: precision over what
    is said, recall over what is needed. `answered` was asked without any threshold."""
    needed = sum(len(each.labels.must) for each in answered)
    scores = sorted({hit.score for each in answered for hit in each.said.now})
    best = (0.0, 0.0)
    for threshold in scores[:: max(1, len(scores) // 400)]:
        said = fitting = told = 0
        for each in answered:
            kept = [hit.id for hit in each.said.now if hit.score >= threshold]
            said += len(kept)
            fitting += sum(key in each.labels.fitting for key in kept)
            told += sum(not group.isdisjoint(kept) for group in each.labels.must)
        precision, recall = fitting / max(said, 1), told / max(needed, 1)
        both = precision + recall
        found = 2 * precision * recall / both if both else 0.0
        best = max(best, (found, threshold))
    return best[1], best[0]


# -- questions -------------------------------------------------------------------------------


def ask_questions(system: System, store: EverydayStore) -> list[Recalled]:
    same = same_as(store)
    with system.opened(store) as asked:
        return [
            Recalled(
                each,
                _grades_with_same(each, same),
                asked.recall(each.text, each.space),
                language_of(each.text, store),
            )
            for each in store.questions
        ]


def _grades_with_same(
    question: EverydayQuestion, same: Mapping[str, frozenset[str]]
) -> dict[str, int]:
    grades: dict[str, int] = {}
    for key, grade in question.grades.items():
        for each in same[key]:
            grades[each] = max(grade, grades.get(each, 0))
    return grades


def recall_figures(recalled: Sequence[Recalled]) -> Iterator[Figure]:
    answerable = [each for each in recalled if each.question.kind == "answer"]
    for count in (1, 3, 5):
        found = mean(float(each.right_within(count)) for each in answerable)
        yield share("recall", f"an answer among the first {count}", found)
    yield Figure(
        "recall",
        "hits returned, in the mean",
        mean(float(len(each.hits)) for each in answerable).value,
        len(answerable),
    )
    useful = mean(float(hit.id in each.grades) for each in answerable for hit in each.hits)
    yield share("recall", "precision of the hits", useful)
    none = [each for each in recalled if each.question.kind == "none"]
    yield share("recall", "unanswerable, answered", mean(float(bool(each.hits)) for each in none))
    changed = [each for each in recalled if each.question.kind == "changed"]
    yield share("recall", "old value above new", mean(float(_old_first(each)) for each in changed))
    yield from reliability(
        "recall", [(each.hits[0].score, each.right_within(1)) for each in answerable if each.hits]
    )
    for language in _languages(answerable):
        rows = [each for each in answerable if each.language == language]
        yield from _figures_of_language(language, rows)


def _figures_of_language(language: str, answerable: Sequence[Recalled]) -> Iterator[Figure]:
    """Return how good recall is in one language, and whether its scores mean there what they
    mean elsewhere."""
    part = f"recall, {language}"
    for count in (1, 3, 5):
        found = mean(float(each.right_within(count)) for each in answerable)
        yield share(part, f"an answer among the first {count}", found)
    scored = [(each.hits[0].score, each.right_within(1)) for each in answerable if each.hits]
    yield share(part, "what the first score says", mean(score for score, _ in scored))
    yield from (each for each in reliability(part, scored) if each.what.startswith("expected"))


def _old_first(recalled: Recalled) -> bool:
    ranks = {each.id: place for place, each in enumerate(recalled.hits)}
    old, new = recalled.question.old, recalled.question.new
    never = len(ranks)
    return old in ranks and ranks[old] < ranks.get(new or "", never)


def reliability(part: str, scored: Sequence[tuple[float, bool]]) -> Iterator[Figure]:
    """Return, for five bins of the score, how often the first hit was right, and the mean
    distance between the two (expected calibration error)."""
    if any(not 0 <= score <= 1 for score, _ in scored):
        return  # a system whose scores are no chances
    error = 0.0
    for number in range(BINS):
        low, high = number / BINS, (number + 1) / BINS
        inside = [pair for pair in scored if low <= pair[0] < high or pair[0] == high == 1]
        if not inside:
            continue
        said = mean(score for score, _ in inside).value
        right = mean(float(is_right) for _, is_right in inside)
        error += abs(said - right.value) * len(inside)
        what = f"right at a score of {low:.1f} to {high:.1f}"
        yield share(part, what, right, note=f"says {said:.2f}")
    if scored:
        yield Figure(part, "expected error of the first score", error / len(scored), len(scored))
