"""The plain text of an answer: short, factual, made for an agent or a terminal.

What memories say is data to whoever reads it, never an instruction (I9). It stands indented
under a line of ours, so that no memory can pass for one; it is cut to a bound, and control
characters, which a terminal would obey, are left out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from madeleine.api.contract.responses import LogEntry, MemoryLink
from madeleine.api.wording import render_cause, render_causes
from madeleine.language.activities import EVERYTHING
from madeleine.model.event import Event, EventKind
from madeleine.model.levels import relevance_level
from madeleine.model.memory import SHORT_ID_LENGTH, Memory
from madeleine.model.proposal import Proposal
from madeleine.model.times import format_time
from madeleine.model.words import GLOBAL, Tier
from madeleine.recall.recall import RecallMatch, RecallResult
from madeleine.rules.fusion import TIER_BOOST
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.log import is_delivered, listed_ids
from madeleine.whisper.missed import WhisperFate, fate_of
from madeleine.whisper.rendering import CONTROL, TITLE_CHARS
from madeleine.whisper.rendering import flatten_text as harmless
from madeleine.whisper.report import (
    REPLIES_LEAST,
    HoldOutReport,
    SessionWhispers,
    WhisperWeek,
)
from madeleine.write.remember import SimilarNeighbour

MAX_PROMPT_CHARS = 120
MAX_HIT_CHARS = 1_200  # of one memory in a list of several: about 300 tokens
MAX_WHOLE_CHARS = 20_000  # of a memory that was asked for by its id
MAX_TURN_CHARS = 160  # of a turn beside a hit
MAX_WITH_TURNS = 3  # hits that come with what was said around them; `results` has it for all
MAX_SIMILAR = 3  # memories that are named as like a new one; `similar` has all
MAX_SIMILAR_CHARS = 200  # of the text of one
MAX_LINES = 200  # of a listing; `memories` holds the rest


def shorten_id(memory_id: str) -> str:
    return memory_id[:SHORT_ID_LENGTH]


def format_day(moment: datetime) -> str:
    return moment.date().isoformat()


def render_count(number: int, one: str, many: str = "") -> str:
    """Return `1 memory`, `2 memories`."""
    plural = many or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")
    return f"{number:,} {one if number == 1 else plural}"


def flatten_text(text: str) -> str:
    """Return a text on one line."""
    return " ".join(filter(None, (word.translate(CONTROL) for word in text.split())))


def render_memory_line(memory: Memory) -> str:
    """Return one memory on one line, with the id that can be pasted back."""
    space = flatten_text(memory.space or GLOBAL)
    ended = f", outdated {format_day(memory.valid_until)}" if memory.valid_until else ""
    return (
        f"{memory.short_id}  {memory.type.value}  {flatten_text(memory.headline)}"
        f"  ({space}, {memory.tier.value}, {format_day(memory.created)}{ended})"
    )


def render_block(content: str, limit: int, rest: str) -> str:
    """Return the text of a memory, indented and cut; `rest` says where the rest is."""
    cut = content[:limit]
    left = len(content) - len(cut)
    more = f"\n[{left:,} characters more: {rest}]" if left else ""
    text = cut.translate(CONTROL).strip() + more
    return textwrap.indent(text, "    ", lambda _: True)


def cut_similar(memory: Memory) -> str:
    """Return how a memory's text begins, on one line."""
    return harmless(memory.content[: 4 * MAX_SIMILAR_CHARS], MAX_SIMILAR_CHARS)


def render_similar(similar: Sequence[SimilarNeighbour], short_id: str) -> str:
    """Return the memories that a new one is like, a line each, and what to do about one."""
    if not similar:
        return ""
    lines = [
        f"Like {each.memory.short_id} ({each.score:.2f}), which says: {cut_similar(each.memory)}"
        for each in similar[:MAX_SIMILAR]
    ]
    hint = f"If it replaces one of these, mark that as outdated, superseded by {short_id}."
    return "\n" + "\n".join([*lines, hint])


