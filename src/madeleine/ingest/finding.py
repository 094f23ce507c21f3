"""What of a conversation is kept, and as what.

What a person said outright is a memory of its own, in their words. Of exchanges a language model
finds what is worth keeping; what it finds is dropped unless it quotes what was really said, and
what the agent said counts for less than what the person did. Without a model the exchange itself
is kept, word for word: nothing is invented, and recall finds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from madeleine.errors import InvalidValue, Unavailable
from madeleine.ingest.exchanges import ASKED_CHARS, REPLY_CHARS, Exchange, ExchangeText
from madeleine.ingest.keeping import IngestFinding, Keeper, finding_key
from madeleine.ingest.local_findings import (
    LocalFinding,
    find_worth_keeping,
    join_sentences,
    name_space,
)
from madeleine.ingest.statements import SpokenStatement, find_statements
from madeleine.ingest.taken_back import correct_kept, is_taken_back, list_kept
from madeleine.ingest.transcript_lines import SpokenLine
from madeleine.language.spoken_corrections import begins_correction
from madeleine.model.extraction import ExtractionSource, MemoryCandidate
from madeleine.model.times import format_time, parse_time
from madeleine.model.words import ABOUT_SELF, EXCHANGE_TAG, MemoryType, Tier
from madeleine.write.embedding import split_by_size
from madeleine.write.projects import choose_space, space_of

CONFIDENCE = 0.9  # said outright, but nobody looked at how it reads on its own
LOCAL_CONFIDENCE = 0.8  # said in passing; a learnt head took it for worth keeping
EXCHANGE_CONFIDENCE = 0.7  # what was said in passing, right or wrong
AGENT_CONFIDENCE = 0.7  # at most, for what an agent said: nobody confirmed it
EXCHANGES_AT_ONCE = 50
BATCH_CHARS = 20_000  # about 5,000 tokens, which every model in use can read
TAG, EXTRACTED_TAG = "from-transcript", "extracted"
USER, AGENT = "user", "agent"


class NotExtracted(Unavailable):
    """A language model gave no usable answer, and exchanges are not to be kept without one."""

    kind = "not_extracted"

    def __init__(self) -> None:
        super().__init__(
            "the language model gave no usable answer",
            hint='`ingest.exchanges = "fallback"` keeps exchanges word for word meanwhile',
        )


@dataclass(frozen=True, slots=True)
class ConversationOrigin:
    """Where a conversation was held, for all that comes out of it."""

    source: str
    session: str
    space: str | None = None
    uri: str | None = None
    tags: tuple[str, ...] = ()
    find_space: Callable[[str | None], str | None] = space_of
    """Which space a folder is, as the memory knows it."""

    def session_of(self, said: SpokenLine) -> str:
        return said.session or self.session

    def space_of(self, said: SpokenLine) -> str | None:
        return self.find_space(said.folder) or self.space

    def space_for(self, said: SpokenLine, text: str) -> str | None:
        """Return the space of what is kept of a line: its project's, or that of its branch."""
        return choose_space(said.folder, self.space_of(said), text)


def keep_statements(keeper: Keeper, place: ConversationOrigin, said: SpokenLine, turn: int) -> None:
    """Keep what a person said outright in one message."""
    for statement in find_statements(said.text):
        found = _build_statement(place, said, turn, statement)
        keeper.keep(_replace_taken_back(keeper, place, found, said.text))


def _build_statement(
    place: ConversationOrigin, said: SpokenLine, turn: int, statement: SpokenStatement
) -> IngestFinding:
    return IngestFinding(
        content=statement.text,
        key=finding_key("transcript", place.session_of(said), said.place, statement.text),
        source=place.source,
        type=statement.type,
        space=None if statement.about_self else place.space_for(said, statement.text),
        about_self=statement.about_self,
        confidence=CONFIDENCE,
        tags=(TAG, *place.tags),
        created=format_created(said.at),
        origin=_build_origin(place, said, turn, USER),
    )


def split_into_batches(exchanges: Sequence[Exchange]) -> Iterator[Sequence[Exchange]]:
    """Give exchanges in order, as many at once as are kept, or shown to a model, together."""
    return split_by_size(exchanges, _exchange_size, EXCHANGES_AT_ONCE, BATCH_CHARS)


def _exchange_size(exchange: Exchange) -> int:
    said = sum(map(len, exchange.prompts)), sum(map(len, exchange.replies))
    return min(said[0], ASKED_CHARS) + min(said[1], REPLY_CHARS)


