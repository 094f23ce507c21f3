"""What the documented queries about consolidation ask for.

    MATCH (c:ConsolidationControl {id: 'singleton'}) RETURN c.last_decay, c.history
    MATCH (p:MetaPattern)-[:SUMMARIZES]->(m:Memory) RETURN p.content, m.content

Both follow from what else stands in the graph: the control node from the journal's runs, a pattern
and its arrows from the file of a summary. Nothing here reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from madeleine.index.common.rows import PlacedMemory
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.meta_pattern import META_PATTERN_LABEL, meta_pattern_to_json
from madeleine.model.task_run import HISTORY_LIMIT, TASK_NAMES, task_run_fields
from madeleine.model.words import Edge
from madeleine_falkordb.connection import GraphAccess
from madeleine_falkordb.encoding import hash_key
from madeleine_falkordb.writing import FalkorWrite

_MATCH_CONTROL = "MATCH (c:ConsolidationControl {id: 'singleton'})"
_MERGE_CONTROL = "MERGE (c:ConsolidationControl {id: 'singleton'})"
CREATE_CONTROL = f"{_MERGE_CONTROL} ON CREATE SET c.history = '[]'"


def note_runs(writing: FalkorWrite, events: Sequence[Event]) -> None:
    """Note the runs of tasks among new events, whatever order they come in."""
    runs = [each for each in events if _is_task_run(each)]
    if not runs:
        return
    known = writing.access.column(_MATCH_CONTROL, "c.history")
    history = [*json.loads(known[0] if known else "[]"), *map(task_run_fields, runs)]
    history.sort(key=lambda each: str(each["ran_at"]), reverse=True)
    row = {"history": json.dumps(history[:HISTORY_LIMIT])}
    writing.statement.each([row], f"{_MERGE_CONTROL} SET c += r")
    for task in TASK_NAMES:
        ran = [str(each["ran_at"]) for each in map(task_run_fields, runs) if each["task"] == task]
        last = f"c.last_{task}"
        newest = f"{_MERGE_CONTROL} WITH c, r WHERE {last} IS NULL OR {last} < r SET {last} = r"
        writing.statement.each([max(ran)] if ran else [], newest)


def _is_task_run(event: Event) -> bool:
    return event.kind == EventKind.RUN and event.body.get("job") in TASK_NAMES


def ensure_control(access: GraphAccess) -> None:
    """Let the control node be there also before the first run."""
    access.run(f"{CREATE_CONTROL} RETURN 1", {})


def pattern_fields(memory: Memory) -> Mapping[str, Any]:
    """Return what a summary's node says besides; nothing for any other memory."""
    return meta_pattern_to_json(memory) or {}


def draw_summaries(writing: FalkorWrite, placed: Sequence[PlacedMemory]) -> None:
    """Give summaries their label and their arrows to memories that are there, and memories that
    are new here the arrows of summaries that were there before them."""
    meta = [each for each in placed if pattern_fields(each.memory)]
    plain = [each for each in placed if each.known is not None and each not in meta]
    statement = writing.statement
    statement.each(
        _node_keys([*meta, *plain]),
        "MATCH (m:Memory {at: r})-[e:SUMMARIZES]->() DELETE e",
    )
    statement.each(_node_keys(plain), f"MATCH (m:Memory {{at: r}}) REMOVE m:{META_PATTERN_LABEL}")
    statement.each(_node_keys(meta), f"MATCH (m:Memory {{at: r}}) SET m:{META_PATTERN_LABEL}")
    arrows = [
        (str(each.node), drawn.target)
        for each in meta
        for drawn in each.memory.connections
        if drawn.edge is Edge.SUMMARIZES
    ]
    statement.each(
        arrows,
        """MATCH (s:Memory {at: r[0]}) MATCH (m:Memory {id: r[1]}) MERGE (s)-[:SUMMARIZES]->(m)""",
    )
    born = [(str(each.node), hash_key(each.memory.id)) for each in placed if each.known is None]
    statement.each(
        born,
        f"""MATCH (k:Known {{key: r[1]}})<-[e:ARROW]-(s:{META_PATTERN_LABEL})
            WHERE e.edge = '{Edge.SUMMARIZES.value}'
            MATCH (m:Memory {{at: r[0]}}) MERGE (s)-[:SUMMARIZES]->(m)""",
    )


def _node_keys(placed: Iterable[PlacedMemory]) -> list[str]:
    return [str(each.node) for each in placed]
