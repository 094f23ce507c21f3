"""Whispers: what was whispered or kept silent for the last prompts, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from madeleine.api.contract.memories import PromptOutcome, ToldMoment
from madeleine.api.contract.page_responses import (
    ConsideredMemory,
    MemoryPrompts,
    TellingPrompt,
    ToldMemory,
    UnwhisperedMemory,
    WhisperDetail,
    WhisperLine,
    WhisperPage,
    WhisperStage,
)
from madeleine.api.contract.requests import PageWhispersQuery, PageWhyNotQuery
from madeleine.api.operation import operation
from madeleine.api.page.brief import build_absence_reason, build_brief, replace_ids_with_titles
from madeleine.api.wording import add_log_sentences, render_parts
from madeleine.errors import NoSuchWhisper, UnknownWord
from madeleine.index.log import EventLog, WhisperEntry
from madeleine.index.search import MemorySearch
from madeleine.model.cause import MissingModel, SilenceKind, WhisperSilence
from madeleine.model.codec import Json
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time
from madeleine.whisper.log import entry_ids, is_about_prompt, is_delivered
from madeleine.whisper.missed import explain_missed, fate_of, iterate_rows
from madeleine.whisper.stages import STAGES
from madeleine.whisper.worth import is_useful, read_thumbs, select_told
from madeleine.write.resolve import get_stored
from madeleine.write.show import find_anywhere
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

DEFAULT_LINES = 40
MAX_LINES = 200
MAX_ENTRIES_READ = 1_000  # entries that one request goes through to find those of one kind
MAX_TELLING = 100  # prompts of one memory
MAX_PROMPT_CHARS = 240
PROMPT_OUTCOMES: tuple[str, ...] = get_args(PromptOutcome)
TOLD_MOMENTS: tuple[ToldMoment, ...] = get_args(ToldMoment)
_WORTHS = {"useful": True, "useless": False, "unknown": None}
_LAST_ID = "\uffff"  # after every id


# -- the list ------------------------------------------------------------------------------


@operation(
    "page_whispers",
    "GET",
    "/ui/data/whispers",
    "the last prompts and what came of each, newest first",
    role=Role.READER,
    query=PageWhispersQuery,
    answer=WhisperPage,
)
def list_whispers(context: HomeContext, call: OperationCall) -> WhisperPage:
    """Return a page of prompts, newest first. `next` is where the following page begins."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_LINES, 1, MAX_LINES)
    wanted, worth, after = reader.text("outcome"), reader.text("worth"), reader.text("after")
    moment = reader.text("moment")
    since, until = reader.time("since"), reader.time("until")
    reader.done()
    if wanted is not None and wanted not in PROMPT_OUTCOMES:
        raise UnknownWord("outcome", wanted, list(PROMPT_OUTCOMES))
    if moment is not None and moment not in TOLD_MOMENTS:
        raise UnknownWord("moment", moment, list(TOLD_MOMENTS))
    if worth is not None and worth not in _WORTHS:
        raise UnknownWord("worth", worth, list(_WORTHS))
    stores = context.stores
    start = _find_entry(stores.log, after) if after else _entry_before(until) if until else None
    narrowed = any(each is not None for each in (wanted, worth, moment))
    seen = stores.log.whispers(MAX_ENTRIES_READ if narrowed else limit, None, start)
    within = [each for each in seen if since is None or each.at >= since]
    passing = [
        each
        for each in within
        if wanted in (None, prompt_outcome(each)) and moment in (None, told_moment(each))
    ]
    if worth is not None:
        passing = _select_worth(stores, passing, _WORTHS[worth])
    found = passing[:limit]
    more = len(found) == limit or (narrowed and len(seen) == MAX_ENTRIES_READ)
    last = found[-1] if len(found) == limit else seen[-1] if seen else None
    return WhisperPage(
        whispers=[build_line(stores.search, each) for each in found],
        next=last.id if last and more and len(within) == len(seen) else None,
        gate=context.whisper_config.injection_gate,
        days=context.whisper_config.log_days,
    )


