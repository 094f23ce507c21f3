"""What is worth keeping of exchanges, found without a language model.

Sentence by sentence: what a person typed is cut into thoughts, corrected values are put in place
(`language/spoken_sentences.py`), and a learnt head says which thoughts are worth keeping and as
what (`worth_head.py`). Those that hang together become one memory. Of what an agent said only the
way that worked after something had failed is kept.

A thought that says little by itself is given what it answers, or how the agent took it up. All
words are words that were said: nothing is put differently, nothing is invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from madeleine.ingest.exchanges import Exchange
from madeleine.ingest.statements import find_statements
from madeleine.ingest.worth_head import judge_worth
from madeleine.language.late_pattern import compile_late
from madeleine.language.off_record import asks_not_to_remember
from madeleine.language.secrets import may_hold_secret, redact_secrets
from madeleine.language.spoken_context import (
    find_recovery,
    list_statements,
    needs_context,
    points_back,
    read_confirmation,
    select_question,
    select_restatement,
)
from madeleine.language.spoken_corrections import (
    correct_earlier,
    ends_earlier_value,
    gives_other_value,
    is_about_value,
    is_correction,
    names_other_kind,
    takes_value_back,
)
from madeleine.language.spoken_sentences import split_spoken
from madeleine.language.stems import telling_stems
from madeleine.minds.port import Embedder
from madeleine.model.vector import Vector
from madeleine.model.words import MemoryType
from madeleine.whisper.prompts import find_machine_author, strip_host_text

MESSAGE_CHARS = 2_500  # what is longer is pasted
SENTENCE_CHARS = 400
JOINED_CHARS = 320  # of sentences that become one memory
LEAST_STEMS = 2  # of what is kept, with what it answers
LEAST_BESIDE = 0.2  # chance of a sentence that stands beside one worth keeping
CORRECTED_WITHIN = 1  # exchanges after which a bare value is no correction any more
SENTENCES_BACK = 24  # kept of earlier exchanges, that a later one may take back
TAKEN_BACK_WITHIN = 12  # exchanges in which somebody may correct what they said


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """A sentence that a person said, and what it was said in answer to."""

    text: str
    exchange: Exchange
    after_failure: bool

    @property
    def lead(self) -> str:
        return self.exchange.lead


@dataclass(frozen=True, slots=True)
class LocalFinding:
    """One thing worth keeping, as a text of its own."""

    text: str
    quote: str
    """The words that were said, without what was put beside them."""
    type: MemoryType
    exchange: Exchange
    by_agent: bool = False
    about_self: bool = False


@dataclass(frozen=True, slots=True)
class _KeptSentence:
    said: SpokenSentence
    place: int
    type: MemoryType
    chance: float


def find_worth_keeping(
    exchanges: Sequence[Exchange], embedder: Embedder | None, space: str | None = None
) -> list[LocalFinding]:
    """Return what is worth keeping of exchanges, in their order. `space` is named in what does
    not name what it is about."""
    meant_by = _settle_later(exchanges)
    kept: list[_KeptSentence] = []
    said: list[str] = []
    for exchange in exchanges:
        more = list(_select_kept(exchange, embedder, meant_by, said[-SENTENCES_BACK:]))
        kept += more
        said += [each.said.text for each in more]
        said += [each.text for prompt in exchange.prompts for each in find_statements(prompt)]
    meant = _drop_taken_back(kept, exchanges)
    found = [
        *(each for exchange in exchanges for each in _find_corrected_answers(exchange, space)),
        *(_build_finding(group, space, embedder) for group in _group_sentences(meant)),
        *(each for exchange in exchanges for each in _find_recoveries(exchange, space)),
    ]
    return [each for each in found if each is not None]


def list_sentences(exchange: Exchange) -> list[SpokenSentence]:
    """Return the sentences of an exchange's prompts that may be worth keeping."""
    if exchange.off_record:
        return []
    found = []
    for prompt in exchange.prompts:
        if find_machine_author(prompt):
            continue
        text = strip_host_text(prompt).replace("\u2019", "'")
        if len(text) > MESSAGE_CHARS:
            continue
        found += [
            SpokenSentence(each, exchange, exchange.after_failure)
            for each in split_spoken(redact_secrets(text).text)
            if len(each) <= SENTENCE_CHARS
        ]
    return found


