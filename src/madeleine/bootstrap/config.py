"""The settings of a home, and the values that other rooms go by, made from them."""

from __future__ import annotations

import os
import tomllib
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

from madeleine.errors import BadSetting, MadeleineError
from madeleine.model.draft import Limits
from madeleine.model.toml_bounds import find_long_key
from madeleine.recall.weights import weights_at
from madeleine.settings import (
    Consolidation,
    Settings,
    Sleep,
    read_settings,
    unknown_variables,
)
from madeleine.sleep.habits import ConsolidationHabits, SleepHabits, protected_types
from madeleine.sleep.intervals import Intervals
from madeleine.write.stores import Habits


def load_settings(home: Path) -> Settings:
    """Return the settings of a home, with the environment's on top."""
    path = home / "config.toml"
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if (line := find_long_key(text)) is not None:
            raise BadSetting(f"{path}:{line}", "does not parse: a key has too many parts")
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(str(path), f"does not parse: {error}") from error
    except RecursionError as error:
        raise BadSetting(str(path), "does not parse: it is nested too deeply") from error
    settings = read_settings(table, os.environ)
    # Types that nobody knows are refused now, and not at night.
    protected_types(settings.consolidation.protected_types)
    protected_types(settings.sleep.protected_types, "sleep.protected_types")
    return settings


def unknown_variables_of(home: Path) -> list[str]:
    """Return a sentence about each variable of the environment that looks like a setting of ours
    and means nothing. Those that the settings of this home name, because they hold a key, do."""
    try:
        settings = load_settings(home)
    except MadeleineError:
        return unknown_variables(os.environ)  # whoever opens the home is told what is wrong there
    keys = (settings.embedder.key_env, settings.judge.key_env)
    return unknown_variables(os.environ, keys)


def make_habits(settings: Settings) -> Habits:
    """Return the numbers that verbs go by."""
    limits, write, recall = settings.limits, settings.write, settings.recall
    return Habits(
        limits=Limits(
            content_bytes=limits.content_bytes,
            title_chars=limits.title_chars,
            tags=limits.tags,
            tag_chars=limits.tag_chars,
            connections=limits.connections,
        ),
        link_threshold=write.link_threshold,
        cross_space_penalty=write.cross_space_penalty,
        link_neighbours=write.link_neighbours,
        core_cap=write.core_cap,
        recall_pool=recall.pool,
        recall_compared=recall.compared,
        recall_least_score=recall.least_score,
        recall_least_best=recall.least_best,
        recall_relevance_weight=recall.relevance_weight,
        heads=weights_at(recall.weights),
        activation_seeds=recall.activation_seeds,
        activation_per_seed=recall.activation_per_seed,
        activation_decay=recall.activation_decay,
        rerank_candidates=settings.reranker.candidates,
        rerank_deadline_ms=settings.reranker.deadline_ms,
        rerank_blend=settings.reranker.blend,
    )


def make_intervals(sleep: Sleep, consolidation: Consolidation) -> Intervals:
    """Return the timetable that the settings ask for. The jobs of the night and the tasks of
    consolidation are turned off each by a setting of their own."""
    return Intervals(
        every=_job_intervals(sleep) if sleep.enabled else {},
        first=timedelta(seconds=sleep.first_seconds),
        retry=timedelta(minutes=sleep.retry_minutes),
        tasks=_task_intervals(consolidation) if consolidation.enabled else {},
        tick=timedelta(seconds=consolidation.tick_seconds),
    )


def _job_intervals(sleep: Sleep) -> dict[str, timedelta]:
    return {
        "importance_scorer": timedelta(minutes=sleep.importance_scorer_minutes),
        "index_updater": timedelta(minutes=sleep.index_updater_minutes),
        "duplicate_merger": timedelta(hours=sleep.duplicate_merger_hours),
        "conflict_detector": timedelta(hours=sleep.conflict_detector_hours),
        "auto_linker": timedelta(hours=sleep.auto_linker_hours),
        "auto_cluster": timedelta(minutes=sleep.auto_cluster_minutes),
        "consolidator": timedelta(hours=sleep.consolidator_hours),
        "decay_manager": timedelta(hours=sleep.decay_manager_hours),
    }


def _task_intervals(consolidation: Consolidation) -> dict[str, timedelta]:
    return {
        "decay": timedelta(seconds=consolidation.decay_interval_seconds),
        "creative": timedelta(seconds=consolidation.creative_interval_seconds),
        "cluster": timedelta(seconds=consolidation.cluster_interval_seconds),
        "forget": timedelta(seconds=consolidation.forget_interval_seconds),
    }


def make_sleep_habits(settings: Settings) -> SleepHabits:
    """Return the numbers that jobs and tasks go by."""
    known = {each.name for each in fields(settings.sleep)}
    names = [each.name for each in fields(SleepHabits) if each.name in known]
    given = {name: getattr(settings.sleep, name) for name in names}
    wanted = settings.consolidation
    tasks = {each.name: getattr(wanted, each.name) for each in fields(ConsolidationHabits)}
    return SleepHabits(
        **given, unasked=settings.judge.unasked, consolidation=ConsolidationHabits(**tasks)
    )
