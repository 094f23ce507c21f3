"""The sleep cycle: every job by its name, in the documented order; and the four tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from madeleine.sleep.jobs.auto_cluster import make_auto_cluster
from madeleine.sleep.jobs.auto_linker import make_auto_linker
from madeleine.sleep.jobs.conflict_detector import make_conflict_detector
from madeleine.sleep.jobs.consolidator import make_consolidator
from madeleine.sleep.jobs.decay_manager import make_decay_manager
from madeleine.sleep.jobs.duplicate_merger import make_duplicate_merger
from madeleine.sleep.jobs.importance_scorer import make_importance_scorer
from madeleine.sleep.jobs.index_updater import make_index_updater
from madeleine.sleep.jobs.update_spotter import make_update_spotter
from madeleine.sleep.tasks.cluster import make_cluster_task
from madeleine.sleep.tasks.creative import make_creative_task
from madeleine.sleep.tasks.decay import make_decay_task
from madeleine.sleep.tasks.forget import make_forget_task
from madeleine.sleep.values import Job

# What is known about importance and files comes first, since the others go by it; what is twice
# there is merged before it is compared and linked; only then are memories put away.
JOBS: Mapping[str, Callable[[], Job]] = {
    "importance_scorer": make_importance_scorer,
    "index_updater": make_index_updater,
    "duplicate_merger": make_duplicate_merger,
    "conflict_detector": make_conflict_detector,
    "auto_linker": make_auto_linker,
    "auto_cluster": make_auto_cluster,
    "consolidator": make_consolidator,
    "decay_manager": make_decay_manager,
}

TASKS: Mapping[str, Callable[[], Job]] = {
    "decay": make_decay_task,
    "creative": make_creative_task,
    "cluster": make_cluster_task,
    "forget": make_forget_task,
}
"""The consolidation engine: what is relevant still is known before it is put together, and both
before anything is forgotten."""

BY_DAY: Mapping[str, Callable[[], Job]] = {"update_spotter": make_update_spotter}
"""What runs between the nights."""
