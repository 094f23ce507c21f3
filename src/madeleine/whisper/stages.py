"""The stages of a whisper: small functions in a row, one value flowing through them.

Each stage takes the state and either passes it on or ends the whisper with a reason (`Silence`).
Their order is the documented one: what is cheap and certain first, the model once, the gate
near the end.

A long prompt mostly holds something pasted, in which a question drowns: if nothing is found for
the whole, what stands before and after it is looked for by itself. So is each part of a prompt that
asks for several things: in the whole, what answers one of them is behind what answers another.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

import numpy as np

from madeleine.language.intent import (
    Intent,
    combine_intents,
    is_only_continuation,
    is_only_talk,
    read_intents,
)
from madeleine.language.overlap import shares_only_light_words
from madeleine.language.person_tables import PRIVATE_ATTRIBUTES
from madeleine.language.prompt_parts import split_prompt
from madeleine.language.self_questions import (
    SelfQuestion,
    asks_about_assistant,
    count_content_words,
    names_code,
    read_owned_attributes,
    read_self_question,
)
from madeleine.language.self_statements import (
    SelfStatement,
    rank_primary,
    read_self_statement,
    select_answers,
)
from madeleine.language.standing_questions import asks_for_standing_notes
from madeleine.language.times import read_times
from madeleine.language.word_hints import asks_for_help, is_instruction
from madeleine.model.cause import Cause, ReasonKind, WhisperSilence
from madeleine.model.embedding import QueryEmbedding
from madeleine.model.memory import Memory
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.spaces import related_spaces
from madeleine.model.vector import Vector
from madeleine.model.words import ABOUT_SELF, EXCHANGE_TAG, SELF_SOURCE, Edge, MemoryType, Tier
from madeleine.recall.candidates import embed_question
from madeleine.recall.explaining import is_outdated
from madeleine.recall.recall import RecallMatch, RecallResult, recall
from madeleine.recall.successors import find_possible_successors
from madeleine.rules.fusion import TIER_BOOST, blend_with_rerank, lift_chance
from madeleine.rules.ranked_merge import merge_ranked
from madeleine.rules.standing_gate import standing_applies, standing_gate
from madeleine.rules.whisper_gate import whisper_worth
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.contradictions import Pair, find_contradictions
from madeleine.whisper.learning import compute_affinities
from madeleine.whisper.memory_need import estimate_need
from madeleine.whisper.prompts import asked_part, find_machine_author
from madeleine.whisper.session import RecentPrompts
from madeleine.whisper.standing_notes import PromptForNotes, StandingNotes, weigh_notes
from madeleine.whisper.values import REPLACED, STANDING, Prompt
from madeleine.write.executor import run_concurrently
from madeleine.write.stores import Stores

LEAST_CHARACTERS = 3  # letters and digits; one of Chinese or Japanese counts for two
IDEOGRAPHS = "\u2e80"  # from here on a character says about as much as a syllable
CENTROID_OF = 3  # prompts whose middle is the topic
ENRICHED_BY = 2  # prompts that a continuation is read with
PROMPT_CHARS = 8_000  # of a prompt that are looked at
TOPICAL_LEAST = 0.10  # of what a prompt's words tell; sharing less says nothing of the topic
NEARLY_AS_LIKELY = 0.8  # of the best chance of those that share words; others need as much
IDENTITY_MOST = 12  # memories taken from the self's connections
IDENTITY_CHANCE = 0.6  # of what describes the asker, when the asker asks about themselves
MATTERS_LEAST = 2  # words that a prompt names something by, for something private to come unasked
PRIMARY_MORE = 0.02  # for each rank of what says who somebody is, when all of it is asked
APPLIES = 0.10  # what a preference gains when something is to be done
APPLIES_FROM = 0.20  # its cosine with the task at least
STANDING_LESS = 0.10  # the gate is lower for what says how things are to be done
STANDING_MOST = 2  # of those that the gate for others would not let through; or in their own places
REPLACED_MOST = 8  # of standing notes that apply, the best, for which a newer one is looked up
LOOK_AGAIN = 0.50  # a worth, the even one, below which the parts of a long prompt are looked for
WEIGHED_BY_PROMPTS = ("kept", "other_kept")  # heads that have learnt what applies to a prompt
CONTRADICTS_FROM = 0.30  # a worth from which what contradicts a told memory is told beside it
COUNTED = ("confidence", "space")  # boosts that make a memory less sure, whatever it says


class Silence(Exception):
    """The whisper ends here: nothing is whispered, for this cause."""

    def __init__(self, kind: WhisperSilence, **parts: object) -> None:
        super().__init__(kind.value)
        self.cause = Cause(kind, parts)


@dataclass(slots=True)
class WhisperCandidate:
    """A memory that may be whispered."""

    memory: Memory
    worth: float
    """How sure it is that saying it does more good than harm; .50 is even. The gate asks for it."""
    score: float
    """The chance that it answers, as recall says it: the one that people see."""
    coverage: float
    near: float
    head: str = "note"
    identity: bool = False
    reasons: tuple[Cause, ...] = ()
    affinity: float = 0.0
    held: str = ""
    """The stage that held it back."""
    successor: Memory | None = None
    """What may have replaced it, as a question that waits asks, or a job suspects."""
    instead_of: Memory | None = None
    """The older memory that it stands in for, because it may have replaced that."""


@dataclass(slots=True)
class WhisperState:
    """A prompt on its way through the stages."""

    prompt: Prompt
    recent: RecentPrompts
    now: datetime
    intents: frozenset[Intent] = frozenset()
    trace: QueryEmbedding | None = None
    query: str = ""
    need: float = 0.0
    """The log odds that the prompt wants anything from a memory."""
    self_question: SelfQuestion | None = None
    """What is asked about the person who types; None: nothing."""
    candidates: list[WhisperCandidate] = field(default_factory=list)
    standing: list[WhisperCandidate] = field(default_factory=list)
    """Standing notes that apply, best first: they have places of their own."""
    weighed: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The numbers by which standing notes were weighed; nothing where they go through the gate for
    all others."""
    refused: list[WhisperCandidate] = field(default_factory=list)
    """Those that a stage held back, best first."""
    passed_over: list[WhisperCandidate] = field(default_factory=list)
    """Those that were good enough, and told before or one too many."""
    restated: dict[str, str] = field(default_factory=dict)
    """Candidates that only say again what a better one says, and which one that is."""
    reviewed: str | None = None
    """The memory that is asked about besides, because it was held back before."""
    questioned: str | None = None
    """The proposal that is asked about besides, because it is about what is told."""
    stage: str = ""
    searched_at: float | None = None
    """When searching began, by the performance counter: the prompt is read by then."""
    model_was_late: bool = False
    too_busy: bool = False
    """Whether the model was not to be asked: there were too many prompts at once."""
    no_model: str = ""
    """Why the model did not read the prompt though there is one; empty if it did."""

    @property
    def vector(self) -> Vector | None:
        return None if self.trace is None else self.trace.vector

    def hold_back(self, keep: Callable[[WhisperCandidate], bool]) -> None:
        """Keep the candidates that pass; remember the others."""
        self.refused += self._partition(keep)

    def pass_over(self, keep: Callable[[WhisperCandidate], bool]) -> None:
        """Keep the candidates that pass. The others were good enough: they are only noted."""
        self.passed_over += self._partition(keep)

    def _partition(self, keep: Callable[[WhisperCandidate], bool]) -> list[WhisperCandidate]:
        """Return those that do not pass, and keep the others."""
        kept: list[WhisperCandidate] = []
        others: list[WhisperCandidate] = []
        for each in self.candidates:
            (kept if keep(each) else others).append(each)
        for each in others:
            each.held = self.stage
        self.candidates = kept
        return others


