"""A conversation that somebody hands in whole: kept as one in a transcript is.

There is no cursor: what was kept of it before is known again by its key, and words that are known
from elsewhere are not kept twice. What there is no room for is counted in the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.errors import MadeleineError
from madeleine.ingest.context import IngestContext
from madeleine.ingest.dialogue import DialoguePart
from madeleine.ingest.exchanges import Exchange, ExchangeBuilder
from madeleine.ingest.finding import ConversationOrigin, keep_in_order, keep_statements
from madeleine.ingest.gate import AdmissionGate, read_daily_usage
from madeleine.ingest.keeping import Keeper
from madeleine.ingest.report import IngestOutcome, record_ingest
from madeleine.ingest.transcript_lines import Voice


def ingest_conversation(
    intake: IngestContext,
    parts: Sequence[DialoguePart],
    place: ConversationOrigin,
    dry_run: bool = False,
) -> IngestOutcome:
    """Keep what is worth it of a conversation; return what was done, or would be."""
    done = IngestOutcome(dry_run)
    keeper = Keeper(intake, AdmissionGate(intake.config, read_daily_usage(intake.stores)), dry_run)
    exchanges = _collect_exchanges(keeper, place, parts, done)
    _keep(keeper, place, exchanges, done)
    done.tally(keeper)
    record_ingest(
        intake, done, f"conversation {place.session}", 0 if dry_run else keeper.gate.added
    )
    return done


def _collect_exchanges(
    keeper: Keeper, place: ConversationOrigin, parts: Sequence[DialoguePart], done: IngestOutcome
) -> list[Exchange]:
    """Keep what a person said outright, and return the exchanges."""
    building, exchanges, turn = ExchangeBuilder(), [], 0
    for said, start, end in parts:
        if said.voice is Voice.PERSON:
            turn += 1
            try:
                keep_statements(keeper, place, said, turn)
            except MadeleineError as error:
                done.stop(error)
                done.held_back += 1
        exchanges.append(building.add(said, start, end, turn))
    exchanges.append(building.rest(ended=True))
    return [each for each in exchanges if each is not None]


def _keep(
    keeper: Keeper, place: ConversationOrigin, exchanges: Sequence[Exchange], done: IngestOutcome
) -> None:
    left = list(exchanges)
    try:
        keep_in_order(keeper, place, left)
    except MadeleineError as error:
        done.stop(error)
        done.held_back += sum(each.told().says_something() for each in left)
