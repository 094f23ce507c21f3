"""Exchanges: what a person asked and what the agent answered in the end, in their own words.

An exchange is over when the next prompt comes or the host says so; one that is not is left for
the next run. Of what the agent said only the last words count, after its last use of a tool: the
rest was on the way. Nothing in here is a tool's output.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from madeleine.ingest.transcript_lines import SpokenLine, Voice
from madeleine.language.off_record import asks_not_to_remember, holds_private, takes_back
from madeleine.language.secrets import RedactedText, redact_secrets
from madeleine.model.memory import first_words
from madeleine.whisper.prompts import strip_host_text

ASKED_CHARS = 2_000  # of a prompt; what follows was pasted
REPLY_CHARS = 4_000
LEAST_CHARS = 60  # of both; less says nothing that anybody would look for
TITLE_WORDS = 4  # of a prompt that says what it is about; `go on` does not
LOOKED_CHARS = 50_000
ECHO_CHARS = 800  # a reply that repeats a memory and is no longer than this says nothing new


@dataclass(slots=True)
class Exchange:
    """One exchange, and where in the transcript it stands."""

    first: SpokenLine
    start: int
    """Where its first line begins."""
    end: int
    """Where the last line that belongs to it ends."""
    turn: int
    prompts: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    over: bool = False
    echoes: bool = False
    """Whether the reply repeats a memory that was whispered."""
    off_record: bool = False
    """Whether the person asked that it is not kept."""
    has_private: bool = False
    """Whether something in it is private: what was answered may repeat it."""
    lead: str = ""
    """What the agent said last before it."""
    first_reply: str = ""
    """What the agent said first, perhaps before it went to work: often what it understood."""
    after_failure: bool = False
    """Whether the last thing that a tool did before it had failed."""
    failed: bool = False
    """Whether something that a tool did in it failed."""
    recovered: bool = False
    """Whether it worked in the end."""

    def told(self) -> ExchangeText:
        """Return it as it may be kept: without what hosts put beside it, and without secrets."""
        asked = _clean("\n\n".join(self.prompts), ASKED_CHARS)
        replies = [] if self.has_private else self.replies
        replied = _clean("\n\n".join(replies), REPLY_CHARS)
        return ExchangeText(self, asked.text, replied.text, asked.secrets + replied.secrets)


class ExchangeText(NamedTuple):
    """What an exchange says."""

    exchange: Exchange
    asked: str
    replied: str
    secrets: int

    @property
    def title(self) -> str:
        """The beginning of the prompt, or of the reply to one that says next to nothing."""
        telling = len(self.asked.split()) >= TITLE_WORDS or not self.asked.isascii()
        return first_words(self.asked if telling or not self.replied else self.replied)

    @property
    def text(self) -> str:
        """Both, word for word, so that it is plain who said what."""
        return f"User: {self.asked}" + (f"\n\nAgent: {self.replied}" if self.replied else "")

    def says_something(self) -> bool:
        """Whether it is worth finding again, not our own memory told once more, and nothing that
        the person asked not to keep."""
        if self.exchange.off_record:
            return False
        if self.exchange.echoes and len(self.replied) <= ECHO_CHARS:
            return False
        return bool(self.asked) and len(self.asked) + len(self.replied) >= LEAST_CHARS


def _clean(text: str, most: int) -> RedactedText:
    """Take out secrets, then cut: one that spans the cut is seen whole. Of a pasted log the far
    end is not looked at, nor the word in which that begins."""
    said = strip_host_text(text)
    if len(said) > LOOKED_CHARS:
        said = said[:LOOKED_CHARS].rsplit(None, 1)[0]
    plain = redact_secrets(said)
    return RedactedText(cut_text(plain.text, most), plain.secrets)


class ExchangeBuilder:
    """Puts lines together to exchanges, in their order."""

    def __init__(self) -> None:
        self._open: Exchange | None = None
        self._last_words = ""
        self._last_failed = False

    @property
    def open(self) -> Exchange | None:
        """The one that is not known to be over."""
        return self._open

    def add(self, said: SpokenLine, start: int, end: int, turn: int) -> Exchange | None:
        """Take one line; return the exchange that is over because of it."""
        if said.voice is Voice.TOOL:
            self._note_result(said)
            return None
        if said.voice is Voice.AGENT:
            self._answer(said, end)
            return None
        off_record = asks_not_to_remember(strip_host_text(said.text))
        if said.beside and self._open is not None and not self._open.over:
            self._open.prompts.append(said.text)
            self._open.end = end
            self._open.off_record |= off_record
            self._open.has_private |= holds_private(said.text)
            return None
        before, self._open = self._open, None
        if before is not None and takes_back(strip_host_text(said.text)):
            before.off_record = True
        if said.voice is Voice.PERSON:
            self._open = Exchange(said, start, end, turn, [said.text], off_record=off_record)
            self._open.has_private = holds_private(said.text)
            kept_apart = before is not None and (before.off_record or before.has_private)
            self._open.lead = "" if kept_apart else self._last_words
            self._open.after_failure = self._last_failed
        self._last_words = ""
        return before

    def rest(self, ended: bool) -> Exchange | None:
        """Return the last exchange if it is over; if the session is, it is."""
        if self._open is None or not (self._open.over or ended):
            return None
        last, self._open = self._open, None
        return last

    def _answer(self, said: SpokenLine, end: int) -> None:
        if self._open is None:
            return
        self._open.end = end
        if said.text:
            self._open.first_reply = self._open.first_reply or said.text
            self._open.replies.append(said.text)
            self._last_words = said.text
        if said.acts:
            self._open.replies.clear()
        self._open.over = said.ends or (self._open.over and not said.acts)

    def _note_result(self, said: SpokenLine) -> None:
        self._last_failed = said.failed
        if self._open is not None:
            self._open.recovered = not said.failed and (self._open.recovered or self._open.failed)
            self._open.failed |= said.failed


def cut_text(text: str, most: int) -> str:
    """Return as much of a text as may be kept, cut where a thought ends if it can be."""
    if len(text) <= most:
        return text
    kept = text[:most]
    ends = max(kept.rfind("\n\n"), kept.rfind(". "), kept.rfind("\n"))
    return f"{kept[: ends + 1 if ends > most // 2 else most].rstrip()} …"
