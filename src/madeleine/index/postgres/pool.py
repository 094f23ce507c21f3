"""Drawing candidates: from words, vectors, ids and recency, with what stands beside them.

All sources are one statement, because each way to the database and back is time in which
somebody waits, and so that all of them see one state. The filter stands in every source (I11);
when it leaves few, all of them are candidates and nothing can be missed. Columns come as
arrays, one place for each passage.

Passages are looked up one by one (`OFFSET 0` keeps the planner from anything else): it cannot
know how few they are, and would read the whole table for them.

What was said before and after is looked up three turns deep on either side of each candidate:
two come along, and the third tells whether those two have a neighbour in the pool themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from madeleine.database.access import Access
from madeleine.database.adapting import Half
from madeleine.index.port import Details, Matches, Pool, Wanted
from madeleine.index.postgres import meaning, words
from madeleine.index.postgres.filters import condition, narrows, outdated
from madeleine.index.postgres.meaning import Looking
from madeleine.index.postgres.words import Cutter
from madeleine.index.sqlite.matrix import NONE
from madeleine.index.sqlite.pool import COSINE_DIGITS, KEPT_BYTES, TAGGED_AT_MOST, starts
from madeleine.model.query import Filter
from madeleine.model.vector import Vector
from madeleine.model.words import Tier
from madeleine.rules.passages import MOST_PASSAGES

DEEP = 3  # turns on either side that are looked up; one less comes along
SPARE = 2  # times as many of what holds a word are tried, before the filter is asked again

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]

_TIERS = " ".join(f"WHEN '{each.value}' THEN {code}" for code, each in enumerate(Tier))
_COLUMNS = """
    array_agg(p.node), array_agg(p.part), array_agg(p.allowed), array_agg(p.wide > 0),
    array_agg(p.near), array_agg(p.focus), array_agg(coalesce(p.session, -1)),
    array_agg(p.turn), array_agg(coalesce(p.speaker, -1)), array_agg(p.created),
    array_agg(p.tier),
    array_agg(p.same_space), array_agg(p.outdated), array_agg(p.traits), array_agg(p.capitals),
    array_agg(p.words), array_agg(p.version)
"""
_TURN = "p.node, p.part, p.session, p.turn, p.created"
_BESIDE = """
    ARRAY(SELECT p.node FROM passages p
          WHERE p.tenant = :tenant AND p.part = 0 AND p.session = t.session
          AND (p.turn, p.created, p.node) {than} (t.turn, t.created, t.node)
          ORDER BY p.turn {order}, p.created {order}, p.node {order} LIMIT {deep})
"""
_BEFORE = _BESIDE.format(than="<", order="DESC", deep=DEEP)
_AFTER = _BESIDE.format(than=">", order="", deep=DEEP)
_PADDED = f"(array_agg(({{}} || ARRAY[{', '.join([str(NONE)] * DEEP)}]::bigint[])[1:{DEEP}]))"
_TALKS = """
    SELECT array_agg(s.session) FROM sessions s WHERE s.tenant = :tenant AND s.talk
    AND s.session IN (SELECT session FROM chosen)