SharedStores = tuple[str, Stores]
"""A shared space, by its name, and where it is kept."""


@dataclass(frozen=True, slots=True)
class WhisperContext:
    """What stages have at hand: the stores, the config, the examples of each intent, and the
    shared spaces that are asked beside one's own memory."""

    stores: Stores
    config: WhisperConfig
    examples: Mapping[Intent, list[Vector]]
    others: tuple[SharedStores, ...] = ()
    notes: StandingNotes = field(default_factory=StandingNotes)
    """What was read of standing notes before."""

    @property
    def everywhere(self) -> tuple[Stores, ...]:
        """One's own stores, and those of the shared spaces."""
        return (self.stores, *(stores for _, stores in self.others))


Stage = Callable[[WhisperContext, WhisperState], None]


def look_at_the_prompt(context: WhisperContext, state: WhisperState) -> None:
    """End with what nobody asked."""
    text = state.prompt.text
    if not text.strip():
        raise Silence(WhisperSilence.EMPTY_PROMPT)
    if (why := find_machine_author(text)) is not None:
        raise Silence(WhisperSilence.MACHINE_MADE, why=why)
    if _count_characters(text[:PROMPT_CHARS]) < LEAST_CHARACTERS:
        raise Silence(WhisperSilence.TOO_SHORT)
    if not any(each.index.search.extent().memories for each in context.everywhere):
        raise Silence(WhisperSilence.NO_MEMORY)


def _count_characters(text: str) -> int:
    return sum(2 if each >= IDEOGRAPHS else 1 for each in text if each.isalnum())