def seems_worth_keeping(prompt: str) -> bool:
    """Whether something in a prompt is worth keeping, by its signs alone: no model is asked."""
    if asks_not_to_remember(prompt) or find_machine_author(prompt):
        return False
    text = strip_host_text(prompt).replace("\u2019", "'")
    if len(text) > MESSAGE_CHARS:
        return False
    return bool(find_statements(text)) or any(
        judge_worth(each, "", False, None, "").kept for each in split_spoken(text)
    )


def read_vector(embedder: Embedder | None, text: str) -> Vector | None:
    """Return the vector of a sentence, where there is a model."""
    return None if embedder is None else embedder.ask(text).vector


def _settle_later(exchanges: Sequence[Exchange]) -> Mapping[tuple[int, str], str]:
    """Return what sentences are meant as whose value a later message only gives anew, by the
    exchange that they stand in and their words."""
    settled: dict[tuple[int, str], str] = {}
    for place, exchange in enumerate(exchanges):
        before = exchanges[max(place - CORRECTED_WITHIN, 0) : place]
        for prompt in () if exchange.off_record else exchange.prompts:
            said = [each for earlier in before for each in list_sentences(earlier)]
            for each in reversed(said):
                key = (each.exchange.start, each.text)
                said_so_far = settled.get(key, each.text)
                meant = correct_earlier(said_so_far, prompt)
                if meant is not None and is_about_value(exchange.lead, said_so_far):
                    settled[key] = meant
                    break
    return settled


def _find_corrected_answers(exchange: Exchange, space: str | None) -> Iterator[LocalFinding]:
    """Give what an agent asked or said, and a person answered with another value: as the agent
    says it back, else as it was asked, with the value that was meant."""
    question = select_question(redact_secrets(exchange.lead).text)
    if exchange.off_record or exchange.has_private or not question:
        return
    for prompt in exchange.prompts:
        meant = correct_earlier(question, prompt)
        if meant is None or may_hold_secret(meant):
            continue
        value = "".join(re.findall(r"\d+(?:[.,:]\d+)*", prompt)[-1:])
        told = read_confirmation(redact_secrets(exchange.first_reply).text, value)
        text = told or f"{meant.rstrip('?？ ')}? Yes."
        yield LocalFinding(name_space(text, space), prompt.strip(), MemoryType.DECISION, exchange)


def _select_kept(
    exchange: Exchange,
    embedder: Embedder | None,
    meant_by: Mapping[tuple[int, str], str],
    before: Sequence[str],
) -> Iterator[_KeptSentence]:
    """Give the sentences worth keeping. What was said outright is kept already (`statements.py`).
    What takes back something that was kept of earlier exchanges, `before`, is worth as much."""
    outright = {
        _remove_punctuation(each.text)
        for prompt in exchange.prompts
        for each in find_statements(prompt)
    }
    name = "" if embedder is None else embedder.name
    judged = []
    for place, heard in enumerate(list_sentences(exchange)):
        said = replace(heard, text=meant_by.get((exchange.start, heard.text), heard.text))
        if "[redacted" in said.text or may_hold_secret(said.text):
            continue
        if any(
            _remove_punctuation(said.text) in each or each in _remove_punctuation(said.text)
            for each in outright
        ):
            continue
        vector = read_vector(embedder, said.text)
        worth = judge_worth(said.text, said.lead, said.after_failure, vector, name)
        is_kept = worth.kept or _says_correctly(said.text, exchange.prompts, before)
        judged.append((_KeptSentence(said, place, worth.type, worth.chance), is_kept))
    sure = [each.place for each, kept in judged if kept]
    for each, kept in judged:
        beside = each.chance >= LEAST_BESIDE and any(abs(each.place - at) == 1 for at in sure)
        if kept or beside:
            yield each


def _says_correctly(text: str, prompts: Sequence[str], before: Sequence[str]) -> bool:
    """Whether a sentence says what somebody puts in the place of what they said before."""
    return any(
        len(telling_stems(text) & telling_stems(earlier)) >= LEAST_STEMS
        and any(ends_earlier_value(prompt, earlier) for prompt in prompts)
        for earlier in before
    )


