"""A small life to look at: what a developer's agents might know after some months."""

from __future__ import annotations

from tests.server.running import Daemon

MEMORIES: tuple[dict[str, object], ...] = (
    {
        "title": "SQLite over Postgres for the ledger",
        "content": "We chose **SQLite** over Postgres for the ledger: one file, no server to look "
        "after, and every report is a query away.\n\nRevisit when two machines must write.",
        "type": "decision",
        "space": "ledger",
        "tags": ["database", "architecture"],
        "created": "2026-03-12T09:14:00Z",
    },
    {
        "title": "Write-ahead logging is on",
        "content": "The ledger opens its database with `PRAGMA journal_mode=WAL`, so that reports "
        "do not wait for imports.",
        "type": "fact",
        "space": "ledger",
        "tags": ["database", "sqlite"],
        "created": "2026-03-14T16:40:00Z",
    },
    {
        "title": "Bank imports run at six",
        "content": "Bank statements are fetched at 06:00 and 18:00. The evening run is the one "
        "that matters: the morning one only catches what was late.",
        "type": "procedure",
        "space": "ledger",
        "tags": ["imports", "schedule"],
        "created": "2026-04-02T07:30:00Z",
    },
    {
        "title": "Rounding is half-even",
        "content": "Amounts are kept in cents and rounded half to even, as the accountant asked.",
        "type": "decision",
        "space": "ledger",
        "tags": ["money"],
        "created": "2026-04-20T11:05:00Z",
    },
    {
        "title": "Green tea, no sugar",
        "content": "Prefers green tea without sugar; coffee only before noon.",
        "type": "preference",
        "tier": "core",
        "tags": ["food"],
        "about_self": True,
        "created": "2026-02-01T08:00:00Z",
    },
    {
        "title": "Short answers first",
        "content": "Likes the answer in the first sentence and the reasons after it. No bullet "
        "points for fewer than three things.",
        "type": "preference",
        "tier": "core",
        "tags": ["writing"],
        "about_self": True,
        "created": "2026-02-03T19:22:00Z",
    },
    {
        "title": "Lives in Dublin",
        "content": "Lives in Dublin since 2021, near the canal. Irish time zone.",
        "type": "fact",
        "tier": "core",
        "about_self": True,
        "created": "2026-02-01T08:05:00Z",
    },
    {
        "title": "Ana keeps the books",
        "content": "Ana is the accountant. She wants the quarterly export by the tenth and answers "
        "mail on Mondays.",
        "type": "person",
        "space": "ledger",
        "tags": ["people", "accounting"],
        "created": "2026-03-30T10:00:00Z",
    },
    {
        "title": "Atlas: maps for walkers",
        "content": "Atlas draws walking maps from open data. Python for the pipeline, Rust for the "
        "tiles, no framework on the page.",
        "type": "project",
        "space": "atlas",
        "tags": ["overview"],
        "created": "2026-01-18T12:00:00Z",
    },
    {
        "title": "Tiles are cut at zoom fourteen",
        "content": "Vector tiles are cut up to zoom 14 and overzoomed beyond. Zoom 15 doubled the "
        "size of the archive for nothing that anybody could see.",
        "type": "decision",
        "space": "atlas",
        "tags": ["tiles", "performance"],
        "created": "2026-05-06T15:45:00Z",
    },
    {
        "title": "Contour lines every ten metres",
        "content": "Contour lines every 10 m, every fifth drawn stronger. The hills around Wicklow "
        "look right with it; 20 m hid the gullies.",
        "type": "decision",
        "space": "atlas",
        "tags": ["cartography"],
        "created": "2026-05-28T09:10:00Z",
    },
    {
        "title": "The build broke on a locale",
        "content": "The nightly build broke because a runner without a UTF-8 locale sorted names "
        "differently. `LC_ALL=C.UTF-8` stands in the script since.",
        "type": "event",
        "space": "atlas",
        "tags": ["ci", "incident"],
        "created": "2026-06-11T22:48:00Z",
    },
    {
        "title": "How a release is made",
        "content": "1. Update the changelog\n2. `make test`\n3. Tag `vX.Y.Z`\n4. The pipeline "
        "builds and signs\n\n| step | minutes |\n|---|---|\n| tests | 9 |\n| build | 4 |",
        "type": "procedure",
        "space": "atlas",
        "tags": ["release", "ci"],
        "created": "2026-06-30T13:00:00Z",
    },
    {
        "title": "Half of all errors are timeouts",
        "content": "Of last month's errors on the tile server about half were timeouts of the "
        "elevation service, all between 02:00 and 03:00.",
        "type": "observation",
        "space": "atlas",
        "tags": ["monitoring"],
        "created": "2026-09-04T08:20:00Z",
    },
    {
        "title": "Idempotency",
        "content": "An operation that can be repeated without doing more than once. Every import "
        "of ours has a key for it.",
        "type": "concept",
        "tags": ["architecture"],
        "created": "2026-04-09T17:00:00Z",
    },
    {
        "title": "Walk the Wicklow Way in spring",
        "content": "Walk the whole Wicklow Way, 127 km, with the maps of Atlas, in April.",
        "type": "goal",
        "tags": ["walking"],
        "about_self": True,
        "created": "2026-10-02T20:15:00Z",
    },
    {
        "title": "Deploys happen on Tuesdays",
        "content": "Atlas is deployed on Tuesdays before lunch, never on a Friday.",
        "type": "procedure",
        "space": "atlas",
        "tags": ["release"],
        "created": "2026-10-20T10:30:00Z",
    },
    {
        "title": "Elevation service has a mirror",
        "content": "The elevation service is mirrored in Frankfurt since October; fall back to it "
        "after two seconds.",
        "type": "fact",
        "space": "atlas",
        "tags": ["monitoring", "performance"],
        "created": "2026-10-29T14:00:00Z",
    },
    {
        "title": "Old port of the tile server",
        "content": "The tile server listens on port 8081.",
        "type": "fact",
        "space": "atlas",
        "tags": ["configuration"],
        "valid_until": "2026-08-01T00:00:00Z",
        "created": "2026-02-20T09:00:00Z",
    },
    {
        "title": "Tile server port",
        "content": "The tile server listens on port 9000, behind the proxy.",
        "type": "fact",
        "space": "atlas",
        "tags": ["configuration"],
        "created": "2026-08-01T09:00:00Z",
    },
)
LINKS = (
    ("Write-ahead logging is on", "SQLite over Postgres for the ledger", "depends_on"),
    ("Elevation service has a mirror", "Half of all errors are timeouts", "derived_from"),
    ("Tiles are cut at zoom fourteen", "Atlas: maps for walkers", "part_of"),
    ("Contour lines every ten metres", "Atlas: maps for walkers", "part_of"),
    ("How a release is made", "Deploys happen on Tuesdays", "related_to"),
    ("Bank imports run at six", "Idempotency", "depends_on"),
    ("Rounding is half-even", "Ana keeps the books", "derived_from"),
    ("Tile server port", "Old port of the tile server", "evolved_from"),
)


def furnish(daemon: Daemon) -> dict[str, str]:
    """Write all of it and return the ids by title."""
    ids = {str(each["title"]): daemon.remember(**each) for each in MEMORIES}  # type: ignore[arg-type]  # drafts
    for source, target, edge in LINKS:
        body = {"source_id": ids[source], "target_id": ids[target], "edge": edge, "weight": 0.8}
        daemon.ok("POST", "/agent/connect", body)
    return ids
