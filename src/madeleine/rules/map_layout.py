"""Where memories lie on a map by meaning: vectors in, places on a plane out.

Memories that are near in meaning lie near each other, as UMAP does it: each is pulled to its
nearest neighbours and pushed away from some that are drawn at random. It begins where the two
main directions of all vectors put it, or where it lay before, and everything that is random comes
from one seed: the same vectors give the same map.

The work is done in portions of some milliseconds, between which `pause` is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Places = NDArray[np.float32]
Ints = NDArray[np.int64]

NEIGHBOURS = 12
REPELLED = 5  # drawn at random for each memory in a round
DIMENSIONS = 48  # in which neighbours are looked for; more tell little more and cost as much again
ROUNDS = 260
LEAST_ROUNDS = 140
MANY = 20_000  # memories from which on fewer rounds do: there is little left to move
STEP = 1.6  # of the first round; it shrinks to nothing
CLIP = 4.0  # the longest that one pull or push moves a memory
START_SPREAD = 6.0
SPACING = 14.0  # of the finished map: how far apart memories lie, about
EVENNESS = 0.5  # how far crowded places are drawn apart, and empty space is closed
BLOCK = 512  # memories whose neighbours are looked for at once
JITTER = 0.35  # of the spacing, for what is placed beside its neighbours
SEED = 20261119

Pause = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest of each memory, best first, and how near they are (cosine)."""

    places: Ints
    similarity: Floats


def find_neighbours(vectors: Floats, among: Floats, k: int, pause: Pause) -> Neighbours:
    """Return for each vector the `k` nearest of `among`; a vector may find itself there."""
    k = min(k, len(among))
    near = np.empty((len(vectors), k), np.int64)
    how = np.empty((len(vectors), k), np.float32)
    for start in range(0, len(vectors), BLOCK):
        pause()
        cosines = vectors[start : start + BLOCK] @ among.T
        best = (
            np.argpartition(cosines, -k, axis=1)[:, -k:]
            if k < len(among)
            else np.broadcast_to(np.arange(k), (len(cosines), k))
        )
        scores = np.take_along_axis(cosines, best, axis=1)
        order = np.lexsort((best, -scores), axis=1)
        near[start : start + BLOCK] = np.take_along_axis(best, order, axis=1)
        how[start : start + BLOCK] = np.take_along_axis(scores, order, axis=1)
    return Neighbours(near, how)


def lay_out(vectors: Floats, pause: Pause, before: Places | None = None) -> Places:
    """Return a place for each vector. `before` is where they lay on the last map, with nan for
    those that were not on it: the new map grows out of it."""
    count = len(vectors)
    if count < 3:
        return np.array([[SPACING * at, 0.0] for at in range(count)], np.float32).reshape(count, 2)
    reduced = _reduce(vectors)
    found = find_neighbours(reduced, reduced, NEIGHBOURS + 1, pause)
    places = _begin(reduced, found, before)
    _settle(places, found, pause)
    return _scale_places(places)


def place_beside(vectors: Floats, among: Floats, places: Places, pause: Pause) -> Places:
    """Return places for new vectors on a map that is there: in the middle of their neighbours."""
    found = find_neighbours(vectors, among, min(5, len(among)), pause)
    weights = np.maximum(found.similarity, 0.01) ** 4
    middle = np.asarray(
        (places[found.places] * weights[:, :, None]).sum(1) / weights.sum(1)[:, None], np.float32
    )
    noise = np.random.default_rng(SEED).normal(0, JITTER * SPACING, middle.shape)
    return np.asarray(middle + noise, np.float32)


def _reduce(vectors: Floats) -> Floats:
    """Return the vectors in their main directions, of length 1 again."""
    centred = vectors - vectors.mean(0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    main = directions[:, ::-1][:, :DIMENSIONS]
    main = main * np.where(main[np.abs(main).argmax(0), np.arange(main.shape[1])] < 0, -1, 1)
    reduced = (centred @ main).astype(np.float32)
    lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
    return np.asarray(reduced / np.maximum(lengths, 1e-6), np.float32)


def _begin(reduced: Floats, found: Neighbours, before: Places | None) -> Places:
    rng = np.random.default_rng(SEED)
    start = reduced[:, :2] / max(1e-6, float(reduced[:, :2].std())) * START_SPREAD
    start = start + rng.normal(0, 1e-2, start.shape)
    if before is None:
        return np.asarray(start, np.float32)
    known = ~np.isnan(before[:, 0])
    spread = float(before[known].std()) if known.sum() > 2 else 0.0
    if spread < 1e-6:
        return np.asarray(start, np.float32)
    old = (before - before[known].mean(0)) / spread * START_SPREAD
    of_neighbours = np.where(np.isnan(old), 0, old)[found.places].sum(1)
    many = known[found.places].sum(1)[:, None]
    beside = np.where(many > 0, of_neighbours / np.maximum(many, 1), start)
    return np.asarray(np.where(known[:, None], old, beside), np.float32)


def _settle(places: Places, found: Neighbours, pause: Pause) -> None:
    """Move the places, in rounds: pull each to its neighbours, push it from others."""
    count = len(places)
    rng = np.random.default_rng(SEED + 1)
    near = found.places[:, 1:]  # the first is the memory itself, or says the same
    ones = np.repeat(np.arange(count), near.shape[1])
    others = near.ravel()
    weights = np.tile(1 / (1 + 0.35 * np.arange(near.shape[1])), count).astype(np.float32)
    total = np.bincount(ones, weights, count) + np.bincount(others, weights, count)
    share = (1 / np.maximum(total, 1e-6)).astype(np.float32)
    rounds = ROUNDS if count <= MANY else LEAST_ROUNDS
    for nth in range(rounds):
        pause()
        step = STEP * (1 - nth / rounds)
        apart = places[others] - places[ones]
        pull = (2 * weights / (1 + (apart * apart).sum(1)))[:, None] * apart
        moved = np.empty_like(places)
        for axis in (0, 1):
            drawn = np.bincount(ones, pull[:, axis], count)
            moved[:, axis] = (drawn - np.bincount(others, pull[:, axis], count)) * share
        for _ in range(REPELLED):
            off = places - places[rng.integers(0, count, count)]
            far = (off * off).sum(1)
            push = (2 / ((0.01 + far) * (1 + far)))[:, None] * off
            moved += np.clip(push, -CLIP, CLIP)
        places += step * np.clip(moved, -CLIP, CLIP)


def _scale_places(places: Places) -> Places:
    """Return the places around the middle, as far apart as their number needs. Along each axis
    they are drawn half the way to where they would lie if all were as far apart: what is crowded
    gets room, and empty space between groups shrinks."""
    wanted = SPACING * math.sqrt(len(places)) / 2
    off = places - np.median(places, axis=0)
    radius = np.quantile(np.abs(off), 0.95, axis=0)
    scaled = np.clip(off / np.maximum(radius, 1e-6), -1.6, 1.6)
    ranks = np.argsort(np.argsort(places, axis=0, kind="stable"), axis=0, kind="stable")
    even = 2 * (ranks + 0.5) / len(places) - 1
    return np.asarray(wanted * ((1 - EVENNESS) * scaled + EVENNESS * even), np.float32)
