"""The models that the settings ask for: embedder, cross-encoder, reader of relations, judge and
extractor."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.bootstrap.clock import SystemClock
from madeleine.bootstrap.home import device_name
from madeleine.errors import MindDown
from madeleine.minds.breaker import GuardedEmbedder
from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.local import LocalEmbedder, load_built_in, why_not_built_in
from madeleine.minds.multilingual import (
    MultilingualEmbedder,
    load_multilingual,
    why_not_multilingual,
)
from madeleine.minds.port import (
    CachingEmbedder,
    Embedder,
    Extractor,
    Judge,
    Minds,
    RelationReader,
    Reranker,
)
from madeleine.minds.relation_reader import (
    LocalRelationReader,
    load_relation_network,
    why_no_relation_reader,
)
from madeleine.minds.remote import RemoteEmbedder
from madeleine.minds.reranker import LocalReranker
from madeleine.minds.spending import DailyCap, SpendingLedger
from madeleine.settings import Settings

if TYPE_CHECKING:
    from madeleine.minds.judges.language_model import RunBudget

COSTS_FOLDER = "costs"  # of a home: what remote models were asked


def make_minds(
    home: Path,
    settings: Settings,
    environment: Mapping[str, str],
    ending: threading.Event | None = None,
) -> tuple[Minds, list[str]]:
    """Return the models that the settings ask for; none still works, and says so. Nobody waits for
    a remote one once `ending` is set."""
    reranker, why_no_reranker = _make_reranker(home, settings)
    spending = make_ledger(home, settings)
    without = Minds(reranker=reranker, why_no_reranker=why_no_reranker, spending=spending)
    try:
        embedder, why_not = _make_embedder(settings, environment, ending, spending)
        if embedder is None:
            return replace(without, why_not=why_not), [f"text search only: {why_not}"]
        cache = EmbeddingCache.open(home / "embeddings.db")
        kept, healed = _add_cache(embedder, cache)
    except MindDown as down:
        return replace(without, why_not=down.message), [f"text search only: {down.message}"]
    relations, why_no_relations = _make_relation_reader(settings, cache)
    made = replace(without, embedder=kept, relations=relations, why_no_relations=why_no_relations)
    return _add_other_languages(made, embedder, kept, settings), healed


def _add_other_languages(
    minds: Minds, embedder: Embedder, kept: CachedEmbedder, settings: Settings
) -> Minds:
    """Have a second model read what is not English, if the first is ours and the second is there.
    Any other model is asked for by name and reads everything."""
    wanted = settings.embedder
    if not isinstance(embedder, LocalEmbedder) or wanted.folder or wanted.kind != "local":
        return minds
    others = load_multilingual(embedder, wanted.threads)
    if others is None:
        return replace(minds, why_only_english=why_not_multilingual(embedder.name))
    both: CachingEmbedder = MultilingualEmbedder(kept, kept.beside(others))
    return replace(minds, embedder=both, reads_other_languages=True)


def _make_relation_reader(
    settings: Settings, cache: EmbeddingCache
) -> tuple[RelationReader | None, str]:
    """Return what reads two memories together, or why nothing does though it is wanted. What it
    read is kept beside the vectors; without an embedder there are no pairs to read."""
    judge = settings.judge
    if judge.kind != "local" or judge.relations == "none" or settings.embedder.kind == "fake":
        return None, ""
    network = load_relation_network()
    if network is None:
        return None, why_no_relation_reader()
    return LocalRelationReader(network, cache, judge.reads_per_run), ""


def _add_cache(embedder: Embedder, cache: EmbeddingCache) -> tuple[CachedEmbedder, list[str]]:
    """Return a model with its cache, and what healed itself."""
    kept = CachedEmbedder(embedder, cache)
    try:
        _ = kept.dimension, kept.token_dimension  # a model never reached may not know them yet
    except MindDown:
        kept.close()
        raise
    path, aside = cache.path, cache.set_aside
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


def make_ledger(home: Path, settings: Settings) -> SpendingLedger:
    """Return what keeps the receipts of remote models."""
    cap = DailyCap(settings.cost.daily_cap, settings.cost.daily_tokens)
    return SpendingLedger(home / COSTS_FOLDER, device_name(), SystemClock().now, cap)


def _make_embedder(
    settings: Settings,
    environment: Mapping[str, str],
    ending: threading.Event | None,
    spending: SpendingLedger,
) -> tuple[Embedder | None, str]:
    wanted = settings.embedder
    match wanted.kind:
        case "none":
            return None, "embedder.kind is none"
        case "fake":
            return FakeEmbedder(), ""
        case "openai":
            key = environment.get(wanted.key_env, "")
            seconds, price = wanted.timeout_seconds, wanted.price
            remote = RemoteEmbedder(wanted.url, wanted.model, key, seconds, spending, price)
            return GuardedEmbedder(remote, wanted.timeout_seconds, ending or threading.Event()), ""
        case _ if wanted.folder:
            folder = Path(wanted.folder).expanduser()
            return LocalEmbedder.from_folder(folder, wanted.threads), ""
        case _:
            return load_built_in(wanted.threads), why_not_built_in()


def make_judge(
    settings: Settings,
    environment: Mapping[str, str],
    relations: RelationReader | None = None,
    spending: SpendingLedger | None = None,
) -> Judge:
    """Return the judge that the settings ask for; the local one goes by what `relations` reads, and
    stands in for a language model that the day's cap, which `spending` knows, has no room for.
    What it needs takes a while to load, and most commands need no judge."""
    wanted = settings.judge
    if wanted.kind == "agent":
        from madeleine.sleep.agent_answers import AgentJudge

        return AgentJudge()
    if wanted.kind == "llm":
        from madeleine.minds.judges.capped import CappedJudge
        from madeleine.minds.judges.remote import RemoteJudge

        remote = RemoteJudge(
            wanted.url,
            wanted.model,
            environment.get(wanted.key_env, ""),
            provider=wanted.provider,
            timeout_seconds=wanted.timeout_seconds,
            bounds=_make_run_budget(settings),
            spending=spending,
        )
        if spending is None:
            return remote
        return CappedJudge(remote, lambda: _make_local_judge(settings, relations), spending)
    return _make_local_judge(settings, relations)


def _make_local_judge(settings: Settings, relations: RelationReader | None) -> Judge:
    from madeleine.minds.judges.local import LocalJudge
    from madeleine.minds.judges.weights import load_weights

    return LocalJudge(load_weights(settings.judge.weights), relations)


def make_extractor(
    settings: Settings, environment: Mapping[str, str], spending: SpendingLedger | None = None
) -> Extractor:
    """Return the language model of `[judge]` as one that finds memories."""
    from madeleine.minds.extractor import RemoteExtractor
    from madeleine.minds.judges.language_model import ModelAddress

    wanted = settings.judge
    key = environment.get(wanted.key_env, "")
    address = ModelAddress(wanted.url, wanted.model, key, wanted.provider)
    return RemoteExtractor(address, wanted.timeout_seconds, _make_run_budget(settings), spending)


def _make_run_budget(settings: Settings) -> RunBudget:
    """Return what one run of a language model may use."""
    from madeleine.minds.judges.language_model import RunBudget

    wanted = settings.judge
    return RunBudget(wanted.tokens_per_run, wanted.cost_per_run, wanted.price_in, wanted.price_out)