def _remove_punctuation(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().lower()


def _drop_taken_back(
    kept: Sequence[_KeptSentence], exchanges: Sequence[Exchange]
) -> list[_KeptSentence]:
    """Leave out what somebody takes back soon after, with the value that they take back."""
    after = {
        exchange.start: exchanges[place + 1 : place + 1 + TAKEN_BACK_WITHIN]
        for place, exchange in enumerate(exchanges)
    }
    return [
        each
        for each in kept
        if not any(
            takes_value_back(prompt, each.said.text)
            for later in after[each.said.exchange.start]
            for prompt in later.prompts
        )
    ]


def _group_sentences(kept: Sequence[_KeptSentence]) -> Iterator[list[_KeptSentence]]:
    """Give those together that were said in one go and hang together."""
    group: list[_KeptSentence] = []
    for each in kept:
        if group and not _belongs_to_group(group, each):
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _belongs_to_group(group: Sequence[_KeptSentence], each: _KeptSentence) -> bool:
    last = group[-1]
    if last.said.exchange is not each.said.exchange or each.place != last.place + 1:
        return False
    size = sum(len(one.said.text) for one in group) + len(each.said.text)
    return size <= JOINED_CHARS and not _BEGINS_ANEW.match(each.said.text)


_BEGINS_ANEW = compile_late(
    r"(?:in (?:the )?future|in general|from now on|for all|generally|grunds[äa]tzlich|in zukunft"
    r"|next"
    r"|künftig|ab jetzt|en el futuro|en general|a partir de ahora|à l'avenir|by the way)\b",
    re.I,
)


def _build_finding(
    group: Sequence[_KeptSentence], space: str | None, embedder: Embedder | None
) -> LocalFinding | None:
    exchange = group[0].said.exchange
    quote = join_sentences([each.said.text for each in group])
    text = _add_context(quote, exchange, embedder)
    if len(telling_stems(text)) < LEAST_STEMS:
        return None
    kind = max(group, key=lambda each: each.chance).type
    about_self = _is_about_self(quote, kind)
    found = LocalFinding(text, quote, kind, exchange, about_self=about_self)
    return found if about_self else replace(found, text=name_space(text, space))


def _add_context(quote: str, exchange: Exchange, embedder: Embedder | None) -> str:
    """Return what was said with how the agent took it up, and with what it answers where it says
    too little by itself."""
    reply = "" if exchange.has_private else redact_secrets(exchange.first_reply).text
    restated = select_restatement(reply, quote)
    if restated and (gives_other_value(restated, quote) or names_other_kind(restated, quote)):
        restated = ""  # what was said back was corrected since
    text = f"{quote} {restated}" if restated else quote
    if not needs_context(quote):
        return text
    answered = _select_answered(quote, redact_secrets(exchange.lead).text, embedder)
    corrects = any(map(is_correction, exchange.prompts)) and not answered.endswith(("?", "？"))
    if corrects or gives_other_value(answered, quote) or names_other_kind(answered, quote):
        return text  # it is what was wrong
    return f"{text} (\u201c{answered}\u201d)" if answered else text


def _select_answered(quote: str, lead: str, embedder: Embedder | None) -> str:
    """Return the sentence of the agent that a short statement answers: its question, or else the
    one that is nearest in meaning."""
    question = select_question(lead)
    told = list_statements(lead)
    if not points_back(quote):  # it says what it is about, and what else was said is beside that
        mine = telling_stems(quote)
        told = [each for each in told if mine & telling_stems(each)]
    if question or not told:
        return question
    if embedder is None:
        return told[-1]
    vector = embedder.ask(quote).vector
    return max(told, key=lambda each: float(embedder.ask(each).vector @ vector))


def _find_recoveries(exchange: Exchange, space: str | None) -> Iterator[LocalFinding]:
    """Give what an agent says that worked, after something had failed."""
    if exchange.off_record or exchange.has_private or not exchange.recovered:
        return
    reply = redact_secrets("\n".join(exchange.replies[-1:])).text
    told = find_recovery(reply)
    if told and not may_hold_secret(told):
        yield LocalFinding(
            name_space(told, space), told, MemoryType.PROCEDURE, exchange, by_agent=True
        )


def join_sentences(sentences: Sequence[str]) -> str:
    """Return sentences as one text, each with a capital and an end."""
    ended = (each if each.endswith((".", "!", "?", "。")) else f"{each}." for each in sentences)
    return " ".join(each[:1].upper() + each[1:] for each in ended)


def name_space(text: str, space: str | None) -> str:
    """Return a text that names what it belongs to."""
    if not space or space.lower() in text.lower():
        return text
    return f"{space}: {text}"


_SELF_TYPES = (MemoryType.PREFERENCE, MemoryType.PERSON, MemoryType.FACT, MemoryType.GOAL)
_SELF = compile_late(r"(?:i|i'm|i've|i'd|my|ich|mein\w*|mir|yo|je|j'|mon|ma)\b", re.I)


def _is_about_self(text: str, kind: MemoryType) -> bool:
    return kind in _SELF_TYPES and _SELF.match(text) is not None