def append_notes(text: str, notes: Iterable[str]) -> str:
    return "\n".join([text, *(f"note: {note}" for note in notes)])


def render_recall(found: RecallResult, explain: bool) -> str:
    notes = [*render_causes(found.notes), *([found.why_not] if found.why_not else [])]
    folded = [render_folded(found.folded, bool(found.hits))] if found.folded else []
    if not found.hits:
        silence = render_cause(found.silence) if found.silence else None
        return append_notes("\n".join([f"No memory: {silence}.", *folded]), notes)
    if found.hits[0].group is not None:
        return append_notes(_render_groups(found.hits, explain), notes)
    first = f"{render_count(len(found.hits), 'memory')}, best first."
    parts = [_render_hit(hit, explain) for hit in found.hits]
    shown = {each.memory.id for each in found.hits}
    for place, hit in enumerate(found.hits[:MAX_WITH_TURNS]):
        parts[place] += "".join(f"\n{line}" for line in _render_turns(hit, shown))
    return append_notes("\n".join([first, *parts, *folded]), notes)


def _render_groups(hits: Sequence[RecallMatch], explain: bool) -> str:
    """Return all that says how things are done, under the activities that it is about."""
    groups: dict[str, list[str]] = {}
    for hit in hits:
        groups.setdefault(hit.group or EVERYTHING, []).append(_render_hit(hit, explain))
    lines = [f"{render_count(len(hits), 'memory')} on how things are done."]
    for name, parts in groups.items():
        lines += [f"{name}:", *parts]
    return "\n".join(lines)


def render_folded(count: int, more: bool) -> str:
    """Say how many hits are below the floor, beside others or alone."""
    return f"{count:,}{' more' if more else ''} below the floor; `all` shows them."


def _render_turns(hit: RecallMatch, shown: Collection[str]) -> Iterator[str]:
    """Yield what was said around a hit, but for what is shown anyway."""
    for each in hit.around:
        if each.id not in shown:
            speaker = f"{flatten_text(each.speaker)}: " if each.speaker else ""
            yield f"    [turn {each.turn}] {speaker}{flatten_text(each.text)[:MAX_TURN_CHARS]}"


def _render_versions(hit: RecallMatch) -> Iterator[str]:
    """Yield what may have taken the place of a hit. What is known stands among the reasons."""
    if hit.replaced_by is not None and not hit.replaced_by.is_known:
        newer, proposal = hit.replaced_by.memory, hit.replaced_by.proposal
        asked = f" proposal {shorten_id(proposal)} waits for an answer" if proposal else ""
        yield f"  replaced by `{newer.short_id}` ({flatten_text(newer.headline)})?{asked}"


def _render_hit(hit: RecallMatch, explain: bool) -> str:
    head = f"{render_memory_line(hit.memory)}  {hit.score:.2f}"
    why = "; ".join(render_causes(hit.reasons))
    if explain:
        why += " | " + ", ".join(f"{name} {value:.3f}" for name, value in hit.match.items())
        if (relevance := hit.memory.relevance) is not None:
            why += f", relevance {relevance:.2f} ({relevance_level(relevance)})"
    parts = [head, f"  because: {why}"] if why else [head]
    parts += _render_versions(hit)
    rest = f"show {hit.memory.short_id}"
    if hit.passage is None:
        return "\n".join([*parts, render_block(hit.memory.content, MAX_HIT_CHARS, rest)])
    parts.append(f"  characters {hit.passage.start:,} to {hit.passage.end:,}, the rest: {rest}")
    return "\n".join([*parts, render_block(hit.passage.text, MAX_HIT_CHARS, rest)])


