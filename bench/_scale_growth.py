"""Making a database large from inside: rows that are copied, and moved a little.

A million texts would keep a model busy for two hours, and every one of them the index. Copies
take minutes. A copied vector is turned by an angle of its own, and rare words of a copy become
other words, so that names stay rare and common words become as common as they would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SCHEMA = "madeleine"
NOISE = 0.33  # a copy has a cosine of about 0.95 with what it is a copy of
RARE = 50  # memories that hold a word which is a name
NUMBERS = {  # columns that hold the number of a node, by table; each copy has its own
    "nodes": ("node",),
    "texts": ("node",),
    "postings": ("node",),
    "node_tags": ("node",),
    "passages": ("node",),
}
APART = 1_000_000_000  # between the node numbers of two copies


def grown(connection: Any, name: str, times: int) -> None:
    """Make a tenant's memory `times` as large."""
    tenant = _number(connection, name)
    _without_graphs(connection, lambda: _copy_within(connection, tenant, times))
    connection.execute("ANALYZE")


def multiplied(connection: Any, name: str, names: Sequence[str]) -> None:
    """Give each of the names a memory of its own that is like that of `name`."""
    tenant = _number(connection, name)
    _without_graphs(connection, lambda: _copy_across(connection, tenant, names))
    connection.execute("ANALYZE")


def _number(connection: Any, name: str) -> int:
    connection.execute(f"SET search_path = {SCHEMA}, public")
    row = connection.execute("SELECT tenant FROM tenants WHERE name = %s", (name,)).fetchone()
    return int(row[0])


# -- inside one memory ---------------------------------------------------------------------


def _copy_within(connection: Any, tenant: int, times: int) -> None:
    for copy in range(1, times):
        for table, numbers in NUMBERS.items():
            changed = {each: f"{each} + {copy * APART}" for each in numbers}
            _insert(connection, table, tenant, changed | _own_values(table, copy))
    connection.execute(
        f"""UPDATE tallies SET memories = memories * {times}, words = words * {times},
            length = length * {times} WHERE tenant = {tenant}"""
    )
    _count_words(connection, tenant)


def _own_values(table: str, copy: int) -> dict[str, str]:
    """Return what a copy says in place of what it is a copy of."""
    match table:
        case "nodes":  # no id of a memory begins so
            return {"id": f"'g{copy:03x}' || substr(id, 5)", "path": f"'{copy}/' || path"}
        case "passages":
            return {"vector": _moved("passages.vector")}
        case "postings":
            return {"term": f"CASE WHEN {_rare()} THEN term || '~{copy}' ELSE term END"}
        case _:
            return {}


def _rare() -> str:
    return f"""(SELECT holders FROM vocabulary v WHERE v.tenant = postings.tenant
                AND v.term = postings.term) <= {RARE}"""


def _moved(vector: str) -> str:
    """Return SQL for a vector that is turned a little. Which way differs from row to row: what
    is asked for names a column of it, so it cannot be worked out once for all."""
    noise = f"""(SELECT array_agg(random() - 0.5)::vector
                 FROM generate_series(1, vector_dims({vector})))"""
    scale = f"array_fill({NOISE}::real, ARRAY[vector_dims({vector})])::vector"
    return f"l2_normalize(({vector}::vector + l2_normalize({noise}) * {scale})::halfvec)"


def _count_words(connection: Any, tenant: int) -> None:
    connection.execute(f"DELETE FROM vocabulary WHERE tenant = {tenant}")
    connection.execute(
        f"""INSERT INTO vocabulary SELECT tenant, term, count(*) FROM postings
            WHERE tenant = {tenant} AND term NOT LIKE '=%' GROUP BY tenant, term"""
    )


# -- many memories -------------------------------------------------------------------------


def _copy_across(connection: Any, tenant: int, names: Sequence[str]) -> None:
    tables = _tables_of_tenants(connection)
    columns = _columns(connection, "tenants")
    copied = ", ".join(each for each in columns if each not in ("name", "tenant", "truth"))
    for name in names:
        sql = f"""INSERT INTO tenants (name, {copied}) SELECT %s, {copied} FROM tenants
                  WHERE tenant = {tenant} RETURNING tenant"""
        number = connection.execute(sql, (name,)).fetchone()[0]
        for table in tables:
            changed = {"vector": _moved("passages.vector")} if table == "passages" else {}
            _insert(connection, table, tenant, {"tenant": str(number), **changed})


def _tables_of_tenants(connection: Any) -> list[str]:
    sql = """SELECT c.relname FROM pg_class c
             JOIN pg_namespace n ON n.oid = c.relnamespace
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'
             WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND NOT c.relispartition
             AND a.atttypid = 'integer'::regtype AND c.relname NOT IN ('tenants', 'discarded')"""
    return [row[0] for row in connection.execute(sql, (SCHEMA,)).fetchall()]


# -- rows ----------------------------------------------------------------------------------


def _columns(connection: Any, table: str) -> list[str]:
    sql = """SELECT column_name FROM information_schema.columns
             WHERE table_schema = %s AND table_name = %s AND is_generated = 'NEVER'"""
    return [row[0] for row in connection.execute(sql, (SCHEMA, table)).fetchall()]


def _insert(connection: Any, table: str, tenant: int, changed: dict[str, str]) -> None:
    """Copy the rows of a tenant, some columns changed; only those it had at first."""
    columns = [f'"{each}"' for each in _columns(connection, table)]
    values = [changed.get(each.strip('"'), f"{table}.{each}") for each in columns]
    first = f"AND node < {APART}" if table in NUMBERS else ""
    connection.execute(
        f"""INSERT INTO {table} ({", ".join(columns)}) OVERRIDING SYSTEM VALUE
            SELECT {", ".join(values)} FROM {table} WHERE tenant = {tenant} {first}"""
    )


def _without_graphs(connection: Any, fill: Any) -> None:
    """Take the graphs of vectors away meanwhile: making one anew is quicker than adding to it."""
    sql = """SELECT indexname, indexdef FROM pg_indexes
             WHERE schemaname = %s AND indexname LIKE 'passages_near%%'"""
    graphs = connection.execute(sql, (SCHEMA,)).fetchall()
    for name, _ in graphs:
        connection.execute(f"DROP INDEX {name}")
    fill()
    for _, definition in graphs:  # of a cut table the definition names the table without pieces
        connection.execute(definition.replace(" ON ONLY ", " ON "))