def keep_in_order(keeper: Keeper, place: ConversationOrigin, left: list[Exchange]) -> None:
    """Keep what is worth it of exchanges that are over, and take each off the list once that is
    done. Raises what keeps the rest of them waiting."""
    for batch in split_into_batches(tuple(left)):
        after = left[len(batch) :]
        _keep_exchanges(keeper, place, batch, left)
        left[:] = after


def _keep_exchanges(
    keeper: Keeper, place: ConversationOrigin, exchanges: Sequence[Exchange], left: list[Exchange]
) -> None:
    """Keep what is worth it of some. Of what a model finds, what was kept before something was
    raised is known again."""
    _keep_local_findings(keeper, place, exchanges)
    worth = [told for each in exchanges if (told := each.told()).says_something()]
    if not worth:
        return
    wanted, drawn = _choose_exchanges(keeper, place), _extract_findings(keeper, place, worth)
    if drawn is None and keeper.intake.extractor is not None and wanted == "never":
        raise NotExtracted
    for one in drawn.found if drawn else ():
        keeper.keep(one)
    for each in _select_word_for_word(wanted, worth, drawn):
        keeper.keep(_build_word_for_word(place, each))
        del left[: left.index(each.exchange) + 1]
    keeper.redacted += sum(each.secrets for each in worth)


def _choose_exchanges(keeper: Keeper, place: ConversationOrigin) -> str:
    """Return which exchanges are kept word for word: none where a person has to say yes to each,
    since nobody would read them all."""
    return "never" if keeper.waits(place.source) else keeper.intake.config.exchanges


def _select_word_for_word(
    wanted: str, worth: Sequence[ExchangeText], drawn: _ExtractedFindings | None
) -> Sequence[ExchangeText]:
    """Return the exchanges that are kept word for word."""
    if wanted == "never":
        return ()
    return worth if drawn is None or wanted == "always" else drawn.unproven


def _build_word_for_word(place: ConversationOrigin, told: ExchangeText) -> IngestFinding:
    exchange, said = told.exchange, told.exchange.first
    return IngestFinding(
        content=told.text,
        key=finding_key("exchange", place.session_of(said), said.place),
        source=place.source,
        type=MemoryType.OBSERVATION,
        tier=Tier.ARCHIVAL,
        title=told.title,
        space=place.space_of(said),
        confidence=EXCHANGE_CONFIDENCE,
        tags=(TAG, EXCHANGE_TAG, *place.tags),
        created=format_created(said.at),
        origin=_build_origin(place, said, exchange.turn, USER, exchange),
    )


# -- without a language model --------------------------------------------------------------


def _keep_local_findings(
    keeper: Keeper, place: ConversationOrigin, exchanges: Sequence[Exchange]
) -> None:
    """Keep what is worth it by the learnt head, where that is who looks, or stands in for a model
    that nobody may pay for today."""
    if keeper.intake.config.extractor != "local" and not keeper.is_capped():
        return
    embedder = keeper.intake.stores.minds.embedder
    spaces = {place.space_of(each.first) for each in exchanges}
    for space in spaces:
        told = [each for each in exchanges if place.space_of(each.first) == space]
        for found in find_worth_keeping(told, embedder, space):
            made = _build_local_finding(place, found)
            for prompt in () if found.by_agent else found.exchange.prompts:
                made = _replace_taken_back(keeper, place, made, prompt)
            keeper.keep(made)
        for exchange in told:
            _keep_corrected(keeper, place, exchange, space)


def _replace_taken_back(
    keeper: Keeper, place: ConversationOrigin, found: IngestFinding, message: str
) -> IngestFinding:
    """Return a finding that takes the place of what the message takes back."""
    said_at = parse_instant(found.created)
    if said_at is None or found.origin is None:
        return found
    session, turn = str(found.origin["session"]), int(str(found.origin["turn"]))
    stores = keeper.intake.stores
    kept = list_kept(stores, found.content, found.space, TAG, said_at)
    over = [
        each.id
        for each in kept
        if each.id != found.id and is_taken_back(each, message, session, turn, found.space)
    ]
    return replace(found, replaces=tuple(dict.fromkeys((*found.replaces, *over))))