def detect_intents(context: WhisperContext, state: WhisperState) -> None:
    """Tell what the prompt is for: by its words, and else by its similarity to examples."""
    text = state.prompt.text[:PROMPT_CHARS]
    told = read_intents(text)
    if is_only_talk(told) or _goes_on_with_nothing(state):
        state.query, state.intents = text, told
        return
    going_on = Intent.CONTINUATION in told and bool(state.recent.prompts)
    state.query = _add_recent_prompts(state, text) if going_on else text
    _read_prompt(context, state)
    state.need = 0.0 if going_on else _estimate_need(state)
    similarity = {} if going_on else _intent_similarities(context, state.vector)
    state.intents = combine_intents(told, similarity, context.config.intent_threshold)
    if Intent.IDENTITY not in told:  # a question only like one about the person is none
        state.intents = state.intents - {Intent.IDENTITY} or frozenset({Intent.GENERAL})
    if not going_on and Intent.CONTINUATION in state.intents and state.recent.prompts:
        state.query = _add_recent_prompts(state, text)
        _read_prompt(context, state)


def _read_prompt(context: WhisperContext, state: WhisperState) -> None:
    """Have the model read what is looked for, or keep why it did not."""
    state.trace, notes = embed_question(context.stores, state.query)
    has_model = context.stores.minds.embedder is not None
    state.no_model = str(notes[0].parts["why"]) if notes and has_model else ""


def _estimate_need(state: WhisperState) -> float:
    return estimate_need(state.query, state.vector, state.trace.model if state.trace else "")


def _goes_on_with_nothing(state: WhisperState) -> bool:
    """Whether a prompt asks for more of something, and nothing was said before it."""
    return not state.recent.prompts and is_only_continuation(state.prompt.text)


def _add_recent_prompts(state: WhisperState, text: str) -> str:
    before = [each.text for each in state.recent.prompts[-ENRICHED_BY:]]
    return "\n".join([*before, text])


def _intent_similarities(context: WhisperContext, vector: Vector | None) -> dict[Intent, float]:
    if vector is None:
        return {}
    return {
        intent: max(float(np.dot(each, vector)) for each in vectors)
        for intent, vectors in context.examples.items()
        if vectors
    }


def leave_talk_alone(context: WhisperContext, state: WhisperState) -> None:
    """End with what is only conversation, or a yes to what nobody here has heard."""
    if is_only_talk(state.intents):
        raise Silence(WhisperSilence.ONLY_TALK)
    if _goes_on_with_nothing(state):
        raise Silence(WhisperSilence.GOES_ON_WITH_NOTHING)


def leave_a_running_topic(context: WhisperContext, state: WhisperState) -> None:
    """End when the last prompts were about the same and something was whispered then."""
    before = state.recent.prompts
    vectors = [each.vector for each in before[-CENTROID_OF:] if each.vector is not None]
    if not vectors or state.vector is None or Intent.CONTINUATION in state.intents:
        return
    if not any(each.told for each in before):
        return
    centre = np.mean(vectors, axis=0)
    length = float(np.linalg.norm(centre))
    similarity = float(np.dot(centre, state.vector)) / length if length else 0.0
    if similarity > context.config.topic_shift_threshold:
        raise Silence(WhisperSilence.SAME_TOPIC, similarity=round(similarity, 4))


def search_memories(context: WhisperContext, state: WhisperState) -> None:
    """Recall without counting it as use. What is in the archive is found too, and has to be surer
    than what is at hand (`_weigh_hit`)."""
    state.searched_at = time.perf_counter()
    state.self_question = _find_self_question(state)
    found = _recall_candidates(context, state, state.query, state.trace)
    state.candidates = _build_candidates(context, state, found)
    best = max((each.worth for each in state.candidates), default=0.0)
    part = asked_part(state.prompt.text) if best < LOOK_AGAIN else None
    for each in split_prompt(state.prompt.text) if part is None else [part]:
        more = _build_candidates(context, state, _recall_candidates(context, state, each, None))
        state.candidates = _merge_candidates(state.candidates, more)
    if state.self_question is not None:
        _bring_answers(context, state, state.self_question)
    else:
        _hold_back_the_private(state)
    _bring_standing_notes(context, state)
    if state.candidates or state.standing:
        return
    if state.refused:
        raise Silence(WhisperSilence.NOT_ASKED_FOR)
    else:
        because = found.silence.to_json() if found.silence else None
        raise Silence(WhisperSilence.NOTHING_FOUND, because=because)