def _entry_before(until: datetime) -> WhisperEntry:
    """Return the place in the log where everything that came before a moment begins."""
    return WhisperEntry(_LAST_ID, until, None, None, {})


def _select_worth(
    stores: Stores, entries: Sequence[WhisperEntry], worth: bool | None
) -> list[WhisperEntry]:
    """Return the whispers that were useful, of no use, or of which nobody knows."""
    told = [each for each in select_told(entries) if is_about_prompt(each.body)]
    thumbs = read_thumbs(stores, told)
    return [each for each in told if is_useful(each, thumbs) is worth]


def _find_entry(log: EventLog, whisper_id: str) -> WhisperEntry:
    found = log.whisper(whisper_id)
    if found is None:
        raise NoSuchWhisper(whisper_id)
    return found


def prompt_outcome(entry: WhisperEntry) -> PromptOutcome:
    """Return what came of a prompt, in one word."""
    if entry.body.get("held_out"):
        return "held_out"
    if not entry_ids(entry, "injected") and not entry.body.get("text"):
        return "silent"
    if is_delivered(entry.body):
        return "whispered"
    return "late" if entry.body.get("late") else "undelivered"


def told_moment(entry: WhisperEntry) -> ToldMoment:
    """Return when something was told; an entry that does not say so is about a prompt."""
    return next((each for each in TOLD_MOMENTS if each == entry.body.get("moment")), "prompt")


def build_line(search: MemorySearch, entry: WhisperEntry) -> WhisperLine:
    """Return a prompt as a line of the list."""
    body: Mapping[str, Any] = add_log_sentences(entry.body)
    prompt = " ".join(str(body.get("prompt", ""))[: 4 * MAX_PROMPT_CHARS].split())
    return WhisperLine(
        id=entry.id,
        moment=told_moment(entry),
        start=body.get("start"),
        at=format_time(entry.at),
        session=entry.session,
        space=entry.space,
        prompt=prompt if len(prompt) <= MAX_PROMPT_CHARS else f"{prompt[: MAX_PROMPT_CHARS - 1]}…",
        outcome=prompt_outcome(entry),
        told=_build_told_memories(search, entry),
        silence=replace_ids_with_titles(search, str(body["silence"]))
        if body.get("silence")
        else None,
        silence_parts=_build_silence_parts(search, body.get("silence_parts")),
        stage=body.get("stage"),
        best=body.get("best"),
        took_ms=body.get("took_ms"),
        seen=len(entry_ids(entry, "seen")) if body.get("replied") else None,
        without_model=body.get("without_model"),
        without_model_kind=MissingModel(kind) if (kind := body.get("without_model_kind")) else None,
    )


def _build_silence_parts(search: MemorySearch, parts: object) -> Json | None:
    """Return what a silence is made of. Where the search found nothing, its sentence comes along,
    and what the nearest memory is called."""
    if not isinstance(parts, Mapping):
        return None
    because = parts.get("because")
    if not isinstance(because, Mapping):
        return dict(parts)
    nearest = search.memories([str(because.get("nearest"))])
    title = next((each.headline for each in nearest.values()), None)
    text = replace_ids_with_titles(search, render_parts(SilenceKind, because))
    return {**parts, "because": {**because, "title": title, "text": text}}


def _build_told_memories(search: MemorySearch, entry: WhisperEntry) -> list[ToldMemory]:
    """Return the memories that were told, by what they were called then; what a brief told, of
    which only ids are kept, by what they are called now."""
    told = entry_ids(entry, "injected")
    every: Iterable[Mapping[str, Any]] = (row for _, row in iterate_rows(entry.body))
    titles = {row["memory"]: row.get("title") for row in every if row.get("memory") in told}
    unnamed = [each for each in told if each not in titles]
    titles |= {id: known.headline for id, known in search.memories(unnamed).items()}
    return [ToldMemory(id=each, title=titles.get(each)) for each in dict.fromkeys(told)]


# -- one of them ---------------------------------------------------------------------------