"""


@dataclass(frozen=True, slots=True)
class Stamped(Pool):
    """A pool that knows which version of each passage it saw."""

    versions: Numbers


class _Statement:
    """SQL that grows together with its bindings."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.bindings: list[object] = []

    def named(self, name: str, sql: str, *bindings: object) -> None:
        """Add a part that others may name."""
        self._parts.append(f"{name} AS MATERIALIZED ({sql})")
        self.bindings.extend(bindings)

    def ending(self, sql: str, *bindings: object) -> str:
        self.bindings.extend(bindings)
        return f"WITH {', '.join(self._parts)} {sql}"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a pool is drawn for."""

    wanted: Wanted
    chosen: Filter
    now: datetime
    held: Matches
    looking: Looking
    """`few` are all that pass, if they can all be compared."""

    @property
    def all_of_them(self) -> bool:
        """Whether so few pass that all are candidates."""
        return self.looking.few is not None and len(self.looking.few) <= self.wanted.draw


@dataclass(frozen=True, slots=True)
class Sources:
    """What drawing needs beside the question: `dimension` is 0 without a model."""

    cutter: Cutter
    dimension: int
    exact_up_to: int

    def look(self, access: Access, wanted: Wanted, chosen: Filter, now: datetime) -> Looking:
        """Return how to search. Those that pass are counted as far as they can be compared one
        by one, unless it is plain that there are more."""
        most = max(wanted.draw, self.exact_up_to)
        least = most if narrows(chosen) else wanted.draw
        return meaning.look(access, self.dimension, chosen, now, most, least)


def pool(access: Access, sources: Sources, wanted: Wanted, chosen: Filter, now: datetime) -> Pool:
    """Return the candidates as columns."""
    held = wanted.matches or words.matches(access, sources.cutter, wanted.words)
    looking = sources.look(access, wanted, chosen, now)
    asked = _Asked(wanted, chosen, now, held, looking)
    spoken = _spoken(access, asked)
    statement = _Statement()
    _draw(statement, asked, spoken)
    _surround(statement)
    return _columns(_fetched(access, statement, asked), asked)


def _spoken(access: Access, asked: _Asked) -> list[int]:
    """Return the best of what holds a word and passes the filter, with all that tie."""
    nodes, scores = asked.held.nodes, asked.held.scores
    if asked.all_of_them or not len(nodes):
        return []
    if asked.looking.few is not None:
        passing = np.isin(nodes, np.array(asked.looking.few, np.int64))
        return _best(nodes[passing], scores[passing], asked.wanted.draw)
    tried, draw = SPARE * asked.wanted.draw, asked.wanted.draw
    while True:
        some = np.array(_best(nodes, scores, tried), np.int64)
        passing = np.isin(nodes, _passing(access, asked, some))
        if int(passing.sum()) >= draw or len(some) == len(nodes):
            return _best(nodes[passing], scores[passing], draw)
        tried *= 2 * SPARE


def _best(nodes: Numbers, scores: Floats, limit: int) -> list[int]:
    if len(nodes) > limit:
        nodes = nodes[scores >= np.partition(scores, -limit)[-limit]]
    found: list[int] = nodes.tolist()
    return found


def _passing(access: Access, asked: _Asked, nodes: Numbers) -> Numbers:
    passing = condition(asked.chosen, asked.now)
    sql = f"""SELECT array_agg(n.node) FROM nodes n WHERE n.tenant = :tenant
              AND n.node = ANY(%s::bigint[]) AND {passing.sql}"""
    found: Numbers | None = access.value(sql, nodes.tolist(), *passing.bindings)
    return np.empty(0, np.int64) if found is None else found


def _draw(statement: _Statement, asked: _Asked, spoken: list[int]) -> None:
    """Name the passages that any source brings `drawn`."""
    _tagged(statement, asked)
    whole, parts = "SELECT unnest(%s::bigint[])", list[tuple[str, list[object]]]()
    bindings: list[object] = [asked.looking.few if asked.all_of_them else spoken]
    if not asked.all_of_them:
        own, more = _whole(asked)
        whole, bindings = f"{whole} UNION {own}", [*bindings, *more]
        parts = list(_parts(asked))
    statement.named("whole (node)", whole, *bindings)
    drawn = f"""SELECT {_TURN} FROM whole w CROSS JOIN LATERAL (SELECT * FROM passages q
                WHERE q.tenant = :tenant AND q.node = w.node OFFSET 0) p"""
    statement.named(
        "drawn",
        " UNION ".join([drawn, *(f"({sql})" for sql, _ in parts)]),
        *(each for _, own in parts for each in own),
    )


def _tagged(statement: _Statement, asked: _Asked) -> None:
    """Name the nodes `tagged` that pass and bear the wanted tag; of very many the last."""
    passing = condition(asked.chosen, asked.now)
    sql = f"""SELECT n.node, n.created, n.id FROM node_tags t
              JOIN nodes n ON n.tenant = :tenant AND n.node = t.node
              WHERE t.tenant = :tenant AND t.tag = %s::text AND {passing.sql}
              ORDER BY t.node DESC LIMIT {TAGGED_AT_MOST}"""
    statement.named("tagged", sql, asked.wanted.tag, *passing.bindings)


def _whole(asked: _Asked) -> tuple[str, list[object]]:
    """Return who comes with all passages: those that are named, and who bears the tag."""
    passing = condition(asked.chosen, asked.now)
    sql = f"""SELECT n.node FROM nodes n WHERE n.tenant = :tenant AND n.id = ANY(%s::text[])
              AND {passing.sql}
              UNION (SELECT t.node FROM tagged t ORDER BY t.created DESC, t.id DESC LIMIT %s)"""
    return sql, [list(asked.wanted.ids), *passing.bindings, asked.wanted.draw]


def _parts(asked: _Asked) -> Iterator[tuple[str, list[object]]]:
    """Yield what brings single passages: nearness, and the newest by their first."""
    wanted, looking = asked.wanted, asked.looking
    if wanted.scan is not None and looking.dimension:
        sql, bindings = meaning.near_sql(looking, _TURN)
        yield sql, [*bindings, Half(wanted.scan), wanted.draw]
    if wanted.newest:
        passing = condition(asked.chosen, asked.now)
        sql = f"""SELECT {_TURN} FROM passages p JOIN (SELECT n.node FROM nodes n
                      WHERE n.tenant = :tenant AND {passing.sql}
                      ORDER BY n.created DESC, n.id DESC LIMIT %s) f ON f.node = p.node
                  WHERE p.tenant = :tenant AND p.part = 0"""
        yield sql, [*passing.bindings, wanted.newest]


def _surround(statement: _Statement) -> None:
    """Name what was said before and after `beside`, and all passages of the pool `chosen`."""
    statement.named(
        "beside",
        f"""SELECT t.node, {_BEFORE} AS earlier, {_AFTER} AS later FROM drawn t
            WHERE t.part = 0 AND t.session IS NOT NULL""",
    )
    statement.named(
        "places (node, part)",
        f"""SELECT node, part FROM drawn
            UNION SELECT unnest(earlier[1:{DEEP - 1}] || later[1:{DEEP - 1}]), 0 FROM beside""",
    )


def _fetched(access: Access, statement: _Statement, asked: _Asked) -> tuple[Any, ...]:
    wanted, dimension = asked.wanted, asked.looking.dimension
    passing = condition(asked.chosen, asked.now, "p")
    past = outdated(asked.chosen, asked.now, "p")
    near, focus = (_product(each, dimension) for each in (wanted.near, wanted.focus))
    statement.named(
        "chosen",
        f"""SELECT p.node, p.part, p.wide, p.session, p.turn, p.speaker, p.created,
                   (CASE p.tier {_TIERS} END)::smallint AS tier,
                   p.traits, p.capitals, p.words, p.version, ({passing.sql}) AS allowed,
                   ({past.sql}) AS outdated, {near[0]} AS near, {focus[0]} AS focus,
                   (%s::text IS NULL OR p.space IS NULL OR p.space = %s) AS same_space
            FROM places c CROSS JOIN LATERAL (SELECT * FROM passages q WHERE q.tenant = :tenant
                AND q.node = c.node AND q.part = c.part OFFSET 0) p""",
        *(*passing.bindings, *past.bindings, *near[1], *focus[1], wanted.space, wanted.space),
    )
    others = ["SELECT array_agg(node) FROM beside"]
    others += [f"SELECT {_PADDED.format(each)} FROM beside" for each in ("earlier", "later")]
    others += [_TALKS, "SELECT array_agg(node) FROM tagged"]
    also = ", ".join(f"({each})" for each in others)
    sql = statement.ending(f"SELECT {_COLUMNS}, {also} FROM chosen p")
    return access.rows(sql, *statement.bindings)[0]


def _product(direction: Vector | None, dimension: int) -> tuple[str, list[object]]:
    """Return SQL for the cosine of a passage with a direction. What half the digits leave of
    the direction is multiplied by itself: quicker than giving each passage all the digits."""
    if direction is None or not dimension:
        return "0::real", []
    coarse = direction.astype(np.float16)
    rest = direction - coarse.astype(np.float32)
    both = "(p.vector <#> %s) + (p.vector <#> %s)"
    sql = f"CASE WHEN p.wide = {dimension} THEN -({both}) ELSE 0 END::real"
    return sql, [Half(coarse), Half(rest)]


def _columns(row: tuple[Any, ...], asked: _Asked) -> Pool:
    arrays = [_array(values, kind) for values, kind in zip(row, _KINDS, strict=True)]
    order = np.lexsort((arrays[1], arrays[0]))
    own, others = [each[order] for each in arrays[:OWN]], arrays[OWN:]
    node, part, allowed, embedded, near, focus, session, turn, speaker, created, *own = own
    tier, same_space, passed, traits, capitals, counted, versions = own
    middle, earlier, later, talks, tagged = others
    turns = _turns(middle, earlier, later)
    before, after = _neighbours(node, part, turns)
    has_vector = embedded & bool(asked.looking.dimension)
    return Stamped(
        numbers=node * MOST_PASSAGES + part,
        nodes=node,
        allowed=allowed,
        embedded=has_vector,
        text=np.where(allowed, _text(node, asked.held), np.float32(0)).astype(np.float32),
        near=np.round(near, COSINE_DIGITS),
        focus=np.round(focus, COSINE_DIGITS),
        before=before,
        after=after,
        session=np.where(session != NONE, session, -1 - node),
        talk=np.isin(session, talks),
        turn=turn,
        speaker=speaker,
        created=created,
        tier=tier,
        same_space=same_space,
        outdated=passed,
        tagged=np.isin(node, tagged),
        traits=traits,
        capitals=capitals,
        words=counted,
        versions=versions,
    )


_KINDS = (
    *(np.int64, np.int64, np.bool_, np.bool_, np.float32, np.float32, np.int64, np.int32),
    *(np.int32, np.int64, np.uint8, np.bool_, np.bool_, np.uint16, np.uint16, np.int32, np.int64),
    *(np.int64, np.int64, np.int64, np.int64, np.int64),
)


OWN = 17  # columns of the pool's own places; those after them have lengths of their own


def _array(values: NDArray[Any] | None, kind: type[np.generic]) -> NDArray[Any]:
    return np.empty(0, kind) if values is None else values.astype(kind, copy=False)


def _text(nodes: Numbers, held: Matches) -> Floats:
    """Return the bm25 of each place; all passages of a memory have that of the whole."""
    if not len(held.nodes):
        return np.zeros(len(nodes), np.float32)
    order = np.argsort(held.nodes)
    matching, scores = held.nodes[order], held.scores[order]
    place = np.minimum(np.searchsorted(matching, nodes), len(matching) - 1)
    return np.where(matching[place] == nodes, scores[place], np.float32(0)).astype(np.float32)


def _turns(middle: Numbers, earlier: Numbers, later: Numbers) -> Numbers:
    """Return a row for each candidate of a conversation: what was said, in its order."""
    before, after = (each.reshape(-1, DEEP) for each in (earlier, later))
    return np.hstack([before[:, ::-1], middle[:, None], after])


def _neighbours(node: Numbers, part: Numbers, turns: Numbers) -> tuple[Numbers, Numbers]:
    """Return for each place of the pool where in it stands what was said before, and after."""
    before = np.full(len(node), NONE, np.int64)
    after = np.full(len(node), NONE, np.int64)
    if len(turns):
        one, other = (
            _first_places(node, part, each.ravel()) for each in (turns[:, :-1], turns[:, 1:])
        )
        there = (one != NONE) & (other != NONE)
        after[one[there]] = other[there]
        before[other[there]] = one[there]
    return before, after


def _first_places(node: Numbers, part: Numbers, wanted: Numbers) -> Numbers:
    """Return where in the pool the first passages of some nodes stand, or `NONE`."""
    place = np.minimum(np.searchsorted(node, wanted), len(node) - 1)
    return np.where((node[place] == wanted) & (part[place] == 0), place, NONE)


# --- what comparing closely needs ---------------------------------------------------------

_PASSAGES = f"""
    SELECT p.node * {MOST_PASSAGES} + p.part, p.stems, p.tokens
    FROM unnest(%s::bigint[]) AS w (number) JOIN passages p ON p.tenant = :tenant
    AND p.node = w.number / {MOST_PASSAGES} AND p.part = mod(w.number, {MOST_PASSAGES})
