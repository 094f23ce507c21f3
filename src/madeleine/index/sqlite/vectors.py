"""Passages in the file, and searching the matrix that is made from them.

The file keeps of each passage its stems, its traits and, where a model has read it, a vector
as float16 and its tokens, all of the model that `meta` names. Another model's are of no use:
they go, and every memory counts as unembedded until it is read anew. Tokens that a `TokenKeeper`
has are not kept again: the row says where they stand. If they are no longer there when the index is
opened, the memory counts as unembedded too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.analysis import analyse_passages
from madeleine.index.common.matrix import (
    FOREVER,
    NONE,
    Mask,
    Matrix,
    MatrixChange,
    MatrixSnapshot,
    PassageCells,
    Rows,
    to_half_vectors,
)
from madeleine.index.common.neighbours import find_nearest_nodes
from madeleine.index.common.passages import (
    MAX_TURN,
    TIER_CODES,
    TYPE_CODES,
    ModelDimensions,
    check_embeddings,
    check_query_vector,
)
from madeleine.index.common.rows import PlacedMemory, passage_number_range
from madeleine.index.common.stems import Stemmer
from madeleine.index.common.times import to_micros, to_micros_or_none
from madeleine.index.search import IndexHit
from madeleine.index.sqlite import nodes
from madeleine.index.sqlite.schema import INDEX_TABLES
from madeleine.language.index_rules import INDEX_RULES
from madeleine.language.passages import MOST_PASSAGES, find_speaker
from madeleine.language.traits import PassageTraits
from madeleine.model.embedding import KeptEmbedding, PassageEmbedding, TokenKeeper
from madeleine.model.query import Filter
from madeleine.model.vector import Vector
from madeleine.model.words import EXCHANGE_TAG, Tier

HALF_BYTES = 2
ROWS_PER_LOAD = 4_096

_CELL_COLUMNS = """n.node, n.type, n.tier, n.space, n.created, n.valid_until,
            n.superseded_by IS NOT NULL, n.session, n.turn, n.speaker, n.id"""


def claim_model(connection: apsw.Connection, model: str | None, wide: ModelDimensions) -> None:
    """Note whose traces the index holds, and drop those of any other model."""
    if model is None:
        return  # the model may be back tomorrow
    known = dict(
        connection.execute("SELECT key, value FROM meta WHERE key IN ('model', 'dimension')")
    )
    wanted = {"model": model, "dimension": f"{wide.vector} {wide.token}"}
    if known == wanted:
        return
    if known:
        connection.execute(
            "DELETE FROM vectors; UPDATE passages SET tokens = x'', reference = NULL;"
            "UPDATE nodes SET embedded = 0 WHERE embedded"
        )
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", wanted.items())


def claim_analyser(connection: apsw.Connection) -> bool:
    """Note by which rules words and triggers are made of texts, and empty an index that others
    made: the next start fills it. Say whether it was emptied."""
    if connection.execute("SELECT value FROM meta WHERE key = 'analyser'").get == INDEX_RULES:
        return False
    empty_tables(connection)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('analyser', ?)", (INDEX_RULES,))
    return True


def note_lost_tokens(connection: apsw.Connection, keeper: TokenKeeper) -> None:
    """Have memories read anew whose tokens are no longer where they stood."""
    sql = "SELECT reference FROM passages WHERE reference IS NOT NULL"
    lost = keeper.missing([reference for (reference,) in connection.execute(sql)])
    if lost:
        sql = f"""UPDATE nodes SET embedded = 0 WHERE node =
                  (SELECT number / {MOST_PASSAGES} FROM passages WHERE number = ?)"""
        rows = connection.execute("SELECT number, reference FROM passages")
        numbers = [(number,) for number, reference in rows if reference in lost]
        connection.executemany(sql, numbers)


def empty_tables(connection: apsw.Connection) -> None:
    """Remove whatever a rebuild fills."""
    connection.execute("INSERT INTO fts (fts) VALUES ('delete-all')")
    for table in INDEX_TABLES:
        connection.execute(f"DELETE FROM {table}")


def load_matrix(connection: apsw.Connection, dimension: int, exact_up_to: int) -> Matrix:
    """Return the matrix of all passages in the file."""
    total = connection.execute("SELECT count(*) FROM passages").get
    matrix = Matrix(dimension, exact_up_to, rows=total)
    # Without a model the vectors in the file belong to one that is away.
    vector = "v.vector" if dimension else "NULL"
    rows = connection.execute(
        f"""SELECT {vector}, p.number % {MOST_PASSAGES}, p.traits, p.capitals, p.words,
                   {_CELL_COLUMNS}
            FROM passages p JOIN nodes n ON n.node = p.number / {MOST_PASSAGES}
            LEFT JOIN vectors v ON v.number = p.number ORDER BY p.number"""
    )
    nothing = bytes(dimension * HALF_BYTES)
    while chunk := list(islice(rows, ROWS_PER_LOAD)):
        halves = np.frombuffer(b"".join(row[0] or nothing for row in chunk), np.float16)
        cells = [_cells_from_row(matrix, row) for row in chunk]
        matrix.apply(MatrixChange(cells, halves.reshape(len(chunk), dimension)))
    return matrix


def _cells_from_row(matrix: Matrix, row: tuple[Any, ...]) -> PassageCells:
    vector, part, bits, capitals, words, *cells = row
    seen = PassageFacts(part, PassageTraits(bits, capitals, words), vector is not None)
    return _build_cells(matrix, seen, *cells)


class PassageFacts(NamedTuple):
    """What is known of one passage beside what is known of its memory."""

    part: int
    traits: PassageTraits
    embedded: bool


def _cells_of_put(matrix: Matrix, placed: PlacedMemory, seen: PassageFacts) -> PassageCells:
    memory = placed.memory
    return _build_cells(
        matrix,
        seen,
        placed.node,
        memory.type.value,
        memory.tier.value,
        memory.space,
        to_micros(memory.created),
        to_micros_or_none(memory.valid_until),
        memory.superseded_by is not None,
        memory.origin.session if memory.origin else None,
        memory.origin.turn if memory.origin else None,
        find_speaker(memory),
        memory.id,
    )


def _build_cells(
    matrix: Matrix,
    seen: PassageFacts,
    node: int,
    memory_type: str,
    tier: str,
    space: str | None,
    created: int,
    valid_until: int | None,
    superseded: bool | int,
    session: str | None,
    turn: int | None,
    speaker: str | None,
    memory_id: str,
) -> PassageCells:
    code = matrix.space_code(space)
    return PassageCells(
        node,
        TYPE_CODES[memory_type],
        TIER_CODES[tier],
        code,
        created,
        FOREVER if valid_until is None else valid_until,
        bool(superseded),
        seen.embedded,
        seen.part,
        matrix.session_code(code, session),
        NONE if turn is None else max(NONE, min(turn, MAX_TURN)),
        matrix.speakers.code(speaker),
        *seen.traits,
        memory_id,
    )


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """How wide traces are, and who keeps their tokens, if the index does not."""

    wide: ModelDimensions
    keeper: TokenKeeper | None

    def token_cells(self, trace: PassageEmbedding) -> tuple[bytes, bytes | None]:
        """Return the tokens of a passage, or where they stand."""
        if isinstance(trace, KeptEmbedding) and trace.keeper is self.keeper:
            return b"", trace.reference
        return trace.tokens.tobytes(), None


@dataclass(slots=True)
class _PassageRows:
    """What a batch writes, gathered so that each table is written once."""

    passages: list[tuple[int, int, int, int, bytes, bytes, bytes | None]] = field(
        default_factory=list
    )
    fresh: list[PassageCells] = field(default_factory=list)
    vectors: list[Vector] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """Of which passages the vectors are."""
    rows: list[int] = field(default_factory=list)
    """In which of the fresh rows they stand."""
    kept: list[PassageCells] = field(default_factory=list)


def put_passages(
    connection: apsw.Connection,
    matrix: Matrix,
    place: TraceOptions,
    stemmer: Stemmer,
    placed: Sequence[PlacedMemory],
) -> MatrixChange:
    """Store what is kept of the passages of memories just put, and drop what no longer fits."""
    rows = _PassageRows()
    for each in placed:
        if each.keeps_traces:
            _keep_passages(connection, matrix, each, rows)
        else:
            _replace_passages(matrix, place, stemmer, each, rows)
    replaced = [each.node for each in placed if each.known is not None and not each.keeps_traces]
    nodes.forget_passages(connection, replaced)
    connection.executemany(f"INSERT INTO passages VALUES ({nodes.placeholders(7)})", rows.passages)
    halves = to_half_vectors(rows.vectors, place.wide.vector)
    blobs = ((number, half.tobytes()) for number, half in zip(rows.numbers, halves, strict=True))
    connection.executemany("INSERT INTO vectors VALUES (?, ?)", blobs)
    vectors = halves
    if len(halves) < len(rows.fresh):
        vectors = np.zeros((len(rows.fresh), matrix.dimension), np.float16)
        vectors[rows.rows] = halves
    return MatrixChange(rows.fresh, vectors, rows.kept)


def _keep_passages(
    connection: apsw.Connection, matrix: Matrix, placed: PlacedMemory, rows: _PassageRows
) -> None:
    """Give the passages that stay the columns of their memory as it is now."""
    sql = """SELECT number, traits, capitals, words FROM passages
             WHERE number BETWEEN ? AND ? ORDER BY number"""
    for number, *traits in connection.execute(sql, passage_number_range(placed.node)):
        seen = PassageFacts(number % MOST_PASSAGES, PassageTraits(*traits), matrix.dimension > 0)
        rows.kept.append(_cells_of_put(matrix, placed, seen))


def _replace_passages(
    matrix: Matrix,
    place: TraceOptions,
    stemmer: Stemmer,
    placed: PlacedMemory,
    rows: _PassageRows,
) -> None:
    """Gather the passages of a memory whose text is new, with their traces if there are any."""
    analysis = placed.put.analysis
    passages = analyse_passages(stemmer, placed.memory) if analysis is None else analysis.passages
    traces = check_embeddings(placed.put.traces, len(passages), place.wide)
    first = passage_number_range(placed.node)[0]
    if traces:
        rows.rows += range(len(rows.fresh), len(rows.fresh) + len(traces))
        rows.numbers += range(first, first + len(traces))
        rows.vectors += (each.vector for each in traces)
    for part, (bits, capitals, words, stems) in enumerate(passages):
        tokens = place.token_cells(traces[part]) if traces else (b"", None)
        rows.passages.append((first + part, bits, capitals, words, stems, *tokens))
        facts = PassageFacts(part, PassageTraits(bits, capitals, words), bool(traces))
        rows.fresh.append(_cells_of_put(matrix, placed, facts))


def set_traces(
    connection: apsw.Connection,
    matrix: Matrix,
    place: TraceOptions,
    given: Mapping[str, Sequence[PassageEmbedding]],
) -> MatrixChange:
    """Give traces to the nodes that are there and have as many passages."""
    sql = f"""SELECT n.id, p.number, p.traits, p.capitals, p.words, {_CELL_COLUMNS}
              FROM nodes n JOIN passages p ON p.number >= n.node * {MOST_PASSAGES}
              AND p.number < (n.node + 1) * {MOST_PASSAGES}
              WHERE n.id IN (SELECT value FROM json_each(?)) ORDER BY p.number"""
    rows = list(connection.execute(sql, (json.dumps(list(given)),)))
    counts = Counter(row[0] for row in rows)
    fitting = [row for row in rows if counts[row[0]] == len(given[row[0]])]
    traces = [given[row[0]][row[1] % MOST_PASSAGES] for row in fitting]
    check_embeddings(traces, len(fitting), place.wide)
    halves = to_half_vectors([each.vector for each in traces], place.wide.vector)
    blobs = [(row[1], half.tobytes()) for row, half in zip(fitting, halves, strict=True)]
    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", blobs)
    tokens = [(*place.token_cells(each), row[1]) for each, row in zip(traces, fitting, strict=True)]
    sql = "UPDATE passages SET tokens = ?, reference = ? WHERE number = ?"
    connection.executemany(sql, tokens)
    marked = ((row[5],) for row in fitting)
    connection.executemany("UPDATE nodes SET embedded = 1 WHERE node = ?", marked)
    cells = [
        _build_cells(
            matrix, PassageFacts(row[1] % MOST_PASSAGES, PassageTraits(*row[2:5]), True), *row[5:]
        )
        for row in fitting
    ]
    return MatrixChange(cells, halves)


def read_vectors(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, Vector]:
    """Return the vectors of those of the ids that have one."""
    sql = f"""SELECT n.id, v.vector FROM nodes n JOIN vectors v
              ON v.number = n.node * {MOST_PASSAGES}
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
) -> list[IndexHit]:
    """Return the nearest memories that pass the filter, best first, ties by id."""
    query = check_query_vector(vector, matrix.dimension)
    snapshot = matrix.snapshot
    if limit <= 0 or not snapshot.count:
        return []
    mask = mask_allowed(connection, matrix, snapshot, chosen, now) & snapshot.column("embedded")
    scored = find_nearest_nodes(snapshot, query, mask, limit, least)
    if not scored:
        return []
    scored = _cut_to_best(scored, 2 * limit)  # some more, should any be gone by now
    named = read_ids(connection, list(scored))
    hits = [IndexHit(memory_id, scored[node]) for node, memory_id in named.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _cut_to_best(scored: dict[int, float], count: int) -> dict[int, float]:
    """Return the nodes with the best scores, and all that tie with the last of them."""
    if len(scored) <= count:
        return scored
    least = sorted(scored.values(), reverse=True)[count - 1]
    return {node: score for node, score in scored.items() if score >= least}


def read_ids(connection: apsw.Connection, nodes: Sequence[int]) -> dict[int, str]:
    """Return the ids of nodes that are there."""
    sql = "SELECT node, id FROM nodes WHERE node IN (SELECT value FROM json_each(?))"
    return dict(connection.execute(sql, (json.dumps(list(nodes)),)))


def mask_allowed(
    connection: apsw.Connection,
    matrix: Matrix,
    snapshot: MatrixSnapshot,
    chosen: Filter,
    now: datetime,
) -> Mask:
    """Return which rows pass the filter. The same rule as `filters.build_condition`, on columns."""
    passing = snapshot.alive()
    if chosen.types:
        passing &= _mask_codes(snapshot, "type", [TYPE_CODES[each.value] for each in chosen.types])
    if chosen.tiers:
        passing &= _mask_codes(snapshot, "tier", [TIER_CODES[each.value] for each in chosen.tiers])
    if chosen.spaces:
        known = [code for each in chosen.spaces if (code := matrix.spaces.get(each)) is not None]
        passing &= _mask_codes(snapshot, "space", known)
    if chosen.tags:
        passing &= np.isin(snapshot.column("node"), _read_tagged(connection, chosen.tags))
    if chosen.hides_exchanges and len(said := _read_tagged(connection, (EXCHANGE_TAG,))):
        passing &= ~_mask_exchanges(snapshot, said)
    for part in _iterate_time_masks(snapshot, chosen, now):
        passing &= part
    return passing


def _mask_codes(snapshot: MatrixSnapshot, column: str, codes: list[int]) -> Mask:
    values = snapshot.column(column)
    wanted = np.zeros(int(values.max(initial=0)) + 1, np.bool_)
    wanted[[code for code in codes if code < len(wanted)]] = True
    found: Mask = wanted[values]
    return found


def _mask_exchanges(snapshot: MatrixSnapshot, said: NDArray[np.int64]) -> Mask:
    """Return which rows are of what was said in sessions, kept apart, of the nodes tagged so."""
    nodes = snapshot.column("node")
    known = said[said <= nodes.max(initial=0)]
    flags = np.zeros(int(nodes.max(initial=0)) + 1, np.bool_)
    flags[known] = True
    found: Mask = flags[nodes] & (snapshot.column("tier") == TIER_CODES[Tier.ARCHIVAL.value])
    return found


def _read_tagged(connection: apsw.Connection, tags: Sequence[str]) -> NDArray[np.int64]:
    marks = ", ".join("?" * len(tags))
    rows = connection.execute(f"SELECT node FROM node_tags WHERE tag IN ({marks})", tuple(tags))
    return np.fromiter((node for (node,) in rows), np.int64)


def _iterate_time_masks(snapshot: MatrixSnapshot, chosen: Filter, now: datetime) -> Iterator[Mask]:
    created = snapshot.column("created")
    if chosen.created_after is not None:
        yield created >= to_micros(chosen.created_after)
    if chosen.created_before is not None:
        yield created < to_micros(chosen.created_before)
    if chosen.as_of is not None:
        yield created <= to_micros(chosen.as_of)
    if not chosen.outdated:
        yield ~mask_outdated(snapshot, chosen, now, slice(None))


def mask_outdated(
    snapshot: MatrixSnapshot, chosen: Filter, now: datetime, rows: Rows | slice
) -> Mask:
    """Return which of these rows are expired or superseded at the moment asked about."""
    until: NDArray[np.int64] = snapshot.column("valid_until")[rows]
    superseded: Mask = snapshot.column("superseded")[rows]
    if chosen.as_of is not None:  # it was still true then, unless nobody said until when
        superseded = superseded & (until == FOREVER)
    passed: Mask = (until <= to_micros(chosen.as_of or now)) | superseded
    return passed
