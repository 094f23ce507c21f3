"""The settings of jobs and tasks, and of their timetables: `[sleep]` and `[consolidation]`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from madeleine.errors import BadSetting
from madeleine.minds.config import JudgeConfig
from madeleine.model.setting import advanced, setting
from madeleine.model.words import FOREIGN_TYPES, MemoryType

CENTURY = 3_155_760_000  # seconds: as good as never, and a date can still hold it


def protected_types(
    names: str, name: str = "consolidation.protected_types"
) -> frozenset[MemoryType]:
    """Return the types that a setting protects, named in our words or in those of others."""
    known = {**{each.value: each for each in MemoryType}, **FOREIGN_TYPES}
    given = [each.strip() for each in names.split(",") if each.strip()]
    for each in given:
        if each.lower() not in known:
            problem = f"names {each!r}; it takes {', '.join(known)}"
            raise BadSetting(name, problem)
    return frozenset(known[each.lower()] for each in given)


@dataclass(frozen=True, slots=True)
class ConsolidationConfig:
    """The consolidation engine: decay, creative, cluster and forget. Its settings are also read
    from the environment as `CONSOLIDATION_<NAME>`, without our prefix."""

    enabled: bool = setting(True, "run the tasks by the timetable; by hand they run always")
    tick_seconds: float = advanced(60.0, "between two looks whether a task is due", 0.01, 86_400)
    decay_interval_seconds: float = setting(
        86_400.0, "between two runs of decay; 0 for never", 0, CENTURY
    )
    creative_interval_seconds: float = setting(
        604_800.0, "between two runs of creative; 0 for never", 0, CENTURY
    )
    cluster_interval_seconds: float = setting(
        2_592_000.0, "between two runs of cluster; 0 for never", 0, CENTURY
    )
    forget_interval_seconds: float = setting(
        0.0, "between two runs of forget; 0 for never", 0, CENTURY
    )
    history_limit: int = advanced(20, "runs that /consolidate/status tells of", 0, 1_000)
    formula: str = advanced(
        "document",
        "how relevance is reckoned: document or floored",
        among=("document", "floored"),
    )
    base_decay_rate: float = advanced(0.01, "share by which relevance fades in a day of age", 0, 10)
    access_decay_rate: float = advanced(0.05, "the same, for a day without use", 0, 10)
    relationship_preservation: float = advanced(0.3, "what connections add to relevance", 0, 10)
    decay_importance_threshold: float = advanced(
        0.3, "what is less important is scored once a week only; a run asked for scores all", 0, 1
    )
    relevance_step: float = advanced(0.05, "a score that moves less is not written", 0, 1)
    sample_size: int = advanced(20, "memories that creative compares with each other", 0, 1_000)
    sample_relevance: float = advanced(
        0.3, "relevance above which a memory takes part in creative and cluster", 0, 1
    )
    contrast_rule: bool = advanced(
        True, "draw unlike decisions as contrasts in runs that somebody asked for"
    )
    parallel_context: bool = advanced(
        False, "draw `parallel_context` in runs that nobody asked for too"
    )
    associations_each: int = advanced(3, "most associations of one memory", 0, 100)
    association_days: float = advanced(
        90.0, "after which an association whose ends were not used together is taken away", 0
    )
    similarity_threshold: float = advanced(0.75, "similarity within a cluster", 0, 1)
    min_cluster_size: int = advanced(5, "least memories in a cluster", 2, 1_000)
    archive_threshold: float = setting(
        0.0, "forget archives what is less relevant than this; 0 for nothing", 0, 1
    )
    delete_threshold: float = setting(
        0.0, "forget moves what is less relevant than this to the trash; 0 for nothing", 0, 1
    )
    grace_period_days: float = setting(90.0, "age below which nothing is forgotten", 0)
    protected_importance: float = advanced(0.7, "importance from which nothing is forgotten", 0, 1)
    protected_types: str = setting(
        "Decision,Insight", "types that are never forgotten", check=protected_types
    )

    def task_intervals(self) -> dict[str, timedelta]:
        """Return how often each task runs; no time at all for never."""
        return {
            "decay": timedelta(seconds=self.decay_interval_seconds),
            "creative": timedelta(seconds=self.creative_interval_seconds),
            "cluster": timedelta(seconds=self.cluster_interval_seconds),
            "forget": timedelta(seconds=self.forget_interval_seconds),
        }


@dataclass(frozen=True, slots=True)
class SleepConfig:
    """The jobs that tend the memory while nobody looks, and how often the daemon runs them."""

    enabled: bool = setting(True, "run the jobs by the timetable; by hand they run always")
    auto_linker_hours: float = advanced(24.0, "between two runs of auto_linker", 0.01, 8_760)
    decay_manager_hours: float = advanced(24.0, "between two runs of decay_manager", 0.01, 8_760)
    conflict_detector_hours: float = advanced(
        24.0, "between two runs of conflict_detector", 0.01, 8_760
    )
    duplicate_merger_hours: float = advanced(
        24.0, "between two runs of duplicate_merger", 0.01, 8_760
    )
    consolidator_hours: float = advanced(24.0, "between two runs of consolidator", 0.01, 8_760)
    auto_cluster_minutes: float = advanced(60.0, "between two runs of auto_cluster", 0.01, 525_600)
    importance_scorer_minutes: float = advanced(
        120.0, "between two runs of importance_scorer", 0.01, 525_600
    )
    index_updater_minutes: float = advanced(1.0, "between two runs of index_updater", 0.01, 525_600)
    update_spotter_minutes: float = advanced(
        5.0, "between two looks at what was written since, for what it may replace", 0.01, 525_600
    )
    exchange_days: float = advanced(
        90.0, "after which what was said in a session, kept word for word, goes to the trash", 0
    )
    first_seconds: float = advanced(
        60.0, "how long after its start the daemon leaves jobs alone that are due", 0, 86_400
    )
    retry_minutes: float = advanced(
        15.0, "after a run that failed it is tried again; twice as late each time", 0.01, 10_080
    )
    link_threshold: float = advanced(0.65, "similarity from which two memories may be linked", 0, 1)
    cross_space_penalty: float = advanced(0.1, "taken off the similarity when spaces differ", 0, 1)
    link_neighbours: int = advanced(6, "neighbours that auto_linker looks at", 1, 100)
    link_edges: int = advanced(
        500, "most connections that one run of auto_linker draws", 0, 100_000
    )
    link_edges_each: int = advanced(6, "most of them that start at one memory", 1, 1_000)
    conflict_similarity: float = advanced(0.40, "similarity from which two may conflict", 0, 1)
    conflict_neighbours: int = advanced(15, "neighbours that conflict_detector looks at", 1, 100)
    conflict_weight: float = advanced(0.9, "weight of evolved_from and contradicts", 0.01, 1)
    conflict_all_spaces: bool = advanced(True, "look for conflicts between spaces too")
    duplicate_similarity: float = advanced(
        0.25, "similarity from which two may be duplicates", 0, 1
    )
    duplicate_neighbours: int = advanced(6, "neighbours that duplicate_merger looks at", 1, 100)
    duplicate_score: float = advanced(0.60, "composite score from which the judge is asked", 0, 1)
    reworded_similarity: float = advanced(
        0.55, "similarity from which the judge is asked whatever the composite score says", 0, 1
    )
    merge_at: float = setting(0.97, "sureness from which duplicates are merged unasked", 0, 1)
    conflict_at: float = setting(0.85, "sureness from which a conflict is settled unasked", 0, 1)
    link_at: float = setting(0.80, "sureness from which a connection is drawn unasked", 0, 1)
    propose_at: float = setting(0.60, "sureness from which the rest is proposed", 0, 1)
    consolidate_similarity: float = advanced(0.60, "similarity within a cluster", 0, 1)
    consolidate_least: int = advanced(2, "least memories in a cluster", 2, 100)
    consolidate_most: int = advanced(5, "most memories in a cluster", 2, 100)
    consolidate_clusters: int = advanced(10, "most clusters that one run consolidates", 0, 1_000)
    consolidate_near: float = advanced(
        0.60, "similarity from which texts are joined without a language model", 0, 1
    )
    pairs_per_run: int = advanced(200_000, "most pairs a cheap judge is asked about in a run", 0)
    costly_pairs_per_run: int = advanced(500, "the same, for a judge that costs", 0)
    maintenance_pairs: int = advanced(25, "pairs of each kind that an agent is given", 0, 1_000)
    maintenance_clusters: int = advanced(4, "clusters that it is given", 0, 100)
    maintenance_chars: int = advanced(45_000, "most characters of what it is given", 1_000)
    maintenance_minutes: int = advanced(30, "how long what it was given is kept for it", 1, 10_080)
    importance_recency_half_life_days: float = advanced(
        0.0, "after which freshness counts half in importance; 0 goes by each memory's stability", 0
    )
    importance_step: float = advanced(0.01, "a score that moves less is not written", 0, 1)
    decay_retrievability: float = advanced(0.3, "below this a memory may go to the archive", 0, 1)
    decay_retrievability_fsrs: float = advanced(
        0.6, "the same for lifecycle = fsrs, whose curve falls more slowly", 0, 1
    )
    decay_importance: float = advanced(0.5, "importance from which it stays all the same", 0, 1)
    decay_least_days: float = advanced(7.0, "days without use before anything moves there", 0)
    decay_grace_days: float = setting(
        30.0, "days after it was written, or came into this home, in which nothing fades", 0
    )
    protected_types: str = setting(
        "decision, preference, procedure, goal, person, project",
        "types that never fade",
        check=protected_types,
    )
    lifecycle: str = setting(
        "exponential",
        "how retrievability is reckoned: exponential, or fsrs (an extra)",
        among=("exponential", "fsrs"),
    )
    breaker_share: float = advanced(
        0.25, "a run that would change more of the store than this asks instead", 0, 1
    )
    breaker_least: int = advanced(
        20, "but not one of fewer patches, unless over half would go to the trash", 1, 1_000_000
    )
    proposals_per_run: int = advanced(
        100, "most proposals of one job that wait at a time", 0, 10_000
    )
    questions_most: int = setting(
        5, "most new questions in a night, of all jobs together; the rest may come later", 0, 10_000
    )
    proposal_days: int = setting(
        30, "after which a question that nobody answered is withdrawn", 1, 36_500
    )
    patches_shown: int = advanced(20, "patches that the report of a run names", 0, 40)
    unasked: str = field(default_factory=lambda: JudgeConfig().unasked)
    """What may be retired unasked: the setting `judge.unasked`."""
    consolidation: ConsolidationConfig = field(default_factory=ConsolidationConfig)
    """The section `[consolidation]`."""

    def job_intervals(self) -> dict[str, timedelta]:
        """Return how often each job runs."""
        return {
            "importance_scorer": timedelta(minutes=self.importance_scorer_minutes),
            "index_updater": timedelta(minutes=self.index_updater_minutes),
            "update_spotter": timedelta(minutes=self.update_spotter_minutes),
            "duplicate_merger": timedelta(hours=self.duplicate_merger_hours),
            "conflict_detector": timedelta(hours=self.conflict_detector_hours),
            "auto_linker": timedelta(hours=self.auto_linker_hours),
            "auto_cluster": timedelta(minutes=self.auto_cluster_minutes),
            "consolidator": timedelta(hours=self.consolidator_hours),
            "decay_manager": timedelta(hours=self.decay_manager_hours),
        }
