"""Judges, made when one is asked for. The rules and the wire behind them take a while to load, so
bootstrap gets this module by its name when it is needed first."""

from __future__ import annotations

from madeleine.minds.judges.language import Bounds
from madeleine.minds.judges.local import LocalJudge
from madeleine.minds.judges.remote import RemoteJudge
from madeleine.minds.judges.weights import weights_at
from madeleine.minds.port import Judge


def local_judge(weights: str) -> Judge:
    """Return the judge that needs no model, with the weights in a file, or the shipped ones."""
    return LocalJudge(weights_at(weights))


def remote_judge(
    url: str,
    model: str,
    key: str,
    *,
    provider: str,
    timeout_seconds: float,
    tokens: int,
    cost: float,
    prices: tuple[float, float],
) -> Judge:
    """Return a language model as judge; `tokens` and `cost` bound what one run may use."""
    bounds = Bounds(tokens, cost, *prices)
    return RemoteJudge(
        url, model, key, provider=provider, timeout_seconds=timeout_seconds, bounds=bounds
    )
