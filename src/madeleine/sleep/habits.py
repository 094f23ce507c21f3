"""The numbers that jobs and tasks go by; set in config.toml under [sleep], [consolidation]."""

from __future__ import annotations

from dataclasses import dataclass, field

from madeleine.errors import BadSetting
from madeleine.model.words import TYPES_ELSEWHERE, MemoryType


@dataclass(frozen=True, slots=True)
class ConsolidationHabits:
    """The documented defaults of the four tasks; set in config.toml under [consolidation]."""

    formula: str = "document"
    base_decay_rate: float = 0.01
    access_decay_rate: float = 0.05
    relationship_preservation: float = 0.3
    decay_importance_threshold: float = 0.3
    relevance_step: float = 0.05
    sample_size: int = 20
    sample_relevance: float = 0.3
    contrast_rule: bool = True
    parallel_context: bool = False
    associations_each: int = 3
    association_days: float = 90.0
    similarity_threshold: float = 0.75
    min_cluster_size: int = 5
    archive_threshold: float = 0.0
    delete_threshold: float = 0.0
    grace_period_days: float = 90.0
    protected_importance: float = 0.7
    protected_types: str = "Decision,Insight"


@dataclass(frozen=True, slots=True)
class SleepHabits:
    """The documented defaults."""

    link_threshold: float = 0.65
    cross_space_penalty: float = 0.1
    link_neighbours: int = 6
    link_edges: int = 500
    link_edges_each: int = 6
    """New connections that one memory gets in a run, however many would fit."""
    conflict_similarity: float = 0.40
    conflict_neighbours: int = 15
    conflict_weight: float = 0.9
    conflict_all_spaces: bool = True
    duplicate_similarity: float = 0.25
    duplicate_neighbours: int = 6
    duplicate_score: float = 0.60
    merge_at: float = 0.97
    """Sureness from which a judge's verdict is carried out without asking."""
    conflict_at: float = 0.85
    unasked: str = "told"
    """What may be retired unasked (`judge.unasked`): never, told or sure."""
    link_at: float = 0.80
    propose_at: float = 0.60
    """Sureness from which a verdict that is not carried out becomes a proposal."""
    consolidate_similarity: float = 0.60
    consolidate_least: int = 2
    consolidate_most: int = 5
    consolidate_clusters: int = 10
    consolidate_near: float = 0.75
    """Likeness from which texts are joined without a language model: they say nearly the same."""
    pairs_per_run: int = 200_000
    """Pairs that a cheap judge is asked about in one run of a job; the rest waits."""
    costly_pairs_per_run: int = 500
    maintenance_pairs: int = 25
    """Pairs of each kind that an agent is given at a time."""
    maintenance_clusters: int = 4
    maintenance_chars: int = 45_000
    maintenance_minutes: int = 30
    importance_step: float = 0.01
    decay_retrievability: float = 0.3
    decay_retrievability_fsrs: float = 0.6
    decay_importance: float = 0.5
    decay_least_days: float = 7.0
    decay_grace_days: float = 30.0
    protected_types: str = "decision, preference, procedure, goal, person, project"
    """Types that never fade."""
    lifecycle: str = "exponential"
    """How retrievability is reckoned: exponential, as documented, or fsrs."""
    breaker_share: float = 0.25
    breaker_least: int = 20
    """The breaker never trips below so many patches: in a small store each is a large share."""
    proposals_per_run: int = 100
    proposal_days: int = 30
    patches_shown: int = 20
    consolidation: ConsolidationHabits = field(default_factory=ConsolidationHabits)


def protected_types(
    names: str, setting: str = "consolidation.protected_types"
) -> frozenset[MemoryType]:
    """Return the types that a setting protects, named in our words or in those of others."""
    known = {**{each.value: each for each in MemoryType}, **TYPES_ELSEWHERE}
    given = [each.strip() for each in names.split(",") if each.strip()]
    for name in given:
        if name.lower() not in known:
            problem = f"names {name!r}; it takes {', '.join(known)}"
            raise BadSetting(setting, problem)
    return frozenset(known[name.lower()] for name in given)