def _bring_standing_notes(context: WhisperContext, state: WhisperState) -> None:
    """Bring what says how such a thing is to be done, whether the search found it or not. The
    others of its kind that it found are held back: what applies is weighed here, and only here."""
    text, trace = state.prompt.text[:PROMPT_CHARS], state.trace
    alone = state.intents == {Intent.IDENTITY}
    if trace is None or state.self_question is not None or alone or asks_about_assistant(text):
        return
    if asks_for_standing_notes(text):  # recall has brought them all
        return
    notes = {
        each.id: (stores, each)
        for stores, chosen in _iterate_filters(context, prompt_filter(state.prompt))
        for each in context.notes.read(stores, chosen, trace.model, state.now)
    }
    seen = {each.memory.id: each for each in (*state.candidates, *state.refused)}
    prompt = PromptForNotes(
        text=text,
        vector=trace.vector,
        model=trace.model,
        need=state.need,
        space=state.prompt.space,
        is_follow_up=bool(state.recent.prompts),
        found={key: (each.worth, each.coverage) for key, each in seen.items()},
    )
    weighed = weigh_notes(prompt, [note for _, note in notes.values()])
    if not weighed:
        return
    chances = {key: standing_applies(numbers) for key, numbers in weighed.items()}
    gate = standing_gate(context.config.injection_gate)
    best = [key for key in sorted(chances, key=lambda key: -chances[key]) if chances[key] >= gate]
    missing = [key for key in best if key not in seen]
    found = {key: each.memory for key, each in seen.items()}
    for stores in context.everywhere:
        found |= stores.search.memories([key for key in missing if notes[key][0] is stores])
    told = [
        key
        for key in best
        if key in found
        and not (ABOUT_SELF in found[key].tags and _is_private_here(state, found[key]))
    ]
    newer = _find_successors(context, state, [found[key] for key in told[:REPLACED_MOST]])
    state.standing = [
        _build_standing(found[key], chances[key], seen.get(key), newer.get(key)) for key in told
    ]
    through = {each.memory.id for each in state.standing}
    state.candidates = [each for each in state.candidates if each.memory.id not in through]
    state.refused = [each for each in state.refused if each.memory.id not in through]
    state.hold_back(lambda each: each.memory.id not in chances)
    state.weighed = weighed


def _iterate_filters(context: WhisperContext, chosen: Filter) -> Iterator[tuple[Stores, Filter]]:
    """Give where standing notes are: at home, and in the shared spaces that the filter allows."""
    yield context.stores, chosen
    for space, stores in context.others:
        if not chosen.spaces or space in chosen.spaces:
            yield stores, replace(chosen, spaces=(space,))


def _find_successors(
    context: WhisperContext, state: WhisperState, memories: Sequence[Memory]
) -> dict[str, Memory]:
    """Return what may have replaced which memory. A place knows its own memories only."""
    found: dict[str, Memory] = {}
    for stores, chosen in _iterate_filters(context, prompt_filter(state.prompt)):
        found |= find_possible_successors(stores, memories, chosen, state.now)
    return found


def _build_standing(
    memory: Memory, chance: float, seen: WhisperCandidate | None, newer: Memory | None
) -> WhisperCandidate:
    return WhisperCandidate(
        memory=memory,
        worth=chance,
        score=max(chance, seen.score if seen else 0.0),
        coverage=seen.coverage if seen else 0.0,
        near=seen.near if seen else 0.0,
        head=STANDING,
        reasons=seen.reasons if seen else (),
        successor=newer,
    )


def _find_self_question(state: WhisperState) -> SelfQuestion | None:
    """Return what the prompt asks about the person. `what else?` asks what the prompt before it
    asked."""
    question = read_self_question(state.prompt.text)
    if question is None and state.recent.prompts and is_only_continuation(state.prompt.text):
        return read_self_question(state.recent.prompts[-1].text)
    return question


def _recall_candidates(
    context: WhisperContext, state: WhisperState, text: str, trace: QueryEmbedding | None
) -> RecallResult:
    """Recall what is at hand and what is archived in one search. An archive may be much larger
    than the rest: where it crowds out what is at hand, that is looked for once more by itself.
    What is about the asker never fades, so somebody archived it: who asks only about themselves is
    not told of it."""
    at_hand, limit = prompt_filter(state.prompt), max(2 * context.config.max_nodes, 12)
    space = state.prompt.space
    query = RecallQuery(  # the gate decides, and a time in a prompt leaves nothing out
        text, limit, at_hand, space, explain=True, all=True, narrows_by_time=False
    )
    if state.intents == {Intent.IDENTITY}:
        return _recall_everywhere(context, state, query, trace)
    enough = None if context.others else limit  # of several places the best are chosen later
    both = replace(query, limit=2 * limit, filter=replace(at_hand, tiers=()), at_hand_limit=enough)
    found = _recall_everywhere(context, state, both, trace)
    offered = [each for each in found.hits if each.memory.tier is not Tier.ARCHIVAL]
    archived = [each for each in found.hits if _may_be_told_from_the_archive(each.memory)]
    if len(found.hits) >= both.limit and len(offered) < limit:
        offered = [*_recall_everywhere(context, state, query, trace).hits]
    return replace(found, hits=(*offered[:limit], *archived[:limit]))


