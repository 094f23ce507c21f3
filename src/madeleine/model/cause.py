"""Why something is so, as a value: a kind, and the values that a sentence about it is made of.

The core says why a memory is an answer, why nothing is said, what is degraded and why a run
stopped by causes. Doors put them into words; whoever decides does so by the kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason. Its parts are plain JSON values."""

    kind: StrEnum
    parts: Mapping[str, object] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.kind, *self.parts))

    def extended(self, **parts: object) -> Cause:
        """Return the same cause with more parts."""
        return Cause(self.kind, {**self.parts, **parts})

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind.value, **self.parts}


class ReasonKind(StrEnum):
    """Why a memory is an answer."""

    NAMED_BY_ID = "named_by_id"
    """The question has its id."""
    HOLDS_QUOTE = "holds_quote"
    """It holds the words that the question quotes."""
    ABOUT_YOU = "about_you"
    """It is about the person who asks."""
    SHARES_WORDS = "shares_words"
    """It has words of the question; `share` is how much of what the question tells they are."""
    SHARES_COMMON_WORD = "shares_common_word"
    """It has a word of the question that many others have too."""
    KIN = "kin"
    """In place of `asked`, a word of the question, it has `said`, which is, by `link`, an
    `other_name` of it, a `member` of that class, or its `class`."""
    CLOSE_IN_MEANING = "close_in_meaning"
    """`similarity` is the cosine of the two."""
    FAINTLY_CLOSE = "faintly_close"
    """Nothing speaks for it but many small things."""
    SAID_BY_NAMED = "said_by_named"
    """It was said by whom the question names."""
    OF_NAMED_DATE = "of_named_date"
    """It is of the date that the question names."""
    CONVERSATION_FITS = "conversation_fits"
    """The conversation that it is from is about this."""
    FROM_TIME = "from_time"
    """It is from the time asked for, which is `when` in the words of the question."""
    AMONG_NEWEST = "among_newest"
    """The newest are asked for."""
    SPEAKS_OF_DATE = "speaks_of_date"
    """It speaks of `date`, in the words of the question."""
    CONNECTED = "connected"
    """`edge` leads from it to the answer `memory`, or the other way if `incoming`."""
    IN_PLACE_OF = "in_place_of"
    """It superseded `memory`, which fits better and is no longer true."""
    NEWER_OF_TWO = "newer_of_two"
    """It is newer than `memory`, which fits about as well and says something else of the same."""
    STANDING = "standing"
    """It says how things are to be done, and all that does is asked for; mostly in `activity`."""
    TIER = "tier"
    """It is in `tier`."""
    SUPERSEDED = "superseded"
    """It is outdated: `by` took its place."""
    NO_LONGER_TRUE = "no_longer_true"
    """It is outdated since the day `since`."""


class SilenceKind(StrEnum):
    """Why a question got no answer."""

    NO_WORD = "no_word"
    """There is no word in the question."""
    NO_MEMORY = "no_memory"
    """There is no memory yet."""
    ALL_OUTDATED = "all_outdated"
    """Every memory is expired or superseded."""
    FILTERED_OUT = "filtered_out"
    """No memory passes the filter."""
    NOTHING_FROM_TIME = "nothing_from_time"
    """Nothing is from the time asked for, which is `when` in the words of the question."""
    NONE_NEAR_ENOUGH = "none_near_enough"
    """`count` came near. Of the `nearest` the `score` is told, and what it `lacks`: a `score` of
    `needed`, or `words` in common with the question."""
    NOTHING_MATCHES = "nothing_matches"
    """There is nothing like it."""
    ALL_RETIRED = "all_retired"
    """What the question names is retired; `memories` have `memory` and `superseded_by` each."""


class WhisperSilence(StrEnum):
    """Why nothing was whispered."""

    EMPTY_PROMPT = "empty_prompt"
    """The prompt is empty."""
    MACHINE_MADE = "machine_made"
    """A machine made the prompt; `why` says which."""
    PAUSED = "paused"
    """Somebody paused the session."""
    TOO_BUSY = "too_busy"
    """There were too many prompts at once; nothing was looked up."""
    TOO_SHORT = "too_short"
    """The prompt has too few letters."""
    NO_MEMORY = "no_memory"
    """There is no memory yet."""
    ONLY_TALK = "only_talk"
    """The prompt is only conversation."""
    GOES_ON_WITH_NOTHING = "goes_on_with_nothing"
    """The prompt goes on with something, and nothing was said before it."""
    SAME_TOPIC = "same_topic"
    """The last prompts were about the same; `similarity` is the cosine with them."""
    NOT_ASKED_FOR = "not_asked_for"
    """What was found is about the person, and nobody asked for it."""
    NOTHING_FOUND = "nothing_found"
    """The search found nothing; `because` is its own silence."""
    TOO_WEAK = "too_weak"
    """Nothing is relevant enough; `best` is the highest score."""
    BELOW_GATE = "below_gate"
    """Nothing passes the gate; `best` is the highest score."""
    TOLD_BEFORE = "told_before"
    """All of it was whispered before in this session."""
    NO_ROOM = "no_room"
    """There is no room within the settings `whisper.token_budget` and `whisper.max_nodes`."""
    HELD_OUT = "held_out"
    """It was held back to measure whether whispers help."""
    NOT_DELIVERED = "not_delivered"
    """Nobody got to read it; `why` is late, unconfirmed, gone or failed. Only events say so."""


