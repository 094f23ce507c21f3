"""A write as one query, because one query is FalkorDB's transaction.

Each step is a list of rows and what is done with each of them, called `r`. A step stands in a
subquery of its own, which always gives one row back, whether it had any to work on or not; so
all of them run, in their order. In front stands the graph's head with the version that was
read: if another has written since, nothing matches, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MATCH_HEAD = "MATCH (g:Head) WHERE g.version = $version SET g += $head WITH g"


@dataclass(slots=True)
class WriteStatement:
    """Steps that happen together, and what the head of the graph says afterwards."""

    head: dict[str, object] = field(default_factory=dict)
    steps: list[tuple[str, list[object]]] = field(default_factory=list)

    def each(self, rows: Iterable[object], cypher: str) -> None:
        """Do something with every row."""
        listed = list(rows)
        if listed:
            self.steps.append((cypher, listed))

    def query(self, version: int) -> tuple[str, Mapping[str, object]]:
        """Return the query and its parameters, for a graph of this version."""
        parts, counts = [MATCH_HEAD], list[str]()
        parameters: dict[str, object] = {"version": version}
        parameters["head"] = {**self.head, "version": version + 1}
        for number, (cypher, rows) in enumerate(self.steps):
            step = f"WITH g UNWIND $rows{number} AS r {cypher} RETURN count(*) AS c{number}"
            parts.append(f"CALL {{ {step} }}")
            counts.append(f"c{number}")
            parameters[f"rows{number}"] = rows
        parts.append(f"RETURN {' + '.join(counts) or 1}")
        return "\n".join(parts), parameters


def merge_step(label: str, key: str) -> str:
    """Return the step that writes a row by its key, there already or not."""
    return f"MERGE (x:{label} {{{key}: r.{key}}}) SET x = r"


def merge_newest_step(label: str, at: str = "at", event: str = "event") -> str:
    """Return the step that keeps of several values for one key the one with the latest event.
    What it says beside them stays."""
    return f"""MERGE (x:{label} {{key: r.key}}) WITH x, r
               WHERE x.{at} IS NULL OR r.{at} > x.{at}
                  OR (r.{at} = x.{at} AND r.{event} > x.{event})
               SET x += r"""
