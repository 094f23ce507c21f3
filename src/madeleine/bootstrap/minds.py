"""The models that the settings ask for: embedder, cross-encoder, judge and extractor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.errors import MindDown
from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.local import LocalEmbedder, load_built_in, why_not_built_in
from madeleine.minds.port import Embedder, Extractor, Judge, Minds, Reranker
from madeleine.minds.remote import RemoteEmbedder
from madeleine.minds.reranker import LocalReranker
from madeleine.settings import Settings

if TYPE_CHECKING:
    from madeleine.minds.judges.language_model import RunBudget


def make_minds(
    home: Path, settings: Settings, environment: Mapping[str, str]
) -> tuple[Minds, list[str]]:
    """Return the models that the settings ask for; none still works, and says so."""
    reranker, why_no_reranker = _make_reranker(home, settings)
    without = Minds(reranker=reranker, why_no_reranker=why_no_reranker)
    try:
        embedder, why_not = _make_embedder(settings, environment)
        if embedder is None:
            return replace(without, why_not=why_not), [f"text search only: {why_not}"]
        kept, healed = _add_cache(embedder, home / "embeddings.db")
    except MindDown as down:
        return replace(without, why_not=down.message), [f"text search only: {down.message}"]
    return replace(without, embedder=kept), healed


def _add_cache(embedder: Embedder, path: Path) -> tuple[CachedEmbedder, list[str]]:
    """Return a model with its cache, and what healed itself."""
    cache = EmbeddingCache.open(path)
    kept = CachedEmbedder(embedder, cache)
    try:
        _ = kept.dimension, kept.token_dimension  # a model never reached may not know them yet
    except MindDown:
        kept.close()
        raise
    aside = cache.set_aside
    return kept, [f"{path.name} was damaged; begun anew ({aside.name} is the old)"] if aside else []


def _make_reranker(home: Path, settings: Settings) -> tuple[Reranker | None, str]:
    """Return the cross-encoder, or why there is none: recall works without."""
    wanted = settings.reranker
    folder = Path(wanted.folder).expanduser() if wanted.folder else home / "models" / wanted.model
    if not wanted.folder and not folder.is_dir():
        return None, f"no cross-encoder: reranker.folder is not set, and there is no {folder}"
    try:
        return LocalReranker.from_folder(folder, wanted.model), ""
    except MindDown as down:
        return None, f"no cross-encoder: {down.message}"


def _make_embedder(
    settings: Settings, environment: Mapping[str, str]
) -> tuple[Embedder | None, str]:
    wanted = settings.embedder
    match wanted.kind:
        case "none":
            return None, "embedder.kind is none"
        case "fake":
            return FakeEmbedder(), ""
        case "openai":
            key = environment.get(wanted.key_env, "")
            return RemoteEmbedder(wanted.url, wanted.model, key, wanted.timeout_seconds), ""
        case _ if wanted.folder:
            folder = Path(wanted.folder).expanduser()
            return LocalEmbedder.from_folder(folder, wanted.threads), ""
        case _:
            return load_built_in(wanted.threads), why_not_built_in()


def make_judge(settings: Settings, environment: Mapping[str, str]) -> Judge:
    """Return the judge that the settings ask for. What it needs takes a while to load, and most
    commands need no judge."""
    wanted = settings.judge
    if wanted.kind == "agent":
        from madeleine.sleep.agent_answers import AgentJudge

        return AgentJudge()
    if wanted.kind == "llm":
        from madeleine.minds.judges.remote import RemoteJudge

        return RemoteJudge(
            wanted.url,
            wanted.model,
            environment.get(wanted.key_env, ""),
            provider=wanted.provider,
            timeout_seconds=wanted.timeout_seconds,
            bounds=_make_run_budget(settings),
        )
    from madeleine.minds.judges.local import LocalJudge
    from madeleine.minds.judges.weights import load_weights

    return LocalJudge(load_weights(wanted.weights))


def make_extractor(settings: Settings, environment: Mapping[str, str]) -> Extractor:
    """Return the language model of `[judge]` as one that finds memories."""
    from madeleine.minds.extractor import RemoteExtractor
    from madeleine.minds.judges.language_model import ModelAddress

    wanted = settings.judge
    key = environment.get(wanted.key_env, "")
    address = ModelAddress(wanted.url, wanted.model, key, wanted.provider)
    return RemoteExtractor(address, wanted.timeout_seconds, _make_run_budget(settings))


def _make_run_budget(settings: Settings) -> RunBudget:
    """Return what one run of a language model may use."""
    from madeleine.minds.judges.language_model import RunBudget

    wanted = settings.judge
    return RunBudget(wanted.tokens_per_run, wanted.cost_per_run, wanted.price_in, wanted.price_out)