def _may_be_told_from_the_archive(memory: Memory) -> bool:
    """Whether a memory is archived and was worth keeping by itself. What was only said in a
    conversation is archived from the first, word for word: only who asks is shown it."""
    origin, imported = memory.origin, memory.source.startswith("import:")
    in_a_session = origin is not None and origin.session is not None
    is_message = imported and in_a_session and memory.type is MemoryType.EVENT
    return memory.tier is Tier.ARCHIVAL and EXCHANGE_TAG not in memory.tags and not is_message


def _recall_everywhere(
    context: WhisperContext, state: WhisperState, query: RecallQuery, trace: QueryEmbedding | None
) -> RecallResult:
    alone = state.intents == {Intent.IDENTITY}
    asking = partial(recall, touch=False, trace=trace, look_again=not alone)
    found = run_concurrently(
        [partial(asking, stores, each) for stores, each in _iterate_stores(context, query)]
    )
    if len(found) == 1:
        return found[0]
    hits = merge_ranked([each.hits for each in found], lambda hit: hit.score, query.limit)
    return replace(found[0], hits=tuple(hits))


def _iterate_stores(
    context: WhisperContext, query: RecallQuery
) -> Iterator[tuple[Stores, RecallQuery]]:
    """Give where a question is asked: at home, and in the shared spaces that its filter allows."""
    yield context.stores, query
    asked = query.filter.spaces
    for space, stores in context.others:
        if not asked or space in asked:
            yield stores, replace(query, filter=replace(query.filter, spaces=(space,)))


def _build_candidates(
    context: WhisperContext, state: WhisperState, found: RecallResult
) -> list[WhisperCandidate]:
    named = _names_a_speaker(found.hits)
    blend = context.stores.config.reranker.blend
    if state.self_question is None:
        hits = [_without_self_lift(each) for each in found.hits]
    else:
        hits = list(found.hits)
    known = [each for each in hits if each.memory.source != SELF_SOURCE]
    candidates = [_build_candidate(each, named, state.need, blend) for each in known]
    _exchange_worths(candidates)
    return candidates


def _exchange_worths(candidates: list[WhisperCandidate]) -> None:
    """Let the newer of two have the better worth where recall has put it first: there they have
    exchanged their scores, but not the chances that a worth is made of. An older one that may have
    been replaced keeps its own: it is named beside the newer."""
    by_id = {each.memory.id: each for each in candidates}
    for newer in candidates:
        for reason in newer.reasons:
            older = by_id.get(str(reason.parts.get("memory")))
            if reason.kind is not ReasonKind.NEWER_OF_TWO or older is None:
                continue
            if newer.worth < older.worth:
                is_waiting = older.successor is not None and older.successor.id == newer.memory.id
                left = older.worth if is_waiting else newer.worth
                newer.worth, older.worth = older.worth, left


def _without_self_lift(found: RecallMatch) -> RecallMatch:
    """Return a hit as if the person had not spoken of themselves. Recall lifts what is about the
    asker wherever they say `I`, and the self passes on to all that it defines; unasked, that is
    no reason to bring something private."""
    explained = found.explained
    if explained is None or ABOUT_SELF not in found.memory.tags:
        return found
    lifts = dict(explained.lifts)
    lifts.pop(ReasonKind.ABOUT_YOU, None)
    return replace(found, explained=replace(explained, lifts=lifts, inherited=None))


def _merge_candidates(
    some: list[WhisperCandidate], others: list[WhisperCandidate]
) -> list[WhisperCandidate]:
    """Return every memory once, as the search saw it that is surer of it."""
    ranked = sorted([*some, *others], key=lambda each: each.worth)
    return list({each.memory.id: each for each in ranked}.values())


def prompt_filter(prompt: Prompt) -> Filter:
    """Return what is at hand for a prompt: core and working, and inside a space only its own
    memories and those of no space. Whoever says neither space nor folder is told of all."""
    here = related_spaces(prompt.space)
    spaces: tuple[str | None, ...] = (*here, None) if here else ()
    if prompt.space is None and prompt.cwd:  # typed outside of any project
        spaces = (None,)
    return Filter(tiers=(Tier.CORE, Tier.WORKING), spaces=spaces)


def _names_a_speaker(hits: tuple[RecallMatch, ...]) -> bool:
    return any(each.explained and each.explained.feature("any_speaker") for each in hits)


def _build_candidate(
    found: RecallMatch, named: bool, need: float, blend: float
) -> WhisperCandidate:
    head, worth = _weigh_hit(found, named, need, blend)
    return WhisperCandidate(
        memory=found.memory,
        worth=worth,
        score=found.score,
        coverage=float(found.match.get("text", 0.0)),
        near=float(found.match.get("meaning", 0.0)),
        head=head,
        identity=ABOUT_SELF in found.memory.tags,
        reasons=found.reasons,
        successor=_suspected_successor(found),
    )