class MissingModel(StrEnum):
    """Why a prompt was looked up without the model."""

    LATE = "late"
    """It would not have answered in time."""
    BUSY = "busy"
    """There were too many prompts at once."""
    DOWN = "down"
    """It does not answer."""


class NoteKind(StrEnum):
    """What is degraded, or was done besides."""

    TEXT_SEARCH_ONLY = "text_search_only"
    """Only words were compared; `why` there is no model."""
    NOTHING_FROM_TIME = "nothing_from_time"
    """Nothing is from `when`, so all times were looked at."""
    NO_ANSWER_FROM_TIME = "no_answer_from_time"
    """Nothing from `when` answers, so all times were looked at."""
    RERANK_TIMED_OUT = "rerank_timed_out"
    """The cross-encoder ran out of time; the rest keep their order."""
    NOT_RERANKED = "not_reranked"
    """The cross-encoder did not answer; `why`."""
    UNREAD = "unread"
    """`count` memories are not read by the model yet, or more, if `at_least`."""
    NOW_READ = "now_read"
    """The model has read `count` memories that it had not."""
    COPY_SEPARATED = "copy_separated"
    """The file at `path`, a copy of the memory `of`, is now `memory`."""
    USE_NOT_NOTED = "use_not_noted"
    """This use was not noted; `why`."""
    RETIRED = "retired"
    """The question names `memory`, which is retired; `superseded_by` took its place, if any did."""
    WITHOUT_VECTOR = "without_vector"
    """It is kept and found by its words only for now; `why`."""
    INDEX_FOLLOWS = "index_follows"
    """It is done, and the index follows later; `why`."""
    CORE_FULL = "core_full"
    """Core was full: `memories` were moved to working."""
    ALREADY_KNOWN = "already_known"
    """The text is known as `memory`; nothing was written."""
    WAITS_FOR_YES = "waits_for_yes"
    """An agent asked to remember `memory`; it is written once a person approves `proposal`."""
    REPLACES = "replaces"
    """It replaces `memories`: its claim does, or whoever wrote it said so."""
    REPLACED_BY = "replaced_by"
    """`memory` claims a newer value and replaces it."""
    RIVAL_LEFT = "rival_left"
    """A memory that claims another value was left as it is; `why`."""
    NEARLY_SHARED = "nearly_shared"
    """It stays in your own `space`, whose name differs from the `shared` one only in spelling."""


class ActivityKind(StrEnum):
    """What happened. `memories` are those that it happened to, an `id` and a `title` each, at most
    a few of the `count`; `reason` is why, in the words of whoever did it."""

    REMEMBERED = "remembered"
    """A memory was written; `replaced` are those that it replaced."""
    REVISED = "revised"
    """A memory says something else."""
    RETIRED = "retired"
    """Memories are no longer true; `successor` took their place, if any did."""
    FORGOTTEN = "forgotten"
    """Memories went to the trash."""
    RESTORED = "restored"
    """A memory came back from the trash."""
    LINKED = "linked"
    """Connections were drawn."""
    UNLINKED = "unlinked"
    """Connections were taken away."""
    MERGED = "merged"
    """`removed` went into `kept`."""
    ARCHIVED = "archived"
    """Memories went to the archive, or were put away."""
    MOVED = "moved"
    """Memories went to the space `space`."""
    DEMOTED = "demoted"
    """Memories left a core tier that was full."""
    CONSOLIDATED = "consolidated"
    """One memory was written for `members` others."""
    SUMMARISED = "summarised"
    """A summary of several memories was written, or written anew."""
    IMPORTED = "imported"
    """Memories were brought in."""
    UNDONE = "undone"
    """`changes` changes were taken back."""
    ASKED = "asked"
    """The question `question` waits as `proposal`."""
    APPROVED = "approved"
    """The question `question` was answered with yes."""
    REJECTED = "rejected"
    """The question `question` was answered with no."""
    WITHDRAWN = "withdrawn"
    """The question `question` went without an answer."""
    CHANGED = "changed"
    """Something else was done; `verb` names it."""


class SpaceKind(StrEnum):
    """Why a folder belongs to a space."""

    MARKER = "marker"
    """The `file` `.madeleine.toml` says so."""
    ALIAS = "alias"
    """The setting `space.aliases` has this `alias`."""
    REMOTE = "remote"
    """Its git repository was cloned from this `url`."""
    REPOSITORY = "repository"
    """It lies in the git repository in this `folder`."""
    KNOWN_NAME = "known_name"
    """This `folder` is called like a space in which there are memories."""
    NO_PROJECT = "no_project"
    """It is in no project: what is said there belongs to no space."""


class HookProblem(StrEnum):
    """What a hook met that is no error."""

    LATE_WHISPER = "late_whisper"
    """A whisper missed its deadline."""
    UNDELIVERED_WHISPER = "undelivered_whisper"
    """A whisper was not delivered."""
    CUT_WHISPER = "cut_whisper"
    """A whisper was longer than hosts take, and was cut."""