@operation(
    "page_whisper",
    "GET",
    "/ui/data/whispers/{id}",
    "one prompt with its stages and every memory that was considered for it",
    role=Role.READER,
    answer=WhisperDetail,
)
def show_whisper(context: HomeContext, call: OperationCall) -> WhisperDetail:
    """Return one prompt whole: its stages, and every memory that was considered."""
    RequestReader(call.query).done()
    stores, config = context.stores, context.whisper_config
    entry = _find_entry(stores.log, call.path_id)
    rows = [row for _, row in iterate_rows(add_log_sentences(entry.body))]
    ids = list(dict.fromkeys(str(row.get("memory")) for row in rows))
    known, now = stores.search.memories(ids), stores.clock.now()
    said, body = _read_feedback(stores.log, ids, entry), cast("Mapping[str, Any]", entry.body)
    return WhisperDetail(
        **{**vars(build_line(stores.search, entry)), "prompt": body.get("prompt", "")},
        intents=body.get("intents", []),
        among=body.get("among", []),
        gate=config.injection_gate,
        floor=config.min_relevance_score,
        stages=_build_stages(entry),
        memories=[
            ConsideredMemory(
                **_considered_fields(entry, row, said),
                brief=build_brief(known[memory], now)
                if (memory := str(row["memory"])) in known
                else None,
            )
            for row in _sort_best_first(entry, rows)
        ],
        text=body.get("text"),
        tokens=body.get("tokens"),
    )


def _build_stages(entry: WhisperEntry) -> list[WhisperStage]:
    """Return the stages in their order, each with whether the prompt passed it; what is told at
    another moment passes none."""
    names = [name for name, _ in STAGES] if is_about_prompt(entry.body) else []
    ended = str(entry.body.get("stage"))
    at = names.index(ended) if ended in names else len(names)
    body = entry.body
    silent = bool(body.get("silence_parts") or body.get("silence")) and not body.get("held_out")
    states: list[Literal["passed", "decided", "not_reached"]] = ["passed"] * at
    states += ["decided" if silent else "passed"]
    states += ["not_reached"] * (len(names) - len(states))
    held = [str(row.get("held")) for _, row in iterate_rows(entry.body)]
    return [
        WhisperStage(name=name, state=state, held=held.count(name))
        for name, state in zip(names, states[: len(names)], strict=True)
    ]


def _sort_best_first(
    entry: WhisperEntry, rows: Sequence[Mapping[str, object]]
) -> list[Mapping[str, object]]:
    told = entry_ids(entry, "injected")
    return sorted(
        rows, key=lambda row: (row.get("memory") not in told, -_read_number(row, "score"))
    )


def _considered_fields(
    entry: WhisperEntry, row: Mapping[str, Any], said: Mapping[str, int]
) -> dict[str, Any]:
    memory = str(row.get("memory"))
    numbers = ("score", "worth", "chance", "words", "meaning", "affinity")
    restated = entry.body.get("restated")
    return {
        "id": memory,
        "title": row.get("title"),
        **{name: row.get(name) for name in numbers},
        "reasons": row.get("reasons", []),
        "reasons_parts": row.get("reasons_parts"),
        "fate": fate_of(entry.body, memory).value,
        "held": row.get("held"),
        "said_by": restated.get(memory) if isinstance(restated, Mapping) else None,
        "seen": memory in entry_ids(entry, "seen"),
        "feedback": said.get(memory) or None,
    }


def _read_feedback(log: EventLog, ids: Sequence[str], entry: WhisperEntry) -> dict[str, int]:
    """Return the newest word about each memory of this whisper: 1, -1, or 0 if taken back."""
    told = log.feedback(ids) if ids else []
    about = [each for each in told if each.body.get("whisper") == entry.id]
    return {str(each.body["memory"]): _feedback_sign(each.body) for each in reversed(about)}


def _feedback_sign(body: Mapping[str, object]) -> int:
    value = _read_number(body, "signal")
    return (value > 0) - (value < 0)


def _read_number(values: Mapping[str, object], name: str) -> float:
    value = values.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


