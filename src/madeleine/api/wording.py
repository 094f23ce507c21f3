"""Sentences for causes: why a memory is an answer, why there is none, and what is degraded.

The core says it by kinds and parts (`model/cause.py`). These are the English sentences of all the
doors; whoever speaks another language writes this module anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from madeleine.model.cause import (
    ActivityKind,
    Cause,
    NoteKind,
    ReasonKind,
    SilenceKind,
    SpaceKind,
    WhisperSilence,
)
from madeleine.model.codec import Json
from madeleine.model.memory import SHORT_ID_LENGTH
from madeleine.whisper.delivery import LOSSES, Loss
from madeleine.whisper.missed import CONSIDERED

TIME_PREPOSITIONS = ("since", "from", "before", "until", "after", "between")
MAX_NAMED = 3  # replaced memories; of more it is enough to say how many

SentenceTemplate = str | Callable[[Mapping[str, Any]], str]


def render_cause(cause: Cause) -> str:
    """Return a cause in a sentence."""
    words = SENTENCES[type(cause.kind)][cause.kind]
    return words if isinstance(words, str) else words(cause.parts)


def render_causes(causes: Iterable[Cause]) -> tuple[str, ...]:
    """Return causes in sentences."""
    return tuple(render_cause(each) for each in causes)


def causes_to_fields(name: str, causes: Iterable[Cause]) -> dict[str, Any]:
    """Return the fields of an answer that have sentences, and what each is made of."""
    told = tuple(causes)
    return {name: render_causes(told), f"{name}_parts": tuple(each.to_json() for each in told)}


def cause_to_fields(name: str, cause: Cause | None) -> dict[str, Any]:
    """Return the fields of an answer that have a sentence, and what it is made of."""
    if cause is None:
        return {name: None, f"{name}_parts": None}
    return {name: render_cause(cause), f"{name}_parts": cause.to_json()}


def add_log_sentences(body: Mapping[str, object]) -> Json:
    """Return what the log keeps of a prompt, with its sentences. An entry of an earlier release
    has them and no parts."""
    told = add_silence_sentence(body)
    for name in CONSIDERED:
        if isinstance(rows := body.get(name), list):
            told[name] = [_add_reason_sentences(each) for each in rows]
    return told


def add_silence_sentence(body: Mapping[str, object]) -> Json:
    """Return values of which one may be the silence of a whisper, with its sentence."""
    if "silence_parts" not in body:
        return dict(body)
    parts = body["silence_parts"]
    silence = render_parts(WhisperSilence, parts) if isinstance(parts, Mapping) else None
    return {**body, "silence": silence}


def _add_reason_sentences(row: Mapping[str, object]) -> Json:
    parts = row.get("reasons_parts")
    if not isinstance(parts, list):
        return dict(row)
    return {**row, "reasons": [render_parts(ReasonKind, each) for each in parts]}


def render_parts(kinds: type[StrEnum], parts: Mapping[str, object]) -> str:
    """Return the sentence about a cause as it was written down; of a kind that only a later
    release knows, its name."""
    kind = str(parts.get("kind"))
    return render_cause(Cause(kinds(kind), parts)) if kind in {*kinds} else kind.replace("_", " ")


def _render_nothing_found(parts: Mapping[str, Any]) -> str:
    because = parts["because"]
    if because is None:
        return "nothing was found"
    return f"nothing was found: {render_parts(SilenceKind, because)}"


def _shorten_id(memory_id: str) -> str:
    return memory_id[:SHORT_ID_LENGTH]


def _render_memory_count(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


def _render_from_time(when: str) -> str:
    """Return `from yesterday`, but `since Monday`."""
    return when if when.split(" ", 1)[0] in TIME_PREPOSITIONS else f"from {when}"


def _render_connected(parts: Mapping[str, Any]) -> str:
    edge, other = parts["edge"].replace("_", " "), _shorten_id(parts["memory"])
    return f"{other} {edge} it" if parts["incoming"] else f"{edge} {other}"


def _render_kin(parts: Mapping[str, Any]) -> str:
    asked, said = parts["asked"], parts["said"]
    match parts["link"]:
        case "member":
            return f"`{asked}`: {said} is one"
        case "class":
            return f"`{asked}`: belongs to {said}"
        case _:
            return f"`{asked}`: also called {said}"


def _render_none_near_enough(parts: Mapping[str, Any]) -> str:
    said = f"{parts['count']} came near, none near enough"
    if "nearest" not in parts:
        return said
    best, score = f"the nearest, {_shorten_id(parts['nearest'])},", parts["score"]
    if parts["lacks"] == "score":
        needed = f"({score} where {parts['needed']:g} is needed)"
        return f"{said}: {best} is not near enough {needed}"
    return f"{said}: {best} has no word in common with the question ({score} is its score)"


def _render_retired(parts: Mapping[str, Any]) -> str:
    newer = parts["superseded_by"]
    replaced = f", {_shorten_id(newer)} took its place" if newer else ""
    return f"{_shorten_id(parts['memory'])} is retired{replaced}; ask with outdated to see it"


def _render_unread(parts: Mapping[str, Any]) -> str:
    count = parts["count"]
    said = (
        f"more than {_render_memory_count(count)}"
        if parts["at_least"]
        else _render_memory_count(count)
    )
    verb = "is" if count == 1 and not parts["at_least"] else "are"
    return f"{said} {verb} not read by the model yet; run `madeleine reconcile`"


def _render_replaces(parts: Mapping[str, Any]) -> str:
    memories = parts["memories"]
    named = ", ".join(f"`{_shorten_id(each)}`" for each in memories[-MAX_NAMED:])
    more = len(memories) - MAX_NAMED
    return f"replaces {named}" + (f" and {more:,} more" if more > 0 else "")


_REASON_SENTENCES: Mapping[ReasonKind, SentenceTemplate] = {
    ReasonKind.NAMED_BY_ID: "named by its id",
    ReasonKind.HOLDS_QUOTE: "holds the quoted words",
    ReasonKind.ABOUT_YOU: "about you",
    ReasonKind.SHARES_WORDS: lambda parts: f"shares words ({parts['share']:.2f})",
    ReasonKind.SHARES_COMMON_WORD: "shares a common word",
    ReasonKind.KIN: _render_kin,
    ReasonKind.CLOSE_IN_MEANING: lambda parts: f"close in meaning ({parts['similarity']:.2f})",
    ReasonKind.FAINTLY_CLOSE: "faintly close in meaning",
    ReasonKind.SAID_BY_NAMED: "said by whom you name",
    ReasonKind.OF_NAMED_DATE: "of the date you name",
    ReasonKind.CONVERSATION_FITS: "its conversation is about this",
    ReasonKind.FROM_TIME: lambda parts: _render_from_time(parts["when"]),
    ReasonKind.AMONG_NEWEST: "among the newest",
    ReasonKind.SPEAKS_OF_DATE: lambda parts: f"speaks of {parts['date']}",
    ReasonKind.CONNECTED: _render_connected,
    ReasonKind.IN_PLACE_OF: lambda parts: f"in the place of {_shorten_id(parts['memory'])}",
    ReasonKind.NEWER_OF_TWO: lambda parts: f"newer than {_shorten_id(parts['memory'])}",
    ReasonKind.STANDING: lambda parts: f"says how things are done: {parts['activity']}",
    ReasonKind.TIER: lambda parts: f"{parts['tier']} tier",
    ReasonKind.SUPERSEDED: lambda parts: f"superseded by {_shorten_id(parts['by'])}",
    ReasonKind.NO_LONGER_TRUE: lambda parts: f"no longer true since {parts['since']}",
}
_SILENCE_SENTENCES: Mapping[SilenceKind, SentenceTemplate] = {
    SilenceKind.NO_WORD: "there is no word in the question",
    SilenceKind.NO_MEMORY: "no memory yet",
    SilenceKind.ALL_OUTDATED: "every memory is expired or superseded",
    SilenceKind.FILTERED_OUT: "no memory passes the filter",
    SilenceKind.NOTHING_FROM_TIME: lambda parts: (
        f"there is nothing {_render_from_time(parts['when'])}"
    ),
    SilenceKind.NONE_NEAR_ENOUGH: _render_none_near_enough,
    SilenceKind.NOTHING_MATCHES: "nothing matches",
    SilenceKind.ALL_RETIRED: lambda parts: ", ".join(
        _render_retired(each) for each in parts["memories"]
    ),
}
_WHISPER_SILENCE_SENTENCES: Mapping[WhisperSilence, SentenceTemplate] = {
    WhisperSilence.EMPTY_PROMPT: "the prompt is empty",
    WhisperSilence.MACHINE_MADE: lambda parts: f"a machine made the prompt: {parts['why']}",
    WhisperSilence.PAUSED: "the session is paused; `madeleine pause --resume` ends that",
    WhisperSilence.TOO_BUSY: "there were too many prompts at once, so nothing was looked up",
    WhisperSilence.TOO_SHORT: "the prompt is too short",
    WhisperSilence.NO_MEMORY: "there is no memory yet",
    WhisperSilence.ONLY_TALK: "the prompt is only conversation",
    WhisperSilence.GOES_ON_WITH_NOTHING: (
        "the prompt goes on with something, and nothing was said before it"
    ),
    WhisperSilence.SAME_TOPIC: lambda parts: f"still the same topic ({parts['similarity']:.2f})",
    WhisperSilence.NOT_ASKED_FOR: "what is known about you was not asked for",
    WhisperSilence.NOTHING_FOUND: _render_nothing_found,
    WhisperSilence.TOO_WEAK: lambda parts: f"nothing is relevant enough (best {parts['best']:.2f})",
    WhisperSilence.BELOW_GATE: lambda parts: f"nothing passes the gate (best {parts['best']:.2f})",
    WhisperSilence.TOLD_BEFORE: "all of it was whispered before in this session",
    WhisperSilence.NO_ROOM: ("there is no room within whisper.token_budget and whisper.max_nodes"),
    WhisperSilence.HELD_OUT: "held back to measure whether whispers help",
    WhisperSilence.NOT_DELIVERED: lambda parts: f"not delivered: {LOSSES[Loss(parts['why'])]}",
}
_NOTE_SENTENCES: Mapping[NoteKind, SentenceTemplate] = {
    NoteKind.TEXT_SEARCH_ONLY: lambda parts: f"text search only: {parts['why']}",
    NoteKind.NOTHING_FROM_TIME: lambda parts: (
        f"there is nothing {_render_from_time(parts['when'])}; looked at all times"
    ),
    NoteKind.NO_ANSWER_FROM_TIME: lambda parts: (
        f"nothing {_render_from_time(parts['when'])} answers; looked at all times"
    ),
    NoteKind.RERANK_TIMED_OUT: "the cross-encoder ran out of time; the rest keep their order",
    NoteKind.NOT_RERANKED: lambda parts: f"not reranked: {parts['why']}",
    NoteKind.UNREAD: _render_unread,
    NoteKind.NOW_READ: lambda parts: (
        f"the model has read {_render_memory_count(parts['count'])} that it had not"
    ),
    NoteKind.COPY_SEPARATED: lambda parts: (
        f"{parts['path']} was a copy of `{parts['of'][:SHORT_ID_LENGTH]}`"
        f" and is a memory of its own now, `{parts['memory'][:SHORT_ID_LENGTH]}`"
    ),
    NoteKind.USE_NOT_NOTED: lambda parts: f"this use was not noted: {parts['why']}",
    NoteKind.RETIRED: _render_retired,
    NoteKind.WITHOUT_VECTOR: lambda parts: (
        f"kept without a vector, found by its words only: {parts['why']}"
    ),
    NoteKind.INDEX_FOLLOWS: lambda parts: str(parts["why"]),
    NoteKind.CORE_FULL: lambda parts: (
        f"core is full: moved {', '.join(map(_shorten_id, parts['memories']))} to working"
    ),
    NoteKind.ALREADY_KNOWN: lambda parts: (
        f"already known as `{_shorten_id(parts['memory'])}`; nothing of this call was written"
    ),
    NoteKind.WAITS_FOR_YES: (
        "it is remembered once the user says yes: on the page, or with `madeleine proposals`"
    ),
    NoteKind.REPLACES: _render_replaces,
    NoteKind.REPLACED_BY: lambda parts: (
        f"`{_shorten_id(parts['memory'])}` claims a newer value and replaces it"
    ),
    NoteKind.RIVAL_LEFT: lambda parts: f"left as it is: {parts['why']}",
    NoteKind.NEARLY_SHARED: lambda parts: (
        f"the space you share is called `{parts['shared']}`; `{parts['space']}` is one of your own"
    ),
}


def _name_memory(memory: Mapping[str, Any]) -> str:
    short = f"`{_shorten_id(memory['id'])}`"
    return f"{short} ({memory['title']})" if memory["title"] else short


def _name_memories(parts: Mapping[str, Any]) -> str:
    """Return `a (A)`, or how many there are and the first of them."""
    named, count = parts["memories"], parts["count"]
    if not named:
        return _render_memory_count(count)
    listed = ", ".join(_name_memory(each) for each in named)
    if count == len(named):
        return listed
    return f"{_render_memory_count(count)}: {listed} …"


def _render_remembered(parts: Mapping[str, Any]) -> str:
    replaced = ", ".join(_name_memory(each) for each in parts.get("replaced", ()))
    return f"remembered {_name_memories(parts)}" + (f" in place of {replaced}" if replaced else "")


def _render_retired_activity(parts: Mapping[str, Any]) -> str:
    newer = parts["successor"]
    replaced = f", replaced by {_name_memory(newer)}" if newer else ""
    return f"retired {_name_memories(parts)}{replaced}"


def _make_activity_template(verb: str, rest: str = "") -> SentenceTemplate:
    return lambda parts: f"{verb} {_name_memories(parts)}{rest}"


def _make_question_template(verb: str) -> SentenceTemplate:
    return lambda parts: f"{verb}: {parts['question']}"


_ACTIVITY_SENTENCES: Mapping[ActivityKind, SentenceTemplate] = {
    ActivityKind.REMEMBERED: _render_remembered,
    ActivityKind.REVISED: _make_activity_template("revised"),
    ActivityKind.RETIRED: _render_retired_activity,
    ActivityKind.FORGOTTEN: _make_activity_template("moved", " to the trash"),
    ActivityKind.RESTORED: _make_activity_template("restored"),
    ActivityKind.LINKED: _make_activity_template("connected"),
    ActivityKind.UNLINKED: _make_activity_template("took a connection from"),
    ActivityKind.MERGED: lambda parts: (
        f"merged {_name_memory(parts['removed'])} into {_name_memory(parts['kept'])}"
    ),
    ActivityKind.ARCHIVED: _make_activity_template("moved", " to the archive"),
    ActivityKind.MOVED: lambda parts: (
        f"moved {_name_memories(parts)} to the space `{parts['space']}`"
    ),
    ActivityKind.DEMOTED: _make_activity_template("moved", " out of core"),
    ActivityKind.CONSOLIDATED: lambda parts: (
        f"wrote {_name_memories(parts)} for {_render_memory_count(parts['members'])}"
    ),
    ActivityKind.SUMMARISED: _make_activity_template("summed up in"),
    ActivityKind.IMPORTED: lambda parts: f"brought in {_render_memory_count(parts['count'])}",
    ActivityKind.UNDONE: lambda parts: (
        f"took back {parts['changes']:,} change{'' if parts['changes'] == 1 else 's'}"
    ),
    ActivityKind.ASKED: _make_question_template("asked"),
    ActivityKind.APPROVED: _make_question_template("approved"),
    ActivityKind.REJECTED: _make_question_template("rejected"),
    ActivityKind.WITHDRAWN: _make_question_template("withdrew the question"),
    ActivityKind.CHANGED: lambda parts: f"{parts['verb']}: {_name_memories(parts)}",
}
_SPACE_SENTENCES: Mapping[SpaceKind, SentenceTemplate] = {
    SpaceKind.MARKER: lambda parts: f"{parts['file']} says so",
    SpaceKind.ALIAS: lambda parts: f"the setting space.aliases says so of {parts['alias']}",
    SpaceKind.REMOTE: lambda parts: f"its repository was cloned from {parts['url']}",
    SpaceKind.REPOSITORY: lambda parts: f"it lies in the repository {parts['folder']}",
    SpaceKind.KNOWN_NAME: lambda parts: (
        f"{parts['folder']} is called like a space that has memories"
    ),
    SpaceKind.NO_PROJECT: "the folder is in no project",
}

SENTENCES: Mapping[type[StrEnum], Mapping[Any, SentenceTemplate]] = {
    ReasonKind: _REASON_SENTENCES,
    SilenceKind: _SILENCE_SENTENCES,
    WhisperSilence: _WHISPER_SILENCE_SENTENCES,
    NoteKind: _NOTE_SENTENCES,
    ActivityKind: _ACTIVITY_SENTENCES,
    SpaceKind: _SPACE_SENTENCES,
}
