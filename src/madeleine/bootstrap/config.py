"""The settings of a home, and the values that other rooms go by, made from them."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

from madeleine.errors import MadeleineError
from madeleine.recall.weights import load_weights
from madeleine.settings import Settings, describe_unknown_variables, read_settings
from madeleine.settings.config_file import config_path, read_config_table
from madeleine.sleep.config import ConsolidationConfig, SleepConfig
from madeleine.sleep.intervals import JobIntervals
from madeleine.whisper.capacity import AT_ONCE_ON_A_NETWORK, WhisperCapacity
from madeleine.write.stores import VerbConfig


def load_settings(home: Path) -> Settings:
    """Return the settings of a home, with the environment's on top."""
    return read_settings(read_config_table(config_path(home)), os.environ)


def describe_unknown_home_variables(home: Path) -> list[str]:
    """Return a sentence about each variable of the environment that looks like a setting of ours
    and means nothing. Those that the settings of this home name, because they hold a key, do."""
    try:
        settings = load_settings(home)
    except MadeleineError:
        return describe_unknown_variables(
            os.environ
        )  # whoever opens the home is told what is wrong there
    keys = (settings.embedder.key_env, settings.judge.key_env)
    return describe_unknown_variables(os.environ, keys)


def make_verb_config(settings: Settings) -> VerbConfig:
    """Return the settings that verbs and recall go by, with the weights that they name."""
    return VerbConfig(
        limits=settings.limits,
        write=settings.write,
        exclude=settings.exclude,
        space=settings.space,
        recall=settings.recall,
        reranker=settings.reranker,
        heads=load_weights(settings.recall.weights),
    )


def make_whisper_capacity(settings: Settings) -> WhisperCapacity:
    """Return how many prompts are looked up at once: where look-ups wait for other machines most
    of the time, more than the cores of this one."""
    store = settings.store
    waits = settings.embedder.kind == "openai" or bool(store.url or store.graph)
    return WhisperCapacity(AT_ONCE_ON_A_NETWORK if waits else 0)


def make_intervals(sleep: SleepConfig, consolidation: ConsolidationConfig) -> JobIntervals:
    """Return the timetable that the settings ask for. The jobs of the night and the tasks of
    consolidation are turned off each by a setting of their own."""
    return JobIntervals(
        every=sleep.job_intervals() if sleep.enabled else {},
        first=timedelta(seconds=sleep.first_seconds),
        retry=timedelta(minutes=sleep.retry_minutes),
        tasks=consolidation.task_intervals() if consolidation.enabled else {},
        tick=timedelta(seconds=consolidation.tick_seconds),
    )