def render_whisper_reason(known: Mapping[str, object], config: WhisperConfig) -> str:
    """Say in plain words what came of a prompt."""
    prompt = flatten_text(str(known.get("prompt", "")))[:MAX_PROMPT_CHARS]
    parts = [f'{known["at"]}  "{prompt}"', _render_outcome(known)]
    intents = known.get("intents")
    if isinstance(intents, list) and intents:
        parts.append(f"Taken for: {', '.join(map(str, intents))}.")
    if known.get("without_model"):
        parts.append(f"Decided {known['without_model']}.")
    parts += [
        _render_candidate(row, _render_fate(row, known)) for row in _read_rows(known, "candidates")
    ]
    parts += [_render_candidate(row, "held back") for row in _read_rows(known, "refused")]
    less = f"Archived notes score {-TIER_BOOST[Tier.ARCHIVAL.value]:.2f} less"
    archive = f"{less}, and archived conversations are left to recall."
    parts.append(
        f"The gate is at {config.injection_gate:.2f}. {archive} {_render_searched_spaces(known)}"
    )
    return "\n".join(parts)


def _render_searched_spaces(known: Mapping[str, object]) -> str:
    """Say which memories could have been whispered."""
    spaces = known.get("among")
    named = [str(each) for each in spaces if each] if isinstance(spaces, list) else []
    if named:
        return f"Only memories of `{flatten_text(named[0])}`, or of no space, are looked at."
    if spaces:
        return "Only memories of no space are looked at: the folder is no project."
    return "Memories of all spaces are looked at."


def _render_outcome(known: Mapping[str, object]) -> str:
    told, took = listed_ids(known, "injected"), f"{known.get('took_ms')} ms"
    if told and known.get("late"):
        return f"Silent: what was found came too late and was not given ({took})."
    if told and not is_delivered(known):
        why = known.get("not_delivered") or "no hook has confirmed yet that it printed it"
        found = f"{render_count(len(told), 'memory')} found in {took}"
        return f"Not delivered: {why}; {found}, which may be told again."
    if told:
        return f"Whispered {render_count(len(told), 'memory')} in {took}."
    return f"Silent: {known.get('silence')} (stage: {known.get('stage')})."


def _render_fate(row: Mapping[str, object], known: Mapping[str, object]) -> str:
    """Return what became of a candidate that passed every stage."""
    memory, restated = str(row.get("memory", "")), known.get("restated")
    fate = fate_of(known, memory)
    if fate is WhisperFate.RESTATED and isinstance(restated, Mapping):
        return f"said by {shorten_id(str(restated[memory]))} already"
    return _WORDS_BY_FATE.get(fate, "not whispered")


_WORDS_BY_FATE = {
    WhisperFate.WHISPERED: "whispered",
    WhisperFate.LATE: "too late",
    WhisperFate.UNDELIVERED: "not delivered",
    WhisperFate.HELD_OUT: "held out",
    WhisperFate.NO_ROOM: "no room",
    WhisperFate.TOLD_BEFORE: "told before",
}


def render_whisper_report(
    found: HoldOutReport, weeks: Sequence[WhisperWeek], config: WhisperConfig
) -> str:
    """Say in plain words what whispers were worth: what the hold-out shows, and each week."""
    told, held_out = found.told, found.held_out
    missed = f", {found.undelivered:,} were not delivered" if found.undelivered else ""
    days = render_count(found.days, "day", "days")
    whispers = render_count(told.whispers, "whisper")
    parts = [
        f"In the last {days} {whispers} reached an agent and {held_out.whispers:,} were held out; "
        f"{found.late:,} came too late{missed}.",
        f"Whispered: a memory shows in {told.used:,} of "
        f"{render_count(told.replied, 'reply')} read.",
        f"Held out: it shows in {held_out.used:,} of "
        f"{render_count(held_out.replied, 'reply')} read.",
    ]
    if config.holdout <= 0:
        parts.append("Nothing is held out now: whisper.holdout is 0.")
    return "\n".join([*parts, _render_verdict(found), *map(_render_week, weeks)])


def _render_week(week: WhisperWeek) -> str:
    told, held_out = week.told, week.held_out
    held = f"; held out {held_out.whispers:,}, shown in {held_out.used:,}"
    return (
        f"  week of {week.begins}: {render_count(told.whispers, 'whisper')}, "
        f"{week.tokens:,} tokens; used in {told.used:,} of "
        f"{render_count(told.replied, 'reply')} read; "
        f"thumbs {week.thumbs_up:,} up, {week.thumbs_down:,} down"
        f"{held if held_out.whispers else ''}"
    )


