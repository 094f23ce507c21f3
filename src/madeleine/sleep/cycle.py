"""The sleep cycle: every job by its name, in the documented order; and the four tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from madeleine.sleep.jobs.auto_cluster import auto_cluster
from madeleine.sleep.jobs.auto_linker import auto_linker
from madeleine.sleep.jobs.conflict_detector import conflict_detector
from madeleine.sleep.jobs.consolidator import consolidator
from madeleine.sleep.jobs.decay_manager import decay_manager
from madeleine.sleep.jobs.duplicate_merger import duplicate_merger
from madeleine.sleep.jobs.importance_scorer import importance_scorer
from madeleine.sleep.jobs.index_updater import index_updater
from madeleine.sleep.tasks.cluster import cluster
from madeleine.sleep.tasks.creative import creative
from madeleine.sleep.tasks.decay import decay
from madeleine.sleep.tasks.forget import forget
from madeleine.sleep.values import Job

# What is known about importance and files comes first, since the others go by it; what is twice
# there is merged before it is compared and linked; only then are memories put away.
JOBS: Mapping[str, Callable[[], Job]] = {
    "importance_scorer": importance_scorer,
    "index_updater": index_updater,
    "duplicate_merger": duplicate_merger,
    "conflict_detector": conflict_detector,
    "auto_linker": auto_linker,
    "auto_cluster": auto_cluster,
    "consolidator": consolidator,
    "decay_manager": decay_manager,
}

TASKS: Mapping[str, Callable[[], Job]] = {
    "decay": decay,
    "creative": creative,
    "cluster": cluster,
    "forget": forget,
}
"""The consolidation engine: what is relevant still is known before it is put together, and both
before anything is forgotten."""