def _suspected_successor(found: RecallMatch) -> Memory | None:
    newer = found.replaced_by
    return None if newer is None or newer.is_known else newer.memory


def _weigh_hit(found: RecallMatch, named: bool, need: float, blend: float) -> tuple[str, float]:
    """Return by which head a hit was weighed, and what saying it is worth. What a cross-encoder
    says about it, if there is one, counts for `blend` of that. What is archived has the documented
    0.10 less."""
    less = -TIER_BOOST[Tier.ARCHIVAL.value] if found.memory.tier is Tier.ARCHIVAL else 0.0
    explained = found.explained
    if explained is None or explained.head is None or explained.chance is None:
        return "note", max(0.0, whisper_worth("note", found.score, True) - less)
    chance = explained.chance
    for reason, lift in explained.lifts.items():
        # Prompts quote names and messages; that is no question for them.
        if reason != ReasonKind.HOLDS_QUOTE:
            chance = lift_chance(chance, lift)
    if explained.inherited is not None:
        chance = max(chance, explained.inherited)
    worth = whisper_worth(explained.head, chance, named, need)
    if explained.cross_encoder is not None:
        worth = blend_with_rerank(worth, explained.cross_encoder, blend)
    worth *= math.prod(explained.boost(each) for each in COUNTED)
    return explained.head, max(0.0, worth - less)


def _bring_answers(context: WhisperContext, state: WhisperState, question: SelfQuestion) -> None:
    """Keep of what is about the person only what answers, and bring what else does over the
    edges of the self. A question about a time is answered by searching alone."""
    targets = _ids_defined_by_self(context)
    for each in state.candidates:
        each.identity = each.identity or each.memory.id in targets
    known = {each.memory.id for each in state.candidates}
    mine = {each.memory.id: each.memory for each in state.candidates if each.identity}
    by_graph = question.is_definite and Intent.TEMPORAL not in state.intents
    if by_graph:
        search = context.stores.search
        passing = search.select_allowed(
            sorted(targets - known), prompt_filter(state.prompt), state.now
        )
        mine |= search.memories(sorted(passing))
    answers = select_answers(question, {each.id: _statement_of(each) for each in mine.values()})
    state.hold_back(lambda each: not each.identity or each.memory.id in answers)
    if by_graph:
        for each in state.candidates:
            if each.identity:
                sure = _identity_worth(question, each.memory)
                each.worth = sure if question.whole else max(each.worth, sure)
                each.score = max(each.score, IDENTITY_CHANCE)
        brought = [mine[each] for each in answers - known]
        brought.sort(key=lambda each: (-_identity_worth(question, each), -each.importance, each.id))
        state.candidates += [
            WhisperCandidate(
                each, _identity_worth(question, each), IDENTITY_CHANCE, 0.0, 0.0, "note", True
            )
            for each in brought[:IDENTITY_MOST]
        ]


def _hold_back_the_private(state: WhisperState) -> None:
    """Keep back what is about the person where nobody asked for it: where the prompt asks about
    the assistant, and where it names too little for it to be meant. How something is to be done
    may be said when something is to be done. Work on a program brings no private attribute that
    its parts are called like: a phone number field is nobody's number."""
    state.hold_back(lambda each: not (each.identity and _is_private_here(state, each.memory)))


def _is_private_here(state: WhisperState, memory: Memory) -> bool:
    """Whether what a memory says about the person is not for this prompt."""
    text = state.prompt.text[:PROMPT_CHARS]
    if asks_about_assistant(text):
        return True
    if count_content_words(state.query) < MATTERS_LEAST:
        return not (asks_for_help(text) and _is_standing(memory))
    if names_code(text):
        unasked = PRIVATE_ATTRIBUTES - read_owned_attributes(text)
        return bool(_statement_of(memory).aspects & unasked)
    return False


def _identity_worth(question: SelfQuestion, memory: Memory) -> float:
    """Return how sure an answer about the person is. If all is asked for, what says who they
    are comes first."""
    rank = rank_primary(_statement_of(memory)) if question.whole else 0
    chance = IDENTITY_CHANCE + PRIMARY_MORE * rank
    return whisper_worth("note", chance, True) * memory.confidence


def _statement_of(memory: Memory) -> SelfStatement:
    return read_self_statement(
        f"{memory.title or ''}\n{memory.content}",
        preference=memory.type is MemoryType.PREFERENCE,
        goal=memory.type is MemoryType.GOAL,
    )