def _keep_corrected(
    keeper: Keeper, place: ConversationOrigin, exchange: Exchange, space: str | None
) -> None:
    """Keep what a memory of an earlier run says with the value that a message gives anew."""
    said_at = parse_instant(exchange.first.at)
    if exchange.off_record or said_at is None:
        return
    session = place.session_of(exchange.first)
    for prompt in exchange.prompts:
        if not begins_correction(prompt):
            continue
        kept = list_kept(keeper.intake.stores, prompt, space, TAG, said_at)
        lead, turn = exchange.lead, exchange.turn
        corrected = correct_kept(kept, prompt, lead, session, turn, space)
        if corrected is None:
            continue
        memory, meant = corrected
        finding = LocalFinding(
            name_space(join_sentences([meant]), memory.space),
            prompt,
            memory.type,
            exchange,
            about_self=ABOUT_SELF in memory.tags,
        )
        keeper.keep(replace(_build_local_finding(place, finding), replaces=(memory.id,)))


def _build_local_finding(place: ConversationOrigin, found: LocalFinding) -> IngestFinding:
    exchange, said = found.exchange, found.exchange.first
    speaker = AGENT if found.by_agent else USER
    return IngestFinding(
        content=found.text,
        key=finding_key("local", place.session_of(said), said.place, found.quote),
        source=place.source,
        type=found.type,
        space=None if found.about_self else place.space_for(said, found.text),
        about_self=found.about_self,
        confidence=AGENT_CONFIDENCE if found.by_agent else LOCAL_CONFIDENCE,
        tags=(TAG, EXTRACTED_TAG, *place.tags),
        created=format_created(said.at),
        origin=_build_origin(place, said, exchange.turn, speaker, exchange),
        put_anew=True,
    )


# -- with a language model -----------------------------------------------------------------


class _ExtractedFindings(NamedTuple):
    """What a model found in exchanges, and those of which it told nothing one can believe."""

    found: list[IngestFinding]
    unproven: list[ExchangeText]


def _extract_findings(
    keeper: Keeper, place: ConversationOrigin, exchanges: Sequence[ExchangeText]
) -> _ExtractedFindings | None:
    """Return what a model finds; nothing where there is none or it gave no usable answer."""
    spoken = [
        (each, ExtractionSource(speaker, text))
        for each in exchanges
        for speaker, text in ((USER, each.asked), (AGENT, each.replied))
        if text
    ]
    given = keeper.extract([told for _, told in spoken])
    if given is None:
        return None
    seen = Counter[tuple[int, str]]()
    found = []
    for each in given.found:
        seen[each.number, each.quote] += 1
        exchange, told = spoken[each.number]
        which = seen[each.number, each.quote]
        found.append(_build_finding(place, (exchange.exchange, told), each, which))
    doubted = [spoken[each][0] for each in sorted(given.unproven)]
    proven = [spoken[each.number][0] for each in given.found]
    return _ExtractedFindings(
        found, [each for each in exchanges if each in doubted and each not in proven]
    )


def _build_finding(
    place: ConversationOrigin,
    spoken: tuple[Exchange, ExtractionSource],
    candidate: MemoryCandidate,
    which: int,
) -> IngestFinding:
    """Return one finding, the how-manyeth that its quote proves: found again in other words it
    is the same."""
    exchange, speaker = spoken[0], spoken[1].speaker
    said, by_person = exchange.first, speaker == USER
    about_self = candidate.about_self and by_person
    most = CONFIDENCE if by_person else AGENT_CONFIDENCE
    more = [str(which)] if which > 1 else []
    return IngestFinding(
        content=candidate.content,
        key=finding_key("extract", place.session_of(said), said.place, candidate.quote, *more),
        source=place.source,
        type=candidate.type,
        title=candidate.title or None,
        space=None if about_self else place.space_for(said, candidate.content),
        about_self=about_self,
        confidence=min(candidate.confidence, most),
        tags=(TAG, EXTRACTED_TAG, *candidate.tags, *place.tags),
        created=format_created(said.at),
        origin=_build_origin(place, said, exchange.turn, speaker, exchange),
        put_anew=True,
    )


# -- pieces --------------------------------------------------------------------------------


def _build_origin(
    place: ConversationOrigin,
    said: SpokenLine,
    turn: int,
    speaker: str,
    exchange: Exchange | None = None,
) -> dict[str, object]:
    """Return where it was said; of an exchange also which bytes of the file hold it."""
    uri = place.uri
    if uri is not None and exchange is not None:
        uri = f"{uri}#bytes={exchange.start}-{exchange.end}"
    return {"session": place.session_of(said), "turn": turn, "speaker": speaker, "uri": uri}


def format_created(text: str | None) -> str | None:
    """Return the time that a line names, as a memory names it."""
    at = parse_instant(text)
    return None if at is None else format_time(at)


def parse_instant(text: str | None) -> datetime | None:
    """Return the time that a line names; nothing where it is none."""
    try:
        return None if text is None else parse_time("timestamp", text)
    except InvalidValue:
        return None
