"""Vectors in the file, and searching the matrix that is made from them.

The file keeps them as float16, one row for each node that has one, all of the model that
`meta` names. Another model's vectors are of no use: they go, and every memory counts as
unembedded until it gets a new one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.errors import Rejected
from madeleine.index.port import Hit
from madeleine.index.sqlite.matrix import (
    FOREVER,
    Cells,
    Change,
    Mask,
    Matrix,
    Snapshot,
    to_halves,
)
from madeleine.index.sqlite.nodes import Placed
from madeleine.index.sqlite.times import maybe_micros, micros
from madeleine.model.query import Filter
from madeleine.model.vector import Vector
from madeleine.model.words import MemoryType, Tier

LOADED_AT_ONCE = 4_096

TYPE_CODES = {each.value: code for code, each in enumerate(MemoryType)}
TIER_CODES = {each.value: code for code, each in enumerate(Tier)}

_CELLS = "n.node, n.type, n.tier, n.space, n.created, n.valid_until, n.superseded_by IS NOT NULL"


def claim_model(connection: apsw.Connection, model: str, dimension: int) -> None:
    """Note whose vectors the index holds, and drop those of any other model."""
    known = dict(
        connection.execute("SELECT key, value FROM meta WHERE key IN ('model', 'dimension')")
    )
    wanted = {"model": model, "dimension": str(dimension)}
    if known == wanted:
        return
    if known:
        connection.execute("DELETE FROM vectors; UPDATE nodes SET embedded = 0 WHERE embedded")
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", wanted.items())


def load(connection: apsw.Connection, dimension: int, exact_up_to: int) -> Matrix:
    """Return the matrix of all vectors in the file."""
    total = connection.execute("SELECT count(*) FROM vectors").get
    matrix = Matrix(dimension, exact_up_to, rows=total)
    rows = connection.execute(
        f"SELECT v.vector, {_CELLS} FROM vectors v JOIN nodes n ON n.node = v.node ORDER BY v.node"
    )
    while chunk := list(islice(rows, LOADED_AT_ONCE)):
        halves = np.frombuffer(b"".join(row[0] for row in chunk), np.float16)
        cells = [_cells(matrix, *row[1:]) for row in chunk]
        matrix.apply(Change(cells, halves.reshape(len(chunk), dimension)))
    return matrix


def _cells_of(matrix: Matrix, placed: Placed) -> Cells:
    memory = placed.memory
    return _cells(
        matrix,
        placed.node,
        memory.type.value,
        memory.tier.value,
        memory.space,
        micros(memory.created),
        maybe_micros(memory.valid_until),
        memory.superseded_by is not None,
    )


def _cells(
    matrix: Matrix,
    node: int,
    memory_type: str,
    tier: str,
    space: str | None,
    created: int,
    valid_until: int | None,
    superseded: bool | int,
) -> Cells:
    code = matrix.space_code(space)
    until = FOREVER if valid_until is None else valid_until
    return node, TYPE_CODES[memory_type], TIER_CODES[tier], code, created, until, bool(superseded)


def required(matrix: Matrix | None) -> Matrix:
    """Return the matrix; without a model there is none, and no vector fits."""
    if matrix is None:
        raise Rejected(
            "the index was opened without a model and takes no vectors",
            hint="`madeleine status` shows which model is set",
        )
    return matrix


def put_vectors(
    connection: apsw.Connection, matrix: Matrix | None, placed: Sequence[Placed]
) -> Change:
    """Store the vectors of memories just put, and drop those that no longer fit."""
    given = [(each, each.put.vector) for each in placed if each.put.vector is not None]
    stale = [each.node for each in placed if each.loses_vector]
    connection.executemany("DELETE FROM vectors WHERE node = ?", ((node,) for node in stale))
    if matrix is None:
        if given:
            required(matrix)
        return Change()
    halves = to_halves([vector for _, vector in given], matrix.dimension)
    _store(connection, [each.node for each, _ in given], halves)
    return Change(
        fresh=[_cells_of(matrix, each) for each, _ in given],
        vectors=halves,
        kept=[_cells_of(matrix, each) for each in placed if each.keeps_vector],
        dropped=stale,
    )


def set_vectors(
    connection: apsw.Connection, matrix: Matrix, vectors: Mapping[str, Vector]
) -> Change:
    """Give vectors to the nodes that are there."""
    sql = f"SELECT n.id, {_CELLS} FROM nodes n WHERE n.id IN (SELECT value FROM json_each(?))"
    rows = list(connection.execute(sql, (json.dumps(list(vectors)),)))
    halves = to_halves([vectors[row[0]] for row in rows], matrix.dimension)
    nodes = [row[1] for row in rows]
    _store(connection, nodes, halves)
    marked = ((node,) for node in nodes)
    connection.executemany("UPDATE nodes SET embedded = 1 WHERE node = ?", marked)
    return Change(fresh=[_cells(matrix, *row[1:]) for row in rows], vectors=halves)


def _store(connection: apsw.Connection, nodes: Sequence[int], halves: NDArray[np.float16]) -> None:
    """Write the rows of `halves` as the vectors of these nodes."""
    size = halves.shape[1] * halves.itemsize
    whole = halves.tobytes()
    blobs = (whole[start : start + size] for start in range(0, len(whole), size))
    rows = zip(nodes, blobs, strict=True)
    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)


def vectors_of(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, Vector]:
    """Return the vectors of those of the ids that have one."""
    sql = """SELECT n.id, v.vector FROM nodes n JOIN vectors v ON v.node = n.node
             WHERE n.id IN (SELECT value FROM json_each(?))"""
    rows = connection.execute(sql, (json.dumps(list(ids)),))
    return {
        memory_id: np.frombuffer(blob, np.float16).astype(np.float32) for memory_id, blob in rows
    }


def search_vector(
    connection: apsw.Connection,
    matrix: Matrix,
    vector: Vector,
    chosen: Filter,
    now: datetime,
    limit: int,
    least: float,
) -> list[Hit]:
    """Return the nearest memories that pass the filter, best first, ties by id."""
    query = _checked(vector, matrix.dimension)
    snapshot = matrix.snapshot
    if limit <= 0 or not snapshot.count:
        return []
    allowed = _allowed(connection, matrix, snapshot, chosen, now)
    nodes, scores = snapshot.nearest(query, allowed, limit, least)
    pairs = zip(nodes.tolist(), scores.tolist(), strict=True)
    scored = {node: score for node, score in pairs if score >= least}
    if not scored:
        return []
    hits = [Hit(memory_id, scored[node]) for node, memory_id in _ids(connection, list(scored))]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _checked(vector: Vector, dimension: int) -> Vector:
    query = np.asarray(vector, np.float32)
    if query.shape != (dimension,) or not np.isfinite(query).all():
        raise Rejected(
            f"the question's vector is not {dimension} finite numbers",
            hint="`madeleine status` shows which model is set",
        )
    return query


def _ids(connection: apsw.Connection, nodes: list[int]) -> list[tuple[int, str]]:
    sql = "SELECT node, id FROM nodes WHERE node IN (SELECT value FROM json_each(?))"
    return list(connection.execute(sql, (json.dumps(nodes),)))


def _allowed(
    connection: apsw.Connection, matrix: Matrix, snapshot: Snapshot, chosen: Filter, now: datetime
) -> Mask:
    """Return which rows pass the filter. The same rule as `filters.condition`, on columns."""
    allowed = snapshot.alive()
    if chosen.types:
        allowed &= _among(snapshot, "type", [TYPE_CODES[each.value] for each in chosen.types])
    if chosen.tiers:
        allowed &= _among(snapshot, "tier", [TIER_CODES[each.value] for each in chosen.tiers])
    if chosen.spaces:
        known = [code for each in chosen.spaces if (code := matrix.spaces.get(each)) is not None]
        allowed &= _among(snapshot, "space", known)
    if chosen.tags:
        allowed &= np.isin(snapshot.column("node"), _tagged(connection, chosen.tags))
    for part in _times(snapshot, chosen, now):
        allowed &= part
    return allowed


def _among(snapshot: Snapshot, column: str, codes: list[int]) -> Mask:
    values = snapshot.column(column)
    wanted = np.zeros(int(values.max(initial=0)) + 1, np.bool_)
    wanted[[code for code in codes if code < len(wanted)]] = True
    found: Mask = wanted[values]
    return found


def _tagged(connection: apsw.Connection, tags: Sequence[str]) -> NDArray[np.int64]:
    marks = ", ".join("?" * len(tags))
    rows = connection.execute(f"SELECT node FROM node_tags WHERE tag IN ({marks})", tuple(tags))
    return np.fromiter((node for (node,) in rows), np.int64)


def _times(snapshot: Snapshot, chosen: Filter, now: datetime) -> Iterator[Mask]:
    created, until = snapshot.column("created"), snapshot.column("valid_until")
    superseded = snapshot.column("superseded")
    if chosen.created_after is not None:
        yield created >= micros(chosen.created_after)
    if chosen.created_before is not None:
        yield created < micros(chosen.created_before)
    if chosen.as_of is not None:
        yield created <= micros(chosen.as_of)
    if not chosen.outdated:
        yield until > micros(now if chosen.as_of is None else chosen.as_of)
        yield ~superseded if chosen.as_of is None else ~(superseded & (until == FOREVER))