# -- the prompts of a memory ---------------------------------------------------------------


@operation(
    "page_memory_prompts",
    "GET",
    "/ui/data/memory/{id}/prompts",
    "the prompts for which a memory was whispered, newest first",
    role=Role.READER,
    answer=MemoryPrompts,
)
def list_memory_prompts(context: HomeContext, call: OperationCall) -> MemoryPrompts:
    """Return the prompts for which a memory was whispered, as far as the log reaches; also of one
    in the trash."""
    RequestReader(call.query).done()
    stores = context.stores
    memory = find_anywhere(stores, call.path_id)[0].memory.id
    told = _find_telling(stores.log, memory)
    oldest = stores.clock.now() - timedelta(days=context.whisper_config.log_days)
    uses = stores.log.uses([memory]).get(memory, [])
    return MemoryPrompts(
        prompts=[_build_telling_prompt(stores, each, memory) for each in told],
        days=context.whisper_config.log_days,
        older=sum(each.is_whisper and each.at < oldest for each in uses),
    )


def _find_telling(log: EventLog, memory: str) -> list[WhisperEntry]:
    """Return the newest entries by which the memory was told; in others that name it, it was only
    considered."""
    found: list[WhisperEntry] = []
    last: WhisperEntry | None = None
    read = 0
    while len(found) < MAX_TELLING and read < MAX_ENTRIES_READ:
        page = log.whispers(MAX_LINES, None, last, memory)
        found += [each for each in select_told(page) if memory in entry_ids(each, "injected")]
        if len(page) < MAX_LINES:
            break
        read, last = read + len(page), page[-1]
    return found[:MAX_TELLING]


def _build_telling_prompt(stores: Stores, entry: WhisperEntry, memory: str) -> TellingPrompt:
    rows = [row for _, row in iterate_rows(entry.body) if row.get("memory") == memory]
    score = rows[0].get("score") if rows else None
    said = _read_feedback(stores.log, [memory], entry).get(memory, 0)
    return TellingPrompt(
        prompt=build_line(stores.search, entry),
        score=float(score) if isinstance(score, int | float) else None,
        seen=memory in entry_ids(entry, "seen"),
        feedback=1 if said > 0 else -1 if said < 0 else None,
    )


@operation(
    "page_why_not",
    "GET",
    "/ui/data/whispers/{id}/why_not",
    "why a memory was not whispered for a prompt",
    role=Role.READER,
    query=PageWhyNotQuery,
    answer=UnwhisperedMemory,
)
def show_missed(context: HomeContext, call: OperationCall) -> UnwhisperedMemory:
    """Say why a memory was not whispered for a prompt."""
    reader = RequestReader(call.query)
    wanted = reader.required_text("memory")
    reader.done()
    stores = context.stores
    entry = _find_entry(stores.log, call.path_id)
    memory = get_stored(stores, wanted).memory
    found = explain_missed(stores, context.whisper_config, entry, memory)
    text = found.text
    if found.silence is not None:
        text = f"Nothing was looked for: {render_parts(WhisperSilence, found.silence)}."
    row = next((row for _, row in iterate_rows(entry.body) if row.get("memory") == memory.id), None)
    return UnwhisperedMemory(
        memory=build_brief(memory, stores.clock.now()),
        text=replace_ids_with_titles(stores.search, text),
        absent=build_absence_reason(found.absent),
        fate=found.fate.value,
        stage=found.stage,
        score=_read_number(row, "score") if row and row.get("score") is not None else None,
        gate=context.whisper_config.injection_gate,
    )


def read_took_ms(entry: WhisperEntry) -> float | None:
    """Return how long a prompt took, in milliseconds, if that was noted."""
    found = entry.body.get("took_ms")
    return found if isinstance(found, int | float) else None


def sorted_latencies(entries: Iterable[WhisperEntry]) -> list[float]:
    """Return how long the prompts took, in milliseconds, shortest first."""
    return sorted(_read_number(each.body, "took_ms") for each in entries)