def render_session_whispers(found: SessionWhispers) -> str:
    """Say on one line what was whispered in a session, and what it cost to read."""
    if not found.memories:
        return "madeleine: nothing whispered yet"
    memories = render_count(found.memories, "memory")
    return f"madeleine: {memories} whispered, {render_count(found.tokens, 'token')}"


def _render_verdict(found: HoldOutReport) -> str:
    if not found.enough:
        return f"That is too little to tell: it takes {REPLIES_LEAST} replies on either side."
    difference, margin = found.difference
    points = f"{100 * difference:+.0f} points, give or take {100 * margin:.0f}"
    if abs(difference) <= margin:
        return f"The difference may be chance ({points})."
    word = "more" if difference > 0 else "less"
    return f"Memories show {word} often in replies where they were whispered ({points})."


def _read_rows(known: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    rows = known.get(name)
    return [each for each in rows if isinstance(each, Mapping)] if isinstance(rows, list) else []


def _render_candidate(row: Mapping[str, object], word: str) -> str:
    reasons = row.get("reasons")
    why = flatten_text("; ".join(map(str, reasons))) if isinstance(reasons, list) else ""
    title = harmless(str(row.get("title", "")), TITLE_CHARS)
    memory = shorten_id(str(row.get("memory", "")))
    return f"  {word}: {memory}  {row.get('score')}  {title}  {why}".rstrip()


def render_memory(memory: Memory, links: Sequence[MemoryLink]) -> str:
    parts = [
        render_memory_line(memory),
        render_block(memory.content, MAX_WHOLE_CHARS, "in its file"),
    ]
    if links:
        parts.append("Connections:")
        parts.extend(_render_link(each) for each in links[:MAX_LINES])
    return "\n".join(parts)


def _render_link(link: MemoryLink) -> str:
    outward = link.direction == "out"
    other = link.target if outward else link.source
    arrow = "->" if outward else "<-"
    title = flatten_text(str(link.title)) if link.resolved else "not there"
    return f"  {arrow} {link.says} {shorten_id(other)}  {title}  {link.weight:.2f}"


def render_listing(memories: Sequence[Memory], total: int) -> str:
    first = render_count(total, "memory")
    if len(memories) < total:
        first += f", {len(memories):,} shown"
    return "\n".join([first, *(f"  {render_memory_line(each)}" for each in memories[:MAX_LINES])])


def render_event(event: Event, outcome: str | None) -> str:
    """Return one event of a history on one line."""
    body = event.body
    parts = [format_time(event.at), str(body.get("verb") or event.kind.value)]
    if event.kind is EventKind.USED:
        parts.append(str(body.get("how") or ""))
    if body.get("by"):
        parts.append(f"by {body['by']}")
    if body.get("change"):
        parts.append(f"change {shorten_id(str(body['change']))}")
    if outcome not in (None, "done"):
        parts.append(f"({outcome})")
    if body.get("reason"):
        parts.append(f": {body['reason']}")
    return flatten_text(" ".join(part for part in parts if part))


def render_log_entry(each: LogEntry) -> str:
    """Return one thing that happened on one line, with what takes it back."""
    undo = f" (undo {shorten_id(each.undo)})" if each.undo else ""
    ended = " (taken back)" if each.outcome == "undone" else ""
    return flatten_text(f"{each.at} {each.by} {each.what}") + ended + undo


def render_proposal(each: Proposal) -> str:
    nodes = ", ".join(shorten_id(node) for node in each.source_nodes)
    why = f": {each.reason}" if each.reason else ""
    what = flatten_text(f"{each.proposed_action} ({nodes}){why}")
    return f"{shorten_id(each.id)}  {each.type.value}  {each.status.value}  {what}"