def _ids_defined_by_self(context: WhisperContext) -> set[str]:
    """Return the memories that the self defines."""
    self_id = context.stores.graph.self_id()
    if self_id is None:
        return set()
    return {
        each.connection.target
        for each in context.stores.graph.edges([self_id])
        if each.source == self_id and each.connection.edge is Edge.DEFINES
    }


def pass_over_the_weak(context: WhisperContext, state: WhisperState) -> None:
    """Drop what is below the floor; a question about a time is treated more kindly."""
    temporal = Intent.TEMPORAL in state.intents
    config = context.config
    floor = config.temporal_min_score if temporal else config.min_relevance_score
    helping = asks_for_help(state.prompt.text[:PROMPT_CHARS])
    for each in state.candidates:
        if helping and _is_standing(each.memory) and each.near >= APPLIES_FROM:
            each.worth = min(1.0, each.worth + APPLIES)
    least = min(floor, config.injection_gate)
    standing = min(least, _standing_gate(context))
    state.hold_back(lambda each: each.worth >= (standing if _is_standing(each.memory) else least))
    if not state.candidates and not state.standing:
        raise Silence(WhisperSilence.TOO_WEAK, best=_best_worth(state.refused))


def _standing_gate(context: WhisperContext) -> float:
    """Return the gate for what need not be what is asked; a gate of 1 lets nothing through."""
    gate = context.config.injection_gate
    return gate if gate >= 1 else max(0.0, gate - STANDING_LESS)


def _is_archived(candidate: WhisperCandidate) -> bool:
    return candidate.memory.tier is Tier.ARCHIVAL


def _is_standing(memory: Memory) -> bool:
    """Whether a memory says how things are to be done."""
    return memory.type is MemoryType.PREFERENCE or is_instruction(memory.content)


def heed_feedback(context: WhisperContext, state: WhisperState) -> None:
    """Let feedback on similar prompts raise or lower what saying a memory is worth."""
    ids = [each.memory.id for each in (*state.candidates, *state.standing)]
    boosts: dict[str, float] = {}
    for stores in context.everywhere:
        boosts |= compute_affinities(stores, context.config, ids, state.vector, state.now)
    for each in (*state.candidates, *state.standing):
        each.affinity = boosts.get(each.memory.id, 0.0)
        each.worth = min(1.0, max(0.0, each.worth + each.affinity))


def ask_for_common_words(context: WhisperContext, state: WhisperState) -> None:
    """If some candidates share words with the prompt that say what it is about, let the others go,
    but for what answers about as likely, what is about the asker, what says how things are to be
    done, and what was weighed by a head that knows how little a shared word can mean."""
    topical = [each for each in state.candidates if _shares_topic(state.query, each)]
    if not topical:
        return
    likely = NEARLY_AS_LIKELY * max(each.score for each in topical)
    state.hold_back(
        lambda each: (
            each in topical
            or each.score >= likely
            or each.identity
            or each.head in ("dialogue", *WEIGHED_BY_PROMPTS)
            or _is_standing(each.memory)
        )
    )


def _shares_topic(prompt: str, candidate: WhisperCandidate) -> bool:
    """Whether a memory holds enough of the prompt's words, and not only such as all texts hold."""
    if candidate.coverage < TOPICAL_LEAST:
        return False
    memory = candidate.memory
    return not shares_only_light_words(prompt, f"{memory.title or ''}\n{memory.content}")


def open_the_gate(context: WhisperContext, state: WhisperState) -> None:
    """Only what is surely worth it gets through. What is from a time that is asked about does
    anyway, but not from the archive."""
    gate = context.config.injection_gate
    ranked = sorted(state.candidates, key=lambda each: -each.worth)
    below = [each for each in ranked if each.worth < gate and _is_standing(each.memory)]
    let_in = [each for each in below[:STANDING_MOST] if each.worth >= _standing_gate(context)]
    if Intent.TEMPORAL in state.intents:
        let_in += _find_from_time(state)
    state.hold_back(lambda each: each.worth >= gate or each in let_in)
    for each in state.standing:
        if each.worth < standing_gate(gate):
            each.held = state.stage
            state.refused.append(each)
    state.standing = [each for each in state.standing if not each.held]
    if not state.candidates and not state.standing:
        raise Silence(WhisperSilence.BELOW_GATE, best=_best_worth(state.refused))
    _let_in_what_contradicts(context, state)


def _let_in_what_contradicts(context: WhisperContext, state: WhisperState) -> None:
    """Let in what is known to contradict something that got through: of two that do not agree, one
    alone misleads. The better one is ahead of the other, which is why that was held back."""
    weak = [
        each
        for each in state.refused
        if each.held in ("floor", "gate") and each.worth >= CONTRADICTS_FROM
    ]
    if not weak:
        return
    through = {each.memory.id for each in state.candidates}
    pairs = find_contradictions(
        context.everywhere, [each.memory for each in (*state.candidates, *weak)]
    )
    let_in = [each for each in weak if _is_paired(each.memory.id, through, pairs)]
    for each in let_in:
        each.held = ""
    state.candidates += let_in
    state.refused = [each for each in state.refused if each not in let_in]


