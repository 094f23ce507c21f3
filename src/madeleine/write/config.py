"""The settings that verbs and recall go by: `[write]`, `[exclude]`, `[space]`, `[recall]` and
`[reranker]`."""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.model.setting import advanced, setting

AGENTS = "agents"  # whose memories wait for a person's yes


@dataclass(frozen=True, slots=True)
class WriteConfig:
    """What happens when something is remembered."""

    link_threshold: float = advanced(0.65, "similarity from which a new memory is linked")
    cross_space_penalty: float = advanced(0.1, "taken off the similarity when spaces differ")
    link_neighbours: int = advanced(6, "how many neighbours are looked at")
    similar_threshold: float = advanced(
        0.65, "similarity from which a new memory's answer names another as like it", 0, 1
    )
    core_cap: int = setting(50, "most memories in the core tier, the self among them")
    approval: str = setting(
        "none",
        "whose memories wait until a person says yes: none, or agents (tools, hooks, HTTP)",
        among=("none", AGENTS),
    )


@dataclass(frozen=True, slots=True)
class ExclusionConfig:
    """What agents and hooks keep nothing of."""

    folders: str = setting("", "folders, with all below them, separated by `:`")
    spaces: str = setting("", "spaces, separated by commas; `global` is what belongs to none")
    words: str = setting("", "words or phrases, separated by commas, in upper or lower case")


@dataclass(frozen=True, slots=True)
class SpaceConfig:
    """Which project a folder is."""

    aliases: str = setting(
        "", "other names of spaces: `web-old = web, /home/ada/letters = letters`"
    )


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """Asked recall."""

    pool: int = advanced(300, "candidates taken from each source")
    compared: int = advanced(100, "candidates that are compared closely, at least")
    floor: float = advanced(0.08, "hits below this score are folded; `all` shows them", 0, 1)
    floor_relative: float = advanced(
        0.20, "hits below this share of the best score are folded, too", 0, 1
    )
    floor_best: float = setting(
        0.30, "nothing answers if even the best hit is below this score", 0, 1
    )
    least_score: float = advanced(0.005, "hits below this that share no word are not found at all")
    least_best: float = advanced(
        0.02, "nothing is found if even the best hit is below this and shares no word"
    )
    weights: str = advanced("", "file with other weights than the shipped ones")
    relevance_weight: float = advanced(
        0.0, "how much of a score goes with a relevance of 0; 0 leaves relevance out", 0, 1
    )
    activation_seeds: int = advanced(5, "best hits that pass on some of their score")
    activation_per_seed: int = advanced(3, "neighbours each of them passes it on to")
    activation_decay: float = advanced(0.5, "share that is passed on over a connection")


@dataclass(frozen=True, slots=True)
class RerankerConfig:
    """A cross-encoder that looks a second time at the best hits; off without its weights."""

    folder: str = setting("", "folder with model.onnx and tokenizer.json of a cross-encoder")
    model: str = advanced(
        "Xenova/ms-marco-MiniLM-L-6-v2", "its name; also looked for under models/ in the home"
    )
    deadline_ms: int = advanced(150, "how long a second look may take")
    blend: float = advanced(0.6, "share of the cross-encoder in the score")
    candidates: int = advanced(20, "best hits that it looks at")