"""


class Kept:
    """Passages looked at lately, by their number and version. Questions of one day are about
    the same things; reading the passages of their candidates takes longer than comparing them.
    A version is never given out twice, so what is kept is right for as long as it is kept."""

    def __init__(self) -> None:
        self._passages: dict[tuple[int, int], tuple[bytes, bytes]] = {}
        self._bytes = 0

    def find(
        self, access: Access, numbers: list[int], versions: list[int]
    ) -> list[tuple[bytes, bytes]]:
        """Return the stems and tokens of each passage; one that is gone has neither."""
        known = self._passages  # another thread may begin anew meanwhile
        keys = list(zip(numbers, versions, strict=True))
        fresh = read(access, [number for number, version in keys if (number, version) not in known])
        found = [known.get(key) or fresh.get(key[0]) or (b"", b"") for key in keys]
        self._keep({key: fresh[key[0]] for key in keys if key[0] in fresh})
        return found

    def _keep(self, fresh: dict[tuple[int, int], tuple[bytes, bytes]]) -> None:
        self._bytes += sum(len(stems) + len(tokens) for stems, tokens in fresh.values())
        if self._bytes > KEPT_BYTES:
            self._passages, self._bytes = {}, 0
        else:
            self._passages.update(fresh)


def read(access: Access, numbers: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
    if not numbers:
        return {}
    rows = access.rows(_PASSAGES, list(numbers))
    return {number: (stems, tokens) for number, stems, tokens in rows}


def details(found: list[tuple[bytes, bytes]], token_dimension: int) -> Details:
    """Return stems and tokens of passages end to end."""
    if not token_dimension:  # those that are kept belong to a model that is away
        found = [(stems, b"") for stems, _ in found]
    stems = np.frombuffer(b"".join(each[0] for each in found), np.uint32)
    tokens = np.frombuffer(b"".join(each[1] for each in found), np.int8)
    width = max(token_dimension, 1)
    return Details(
        stems=stems,
        stem_starts=starts([len(each[0]) for each in found], stems.itemsize),
        tokens=tokens.reshape(-1, width),
        token_starts=starts([len(each[1]) for each in found], width),
    )