def _is_paired(memory_id: str, others: Set[str], pairs: Iterable[Pair]) -> bool:
    return any(memory_id in pair and not pair.isdisjoint(others) for pair in pairs)


def _put_successors_first(state: WhisperState) -> None:
    """Tell what may have replaced a memory in its place, and name the older one there. Whether it
    did is being asked, or suspected; what is private comes in the place of nothing else."""
    everything = [*state.candidates, *state.standing]
    known = {each.memory.id: each for each in everything}
    chosen: dict[str, WhisperCandidate] = {}
    for each in everything:
        newest = _follow_successors(each, known, state.now)
        if newest is each.memory:
            chosen.setdefault(each.memory.id, each)
        else:
            chosen[newest.id] = _stand_in(each, newest, known.get(newest.id))
    for each in everything:
        if each.memory.id not in chosen:
            each.held = REPLACED
            state.passed_over.append(each)
    state.candidates = [each for each in chosen.values() if each.head != STANDING]
    state.standing = [each for each in chosen.values() if each.head == STANDING]


def _follow_successors(
    candidate: WhisperCandidate, known: Mapping[str, WhisperCandidate], now: datetime
) -> Memory:
    """Return the last of those that may have replaced a memory, one after the other."""
    at, seen = candidate, {candidate.memory.id}
    while at.successor is not None and at.successor.id not in seen:
        newer = at.successor
        is_private = (ABOUT_SELF in newer.tags) != candidate.identity
        if is_private or newer.superseded_by or is_outdated(newer, Filter(), now):
            break
        seen.add(newer.id)
        at = known.get(newer.id) or replace(candidate, memory=newer, successor=None)
    return at.memory


def _stand_in(
    older: WhisperCandidate, newer: Memory, own: WhisperCandidate | None
) -> WhisperCandidate:
    """Return the newer memory as a candidate, as good as the better of the two."""
    if own is None:
        return replace(older, memory=newer, successor=None, instead_of=older.memory)
    best = max(own.worth, older.worth), max(own.score, older.score)
    return replace(own, worth=best[0], score=best[1], instead_of=older.memory)


def _find_from_time(state: WhisperState) -> list[WhisperCandidate]:
    """Return the candidates from a time that the prompt names."""
    times = read_times(state.prompt.text, state.now)
    return [
        each
        for each in state.candidates
        if not _is_archived(each) and any(span.holds(each.memory.created) for span in times)
    ]


def drop_what_was_told(context: WhisperContext, state: WhisperState) -> None:
    """Say nothing twice in a session, nor what may have been replaced by something newer."""
    _put_successors_first(state)
    state.pass_over(lambda each: each.memory.id not in state.recent.told)
    state.standing = [each for each in state.standing if each.memory.id not in state.recent.told]
    if not state.candidates and not state.standing:
        raise Silence(WhisperSilence.TOLD_BEFORE)


def put_in_order(context: WhisperContext, state: WhisperState) -> None:
    """Best first; what is of a time, newest first."""
    newest = sorted(state.candidates, key=lambda each: each.memory.created, reverse=True)
    ranked = sorted(newest, key=lambda each: -each.worth)
    state.candidates = ranked
    chosen = {each.memory.id for each in ranked[: context.config.max_nodes]}
    state.pass_over(lambda each: each.memory.id in chosen)
    if Intent.TEMPORAL in state.intents:
        state.candidates.sort(key=lambda each: each.memory.created, reverse=True)
    places = min(STANDING_MOST, context.config.max_nodes)
    ranked = sorted(state.standing, key=lambda each: (-each.worth, each.memory.id))
    state.standing = ranked[:places]
    state.passed_over += ranked[places:]
    state.candidates += state.standing


def _best_worth(refused: list[WhisperCandidate]) -> float:
    """Return the best worth of what was too weak; the search holds back what nobody asked for."""
    found = (each.worth for each in refused if each.held != "search")
    return round(max(found, default=0.0), 4)


STAGES: tuple[tuple[str, Stage], ...] = (
    ("prompt", look_at_the_prompt),
    ("intent", detect_intents),
    ("conversation", leave_talk_alone),
    ("topic", leave_a_running_topic),
    ("search", search_memories),
    ("floor", pass_over_the_weak),
    ("affinity", heed_feedback),
    ("overlap", ask_for_common_words),
    ("gate", open_the_gate),
    ("session", drop_what_was_told),
    ("order", put_in_order),
)
"""In the order in which they act."""
