"""Which features a head may use, which way each may count, and which belong together.

The heads are those of `madeleine.recall.weights`, the features those of
`madeleine.recall.features`. A sign of 1 means that more of it never lowers a score, -1 that it
never raises one, 0 that the fit decides.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace

GROUPS: dict[str, tuple[str, ...]] = {
    "words": ("words", "coverage", "phrases"),
    "kin": ("kin", "kin_everyday"),
    "words around": ("words_around", "words_session", "coverage_session"),
    "meaning": ("near", "focus"),
    "meaning without a shared word": ("near_unshared", "tokens_unshared"),
    "meaning around": ("near_around", "focus_around", "focus_beside"),
    "meaning of the session": ("focus_session",),
    "tokens": ("tokens_mean", "tokens_least", "tokens"),
    "tokens around": ("tokens_mean_around", "tokens_around", "tokens_sure_around"),
    "tokens of the session": ("tokens_session",),
    "tokens of a piece": ("tokens_piece", "tokens_sure_piece"),
    "tokens of a part": ("tokens_part",),
    "speaker": ("speaker", "other_speaker", "any_speaker"),
    "date": ("date", "date_near"),
    "time and number": ("time", "time_asked", "number", "number_asked"),
    "question turns": ("question_last", "question", "after_question_last", "after_question"),
    "form": ("first_person", "capitals", "capitals_asked", "length"),
    "instructions and preferences": ("instruction_asked", "preference_asked"),
    "early in an overview": ("early_overview",),
}
WIDER_GROUPS: dict[str, tuple[str, ...]] = {
    "all late interaction": tuple(
        name for group, names in GROUPS.items() if group.startswith("tokens") for name in names
    ),
    "all of the session": (
        "words_session", "coverage_session", "focus_session", "tokens_session",
    ),
    "all neighbours": (
        "words_around", "near_around", "focus_around", "focus_beside", "tokens_mean_around",
        "tokens_around", "tokens_sure_around", "after_question_last", "after_question",
    ),
    "all words": GROUPS["words"] + GROUPS["words around"],
}  # fmt: skip
EVIDENCE = (
    "best_coverage",
    "best_near",
    "best_focus",
    "best_tokens_piece",
    "best_tokens_sure_piece",
    "telling_words",
)


@dataclass(frozen=True, slots=True)
class HeadPlan:
    """What a head is fitted from.

    `candidates` are those of these heads: the three that answer where there is a model teach the
    others too, by what is left of their features. `l2` holds the weights back; it was chosen
    for as many questions as the stores have.
    """

    candidates: tuple[str, ...]
    signs: Mapping[str, int]
    evidence: tuple[str, ...]
    l2: float
    only_asked: bool = False
    """Whether its chance is that of an answer to a question, as often as questions have one in the
    stores, and is scaled to be right of the first hit; otherwise prompts teach it too, and those
    without an answer count for half."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.signs)

    def without(self, names: Container[str]) -> HeadPlan:
        """Return the plan without some features."""
        signs = {name: sign for name, sign in self.signs.items() if name not in names}
        return replace(self, signs=signs)


_AGAINST = ("other_speaker", "question_last", "question")
_ONLY_IN_KEPT = GROUPS["meaning without a shared word"] + GROUPS["tokens of a part"]
_ONLY_IN_NOTES = GROUPS["instructions and preferences"] + GROUPS["early in an overview"]


def _signs(names: Iterable[str]) -> dict[str, int]:
    return {name: -1 if name in _AGAINST else 1 for name in names}


_ALL = [name for names in GROUPS.values() for name in names]

HEADS: dict[str, HeadPlan] = {
    "dialogue": HeadPlan(
        candidates=("dialogue",),
        signs=_signs(each for each in _ALL if each not in _ONLY_IN_NOTES + _ONLY_IN_KEPT)
        | {"length": 0},
        evidence=EVIDENCE,
        l2=2_000.0,
    ),
    "note": HeadPlan(
        candidates=("note",),
        signs=_signs(
            (
                *GROUPS["words"], *GROUPS["kin"], *GROUPS["meaning"], "tokens", "tokens_mean",
                *GROUPS["tokens of a piece"], *GROUPS["date"], *_ONLY_IN_NOTES,
            )
        )
        | {"length": -1},
        evidence=EVIDENCE,
        l2=1_000.0,
    ),
    "kept": HeadPlan(
        candidates=("kept",),
        signs=_signs(
            (
                *GROUPS["words"], *GROUPS["kin"], *GROUPS["meaning"], *GROUPS["tokens"],
                *GROUPS["tokens of a piece"], *GROUPS["date"], *_ONLY_IN_KEPT,
                "time_asked", "number_asked",
            )
        )
        | {"length": -1},
        evidence=("lead", *EVIDENCE),
        l2=30.0,
        only_asked=True,
    ),
    "meaning": HeadPlan(
        candidates=("dialogue", "note", "kept"),
        signs=_signs(
            (*GROUPS["words"], *GROUPS["kin"], "near", *GROUPS["speaker"], *GROUPS["date"])
        ),
        evidence=("best_coverage", "best_near", "telling_words"),
        l2=500.0,
    ),
    "words": HeadPlan(
        candidates=("dialogue", "note", "kept"),
        signs=_signs((*GROUPS["words"], *GROUPS["kin"], *GROUPS["speaker"], *GROUPS["date"])),
        evidence=("best_coverage", "telling_words"),
        l2=500.0,
    ),
}  # fmt: skip

_OTHER_WORDS = (*GROUPS["words"], *GROUPS["kin"], *GROUPS["date"], "time_asked", "number_asked")

OTHER_HEADS: dict[str, HeadPlan] = {
    "other_kept": HeadPlan(
        candidates=("other_kept",),
        signs=_signs(
            (
                *_OTHER_WORDS, *GROUPS["meaning"], *GROUPS["tokens"],
                *GROUPS["tokens of a piece"], *_ONLY_IN_KEPT,
            )
        )
        | {"length": -1},
        evidence=("lead", *EVIDENCE),
        l2=30.0,
        only_asked=True,
    ),
    "other_meaning": HeadPlan(
        candidates=("other_meaning",),
        signs=_signs((*_OTHER_WORDS, *GROUPS["meaning"], *GROUPS["tokens of a piece"]))
        | {"length": -1},
        evidence=("lead", "best_coverage", "telling_words"),
        l2=30.0,
        only_asked=True,
    ),
    "other_words": HeadPlan(
        candidates=("other_kept", "other_meaning", "other_words"),
        signs=_signs(_OTHER_WORDS) | {"length": -1},
        evidence=("lead", "best_coverage", "telling_words"),
        l2=30.0,
        only_asked=True,
    ),
}  # fmt: skip
"""The same where a question or a memory is in another language (`train_other_languages.py`)."""
