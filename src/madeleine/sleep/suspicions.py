"""What a job takes for an update, and asks nobody about yet.

A night asks five questions at most, and only of what it is fairly sure. Until a question is asked,
that a newer memory may replace an older one is kept as a verdict under the name `SUSPECTED`, in the
journal and so in every index made anew. Recall looks it up by pair (`recall/successors.py`) and
puts the newer first. It holds as long as both say the same. Once somebody is asked, the question
takes its place, whatever becomes of that.
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.model.digest import text_digest
from madeleine.model.event import Event, EventKind
from madeleine.model.verdict import (
    SUSPECTED,
    MemoryPair,
    Relation,
    Verdict,
    verdict_to_json,
)
from madeleine.sleep.values import JobContext
from madeleine.write.record import new_event, record_events

SUSPECT_AT = 0.3  # of what is said so surely in stores, two of three are updates
UNSUSPECTED = Verdict(Relation.NONE, 1.0, "somebody was asked")


def note_suspicions(
    context: JobContext, found: Sequence[tuple[MemoryPair, Verdict]], settled: set[tuple[str, str]]
) -> int:
    """Keep what is suspected, but of pairs that are `settled` or were asked about; let go of what
    was suspected of those. Return how many are new."""
    known = context.stores.log.verdicts([pair.ids for pair, _ in found], SUSPECTED)
    events, new = [], 0
    for pair, verdict in found:
        kept = known.get(pair.ids)
        is_suspect = verdict.sure >= SUSPECT_AT and pair.ids not in settled
        if is_suspect and (kept is None or kept.relation is not Relation.EVOLUTION):
            events.append(_suspicion_event(context, pair, verdict))
            new += 1
        elif not is_suspect and kept is not None and kept.relation is Relation.EVOLUTION:
            events.append(_suspicion_event(context, pair, UNSUSPECTED))
    if events:
        record_events(context.stores, events, durable=False)
    return new


def _suspicion_event(context: JobContext, pair: MemoryPair, verdict: Verdict) -> Event:
    body = {
        "job": context.report.job,
        "judge": SUSPECTED,
        "pair": list(pair.ids),
        "digests": [text_digest(pair.older), text_digest(pair.newer)],
        "verdict": verdict_to_json(verdict),
    }
    return new_event(context.stores, EventKind.JUDGED, body)
