"""Whether fading silences: what nights put away after idle days, and whether it is still told.

The store is that of one person over four months, written by hand. The house stands empty for some
days, then a night runs. Counted is what is archived and asked about, and how many of these are
protected. Then all that may fade at all is archived, and of the prompts that clearly ask for it is
counted how many still bring it.

    python bench/_harm_fading.py
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from _recall_report import Figure, Target, table

from madeleine import Madeleine
from madeleine.model.times import format_time, parse_time
from madeleine.model.words import Tier

IDLE_DAYS = (9, 30, 60, 120)
NEVER = ("decision", "preference", "procedure", "goal", "person", "project")
STILL_WHISPERED = Target(0.9)
NONE = Target(0, at_most=True)

# Each line: type, days before the house is left, the memory, and what somebody asks about it.
NOTES = """
fact|2|The staging URL is https://staging.ledger.example|what is the staging URL?
fact|3|Never log customer names or IBANs|may we log customer names or IBANs?
fact|5|The label printer only takes 62 mm rolls|which rolls does the label printer take?
fact|6|The demo account is demo@ledger.example|what is the demo account?
fact|8|Feature flags are read once a minute|how often are feature flags read?
fact|11|Our VPN drops idle connections after 20 minutes|when does the VPN drop idle connections?
fact|14|Bea has the second key to the server room|who has the second key to the server room?
fact|17|The export job needs 4 GB of memory|how much memory does the export job need?
fact|20|Release notes live in docs/releases|where do the release notes live?
fact|24|The invoice template is in the shared drive under Finance|where is the invoice template?
fact|28|Backups are copied to Frankfurt every night|where are backups copied to?
fact|33|The payment provider retries webhooks for three days|how long does the payment provider retry webhooks?
fact|37|The old importer cannot read UTF-16|can the old importer read UTF-16?
fact|41|The search index is rebuilt on Sundays|when is the search index rebuilt?
fact|45|The office door code is changed every quarter|how often is the office door code changed?
fact|49|Tax reports are kept for ten years|how long are tax reports kept?
fact|53|The mailer sends at most 90 messages a minute|how many messages a minute does the mailer send?
fact|57|The camera in the hall records in mono|does the camera in the hall record in stereo?
fact|61|The coffee machine needs descaling tablets from Urnex|which descaling tablets does the coffee machine need?
fact|65|The warehouse API answers in Swiss francs|in which currency does the warehouse API answer?
fact|69|The bike shed is locked at eight|when is the bike shed locked?
fact|73|The test database is reset at four in the morning|when is the test database reset?
fact|77|The intern laptop has 8 GB of memory|how much memory does the intern laptop have?
fact|81|The parcel service collects at half past three|when does the parcel service collect?
fact|85|The metrics are kept for 13 months|how long are the metrics kept?
fact|89|The conference room screen speaks only HDMI|which cable does the conference room screen need?
fact|93|The domain ledger.example is registered at Gandi|where is the domain ledger.example registered?
fact|97|The elevator contract is with Schindler|with whom is the elevator contract?
fact|101|The fax number ends in 4471|how does the fax number end?
fact|105|The archive room has no network|does the archive room have network?
concept|10|A ledger line is immutable once it is booked|can a booked ledger line change?
concept|25|Eventual consistency between till and ledger|what is eventually consistent with the ledger?
concept|40|A settlement closes a day of payments|what does a settlement close?
concept|55|A tenant is a shop with its own books|what is a tenant?
concept|70|Idempotency keys live for a day|how long do idempotency keys live?
concept|85|A dunning level is how often a customer was reminded|what is a dunning level?
concept|100|Shadow accounts hold money in transit|what do shadow accounts hold?
observation|4|The build is slower on Mondays|is the build slower on some days?
observation|13|The queue grows when the till restarts|when does the queue grow?
observation|22|Memory of the worker doubles after a month|what happens to the memory of the worker?
observation|31|The nightly test fails when the clock changes|when does the nightly test fail?
observation|43|Safari keeps the old session after a deploy|which browser keeps the old session after a deploy?
observation|52|The CSV of the bank has a trailing semicolon|what is odd about the CSV of the bank?
observation|64|Rounding differs by a cent in the French shop|where does rounding differ by a cent?
observation|76|The scanner beeps twice for damaged labels|when does the scanner beep twice?
observation|88|The cache is cold after every second deploy|when is the cache cold?
observation|99|The proxy strips the accept header|which header does the proxy strip?
event|3|Met Ana at the payment fair on 4 June 2025|where did we meet Ana?
event|18|Outage of the till on 2025-10-02, two hours|when was the outage of the till?
event|36|The audit of 2025 took three weeks|how long did the audit of 2025 take?
event|58|Moved the servers to Oslo in May 2025|when did we move the servers to Oslo?
event|79|The heating failed in January 2025|when did the heating fail?
event|12|The lease of the office ends on 30 June 2031|when does the lease of the office end?
event|34|Conference in Berlin, March 2030|when is the conference in Berlin?
event|66|The certificate of the till runs out on 2030-09-14|when does the certificate of the till run out?
event|95|Jubilee of the firm on 12 May 2032|when is the jubilee of the firm?
decision|5|We use Arq for background jobs because Celery fired twice|what do we use for background jobs?
decision|21|We chose SQLite over Postgres for the till|which database did we choose for the till?
decision|44|Money is kept as integers of cents|how is money kept?
decision|67|The API speaks JSON only|which format does the API speak?
decision|90|Deploys happen on Tuesdays and Thursdays|when do deploys happen?
decision|110|No feature flag lives longer than a quarter|how long may a feature flag live?
preference|7|Prefers small commits with a body|which commits are preferred?
preference|26|Prefers tabs to be closed at night|what about tabs at night?
preference|48|Wants tests to be sentences|how should tests be named?
preference|71|Likes answers without emoji|should answers have emoji?
preference|94|Prefers pnpm over npm|which package manager is preferred?
procedure|9|To release: tag, wait for the build, then run make publish|how do we release?
procedure|29|To restore a till: stop it, copy the file, start it|how is a till restored?
procedure|50|To rotate keys, ask Bea, then run rotate.sh|how are keys rotated?
procedure|74|To add a shop, create the tenant first|how is a shop added?
procedure|98|To reset the scanner hold both buttons|how is the scanner reset?
goal|15|Bring the checkout under 300 ms|what is the goal for the checkout?
goal|46|Get rid of the old importer this year|what shall become of the old importer?
goal|82|Have every shop on the new ledger|what is the goal for the shops?
person|16|Ana runs the payment team in Lisbon|who runs the payment team?
person|38|Bea keeps the keys and the server room|who keeps the server room?
person|62|Carl wrote the old importer|who wrote the old importer?
person|87|Dora is our contact at the bank|who is our contact at the bank?
project|19|Atlas is the new ledger, in Python|what is Atlas?
project|51|Tide is the till for ferries|what is Tide?
project|84|Kelp is the warehouse of numbers|what is Kelp?
self|23|I live in Bergen|where do I live?
self|56|I am allergic to peanuts|what am I allergic to?
self|91|My partner is called Jon|what is my partner called?
fact|108|The plotter in room 3 speaks HPGL|which language does the plotter in room 3 speak?
fact|112|The flag pole is painted every second year|how often is the flag pole painted?
fact|116|The water meter is behind the panel in the hall|where is the water meter?
fact|119|The alarm company is called Nordvakt|what is the alarm company called?
"""  # noqa: E501  # a table

_TIME = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z"
_IN_JOURNAL = re.compile(rf'(?<="at":")({_TIME})(?=")')
_IN_FILE = re.compile(rf"(?m)^(created|updated): ({_TIME})$")


class FadingNote(NamedTuple):
    """One memory of the store, and what asks for it."""

    kind: str
    days: float
    text: str
    prompt: str

    @property
    def is_protected(self) -> bool:
        """Whether it never fades, by its type or because it is about the self."""
        return self.kind in (*NEVER, "self")

    @property
    def is_to_come(self) -> bool:
        return re.search(r"\b203\d", self.text) is not None


def read_notes() -> list[FadingNote]:
    """Return the store that was written by hand."""
    rows = (line.split("|") for line in NOTES.strip().splitlines())
    return [FadingNote(kind, float(days), text, prompt) for kind, days, text, prompt in rows]


def measure(given: argparse.Namespace) -> list[Figure]:
    """Return the figures of fading after some idle days each."""
    with tempfile.TemporaryDirectory(prefix="madeleine-harm-") as folder:
        return [each for days in IDLE_DAYS for each in _after(Path(folder) / f"{days}", days)]


def _after(home: Path, idle: int) -> Iterator[Figure]:
    notes = read_notes()
    known = _live(home, notes, idle)
    with Madeleine.open(home, in_process=True) as opened:
        opened.sleep()
        archived = {
            known[each.id]
            for each in opened.list(limit=1_000)
            if each.tier is Tier.ARCHIVAL and each.id in known
        }
        asked = {
            known[node]
            for proposal in opened.proposals()
            if proposal.type.value == "decay"
            for node in proposal.source_nodes
        }
        away = archived | asked
        may_fade = {
            node: note for node, note in known.items() if not (note.is_protected or note.is_to_come)
        }
        for node in may_fade:
            opened.revise(node, tier="archival")
        told = [_is_told(opened, known, each) for each in may_fade.values()]
    part = f"fading, {idle} idle days"
    yield Figure(part, "archived unasked", len(archived), len(notes), unit="memories")
    yield Figure(part, "asked about at once", len(asked), len(notes), Target(10, True), "memories")
    spared = sum(each.is_protected or each.is_to_come for each in away)
    yield Figure(part, "of these protected or to come", spared, len(away), NONE, "memories")
    young = sum(each.days + idle < 30 for each in away)
    yield Figure(part, "of these in their first 30 days", young, len(away), NONE, "memories")
    what = "all that may fade archived, and whispered when asked for"
    yield Figure(part, what, sum(told) / len(told), len(told), STILL_WHISPERED)


def _live(home: Path, notes: list[FadingNote], idle: int) -> dict[str, FadingNote]:
    """Remember the notes as of their days, then leave the house for some days."""
    now = datetime.now(UTC)
    drafts = [
        {
            "content": each.text,
            "type": "fact" if each.kind == "self" else each.kind,
            "about_self": each.kind == "self",
            "created": now - timedelta(days=each.days),
        }
        for each in notes
    ]
    with Madeleine.open(home, in_process=True) as opened:
        kept = opened.remember_many(drafts)
    ids = [str(each.id) for each in kept]
    _let_days_pass(home, idle + 0.0, dict(zip(ids, notes, strict=True)))
    return dict(zip(ids, notes, strict=True))


def _let_days_pass(home: Path, days: float, born: dict[str, FadingNote]) -> None:
    """Move what happened into the past: each note came here on its own day."""

    def moved(text: str, by: float) -> str:
        return format_time(parse_time("time", text) - timedelta(days=by))

    for path in (home / "journal").glob("*.jsonl"):
        lines = []
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            own = next((note.days for each, note in born.items() if each in line), 0.0)
            lines.append(_IN_JOURNAL.sub(lambda it, own=own: moved(it[1], days + own), line))
        path.write_text("".join(lines), encoding="utf-8")
    for path in (home / "vault").rglob("*.md"):
        said = path.read_text(encoding="utf-8")
        aged = _IN_FILE.sub(lambda it: f"{it[1]}: {moved(it[2], days)}", said)
        path.write_text(aged, encoding="utf-8")
    for path in home.glob("index.db*"):
        path.unlink()


def _is_told(opened: Madeleine, known: dict[str, FadingNote], note: FadingNote) -> bool:
    said = opened.whisper(note.prompt)
    return any(known.get(each.memory.id) == note for each in said.injected)


if __name__ == "__main__":
    print(table(measure(argparse.Namespace())))
