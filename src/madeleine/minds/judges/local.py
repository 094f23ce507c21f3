"""The judge of this machine: what rules are certain of, and for the rest what a network reads.

It is deterministic and asks nobody. First come told changes and texts that say the same in the
same words: there it needs no network. Every other pair of short texts is read
(`relation_reader.py`), some 200 a second and each only once; its chances are calibrated, and rules
bound them where both deny the same or tell the same change, and where a name, a number or a small
word tells apart what reads as the same. Without a reader, and for texts too long for it, it weighs
signs that stand in the texts, thousands of pairs a second (`language/pair_signs.py`). Where it is
not sure it says so, and the jobs make a proposal of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from functools import lru_cache
from itertools import permutations

from madeleine.errors import MindDown
from madeleine.language.changes import ChangeVerdict, judge_change
from madeleine.language.clauses import LIGHT_STEMS, ParsedText, parse_text
from madeleine.language.distinctions import are_told_apart, have_contrary_words
from madeleine.language.extracts import extract_synthesis
from madeleine.language.marks import have_same_marks
from madeleine.language.other_traits import say_other_things_of_one
from madeleine.language.pair_signs import (
    CONFLICT_RELATIONS,
    LEARNT_RELATIONS,
    SURE_AT_MOST,
    JudgeModel,
    PairSide,
    PairSigns,
    is_well_founded,
    max_conflict_confidence,
    may_both_hold,
    measure_signs,
    relation_chances,
    render_reason,
    replaces_without_saying,
)
from madeleine.language.replacements import (
    find_replacement,
    render_replacement,
    tell_same_change,
)
from madeleine.language.restatements import find_added_roots
from madeleine.language.shared_subject import (
    TEXT_CHARS,
    agree_in_denial,
    have_different_subjects,
    is_addition,
    name_different_things,
    name_other_directions,
    say_the_same,
)
from madeleine.language.stated_relations import (
    STATED_CONFIDENCE,
    find_relation_phrases,
    find_stated_relation,
)
from madeleine.language.statements import parse_statement
from madeleine.language.stems import telling_stems
from madeleine.language.subjects import speak_of_others
from madeleine.language.substance import count_denials
from madeleine.language.text_merging import denies_alike
from madeleine.language.word_hints import is_first_person
from madeleine.minds.port import RelationChances, RelationReader
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair, Relation, Synthesis, Verdict

MAX_CACHED_READINGS = 8_192  # texts whose readings are kept; about 8 kB each
STATED_RELATIONS = (Relation.SUPPORTS, Relation.PART_OF, Relation.DEPENDS_ON)
PAIRS_PER_BATCH = 2_048  # pairs weighed in one go
DAY_SECONDS = 86_400.0
CONFIDENCE_BY_CHANGE = {
    ChangeVerdict.OVER: 0.94,
    ChangeVerdict.CHANGED: 0.9,
}  # of a change that the newer text tells
MAX_UNFOUNDED_CONFIDENCE = (
    0.45  # of a conflict that no clause of both texts tells: less likely than not
)
MAX_ELSEWHERE_CONFIDENCE = (
    0.55  # of a duplicate whose texts a name, a number or a small word tells apart
)
MAX_APART_CONFIDENCE = 0.8  # of a conflict where both may well hold: a person decides
NEARLY_EQUAL = 0.97  # similarity of texts that the network, taught on other words, has not learnt
SIMILAR_CONFLICT = 0.6  # in whole stores 5 of 41 conflicts read below it were so, 32 of 40 above
MAX_FAR_CONFIDENCE = 0.55  # of such a conflict: too little to ask about
MAX_OTHER_CONFIDENCE = 0.2  # of a conflict of two notes that say different things of one thing
DENIED_APART = 1  # words beside the denial in which one text may differ from what it denies
READ_SIMILARITY = 0.6  # from which a pair is read whatever words it shares
READ_CHANCE = 0.02  # of being the same or an update, below which a pair less alike is not read
READ_CHANCE_ALIKE = 0.05  # the same for one as alike, unless it is asked how the two hang together
READ_CHANCE_OTHERS = 0.1  # the same for one whose words tell of different things
READ_AS_UPDATE = 0.3  # of a pair by itself, below which what it shares makes it no likely update
READ_AS_CONFLICT = 0.6  # of a pair by itself, from which it is one whatever is said outright
READ_CHARS = 700  # of both texts together: what is not seen whole is not judged by reading


class LocalJudge:
    """Rules, a reader of pairs, signs with their weights, and a few things that neither may
    overrule."""

    cheap = True

    def __init__(self, model: JudgeModel, reader: RelationReader | None = None) -> None:
        by_reading = f"+{reader.name}" if reader else ""
        self.name = f"local:{model.version}{by_reading}"
        self._model = model
        self._reader = reader
        self._problems: Counter[str] = Counter()
        self._read = lru_cache(maxsize=MAX_CACHED_READINGS)(parse_text)
        self._states = lru_cache(maxsize=MAX_CACHED_READINGS)(parse_statement)
        self._turns = lru_cache(maxsize=MAX_CACHED_READINGS)(find_relation_phrases)

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        verdicts: list[Verdict | None] = []
        for start in range(0, len(pairs), PAIRS_PER_BATCH):
            verdicts += self._judge(pairs[start : start + PAIRS_PER_BATCH])
        return verdicts

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        """Return the members' own sentences, each once; never fails, never invents."""
        return extract_synthesis(members) if members else None

    def problems(self) -> dict[str, int]:
        if self._reader is not None:
            self._reader.begin_run()
        found, self._problems = dict(self._problems), Counter()
        return found

    def signs(self, pair: MemoryPair) -> PairSigns:
        """Return the signs of a pair; training asks for them."""
        return measure_signs(
            self._build_side(pair.older), self._build_side(pair.newer), pair.similarity
        )

    def _judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        signs = [self.signs(pair) for pair in pairs]
        said = relation_chances(self._model, [each.row for each in signs]).tolist()
        far = self._find_far_pairs(pairs)
        read = self._read_pairs(pairs, signs, far)
        waiting = {place for place, each in read.items() if each is None}
        if waiting:
            self._problems["pairs that wait to be read in another run"] += len(waiting)
        return [
            None
            if place in waiting
            else self._reach_verdict(
                pair,
                each,
                dict(zip(LEARNT_RELATIONS, row, strict=True)),
                far.get(place) or read.get(place),
                is_far=place in far,
            )
            for place, (pair, each, row) in enumerate(zip(pairs, signs, said, strict=True))
        ]

    def _find_far_pairs(self, pairs: Sequence[MemoryPair]) -> dict[int, RelationChances]:
        """Return the chances of pairs that share so little that they need not be read, by their
        place: a night over many memories would be reading for hours."""
        if self._reader is None:
            return {}
        unread = {
            place: self._reader.weigh_in_store(pair, None)
            for place, pair in enumerate(pairs)
            if pair.shared is not None and (pair.similarity < READ_SIMILARITY or not pair.for_links)
        }
        return {
            place: chance
            for place, chance in unread.items()
            if 1 - chance.get(Relation.NONE, 0.0) < _least_chance_to_read(pairs[place])
        }

    def _read_pairs(
        self, pairs: Sequence[MemoryPair], signs: Sequence[PairSigns], far: Container[int]
    ) -> dict[int, RelationChances | None]:
        """Return what the reader says of the pairs that no rule is certain of, by their place;
        nothing of those that have to wait."""
        if self._reader is None:
            return {}
        texts = {
            place: (_text_to_read(pair.older), _text_to_read(pair.newer))
            for place, (pair, each) in enumerate(zip(pairs, signs, strict=True))
            if place not in far
            and not each.may_merge
            and find_replacement(pair.older.content, pair.newer.content) is None
        }
        short = {place: each for place, each in texts.items() if sum(map(len, each)) <= READ_CHARS}
        try:
            return dict(zip(short, self._reader.read(list(short.values())), strict=True))
        except MindDown as down:
            self._problems[f"pairs were told by signs only: {down.message}"] += 1
            return {}

    def _reach_verdict(
        self,
        pair: MemoryPair,
        signs: PairSigns,
        chance: dict[Relation, float],
        read: RelationChances | None,
        is_far: bool = False,
    ) -> Verdict:
        replacement = find_replacement(pair.older.content, pair.newer.content)
        if replacement is not None:
            sure = max(chance[Relation.EVOLUTION], CONFIDENCE_BY_CHANGE[ChangeVerdict.OVER])
            return Verdict(Relation.EVOLUTION, round(sure, 4), render_replacement(replacement))
        if (
            read is not None
            and not _is_plainly_denied(signs)
            and not _is_read_wrongly(pair, chance, read)
        ):
            if not is_far:
                return self._verdict_by_reading(pair, signs, read)
            if self._find_told_change(pair, signs) not in CONFIDENCE_BY_CHANGE:
                return self._verdict_of_far(pair, signs, read)
        if self._reader is None and speak_of_others(pair.older.content, pair.newer.content):
            reason = render_reason(Relation.NONE, signs, pair.similarity)
            return self._judge_outright(pair) or Verdict(Relation.NONE, 1.0, reason)
        told = self._find_told_change(pair, signs)
        if (
            told in CONFIDENCE_BY_CHANGE
            and not _say_the_same(signs)
            and not _have_other_subjects(signs)
        ):
            return self._build_evolution(
                signs, max(chance[Relation.EVOLUTION], CONFIDENCE_BY_CHANGE[told])
            )
        for each, most in self._at_most(signs, told):
            chance[each] = min(chance[each], most)
        if max(chance[each] for each in CONFLICT_RELATIONS) > MAX_UNFOUNDED_CONFIDENCE:
            for each in _find_unfounded_conflicts(signs):
                chance[each] = min(chance[each], MAX_UNFOUNDED_CONFIDENCE)
        relation = max(LEARNT_RELATIONS, key=lambda each: chance[each])
        if relation is Relation.DUPLICATE and (_are_told_apart(signs) or _have_other_signs(signs)):
            chance[relation] = min(chance[relation], MAX_ELSEWHERE_CONFIDENCE)
        if relation in (Relation.RELATED_TO, Relation.NONE):
            outright = self._judge_outright(pair)
            if outright is not None:
                return outright
        reason = render_reason(relation, signs, pair.similarity)
        return Verdict(relation, round(chance[relation], 4), reason)

    def _verdict_of_far(
        self, pair: MemoryPair, signs: PairSigns, chance: RelationChances
    ) -> Verdict:
        """Return what is said of a pair that was not worth reading: nothing, but what stands in
        it outright."""
        reason = render_reason(Relation.NONE, signs, pair.similarity)
        return self._judge_outright(pair) or Verdict(Relation.NONE, chance[Relation.NONE], reason)

    def _verdict_by_reading(
        self, pair: MemoryPair, signs: PairSigns, read: RelationChances
    ) -> Verdict:
        """Return what reading says, as far as the rules let it be sure. Whether two speak of the
        same thing it sees better than the rules do, which the signs need."""
        chance = dict(read)
        in_store = self._reader is not None and pair.shared is not None
        if self._reader is not None and pair.shared is not None:
            chance = dict(self._reader.weigh_in_store(pair, read))
        if _says_nothing_new(signs):
            same = chance[Relation.DUPLICATE]
            either = same + sum(chance[each] for each in CONFLICT_RELATIONS)
            chance |= dict.fromkeys(CONFLICT_RELATIONS, 0.0)
            chance[Relation.DUPLICATE] = max(same, min(either, SURE_AT_MOST))
        if _say_the_same(signs) or _both_deny(signs):
            for each in CONFLICT_RELATIONS:
                chance[each] = min(chance[each], MAX_UNFOUNDED_CONFIDENCE)
        if _say_other_things(signs):
            for each in CONFLICT_RELATIONS:
                chance[each] = min(chance[each], MAX_OTHER_CONFIDENCE)
        relation = max(chance, key=lambda each: chance[each])
        sure = chance[relation]
        outright = self._judge_outright(pair) if relation in CONFLICT_RELATIONS else None
        if outright is not None and _outweighs(outright, read[relation]):
            return outright
        if relation is Relation.DUPLICATE and signs.number is not None:
            relation = Relation.EVOLUTION  # what reads as the same but for a number
        elif relation is Relation.DUPLICATE:
            sure = max(sure, read[relation])
            sure = min(sure, SURE_AT_MOST) if _may_differ(signs) else sure
        elif in_store and relation is Relation.EVOLUTION:
            unlikely = read[relation] < READ_AS_UPDATE or is_addition(pair.newer.content)
            sure = min(sure, MAX_FAR_CONFIDENCE) if unlikely else sure
        elif relation in CONFLICT_RELATIONS and pair.similarity < SIMILAR_CONFLICT:
            sure = min(sure, MAX_FAR_CONFIDENCE)
        from_older = self._starts_at_older(pair, relation)
        reason = render_reason(relation, signs, pair.similarity)
        return Verdict(relation, round(sure, 4), reason, from_older)

    def _starts_at_older(self, pair: MemoryPair, relation: Relation) -> bool:
        """Whether one of the two says outright that the arrow starts at the older one."""
        said = self._judge_outright(pair) if relation in STATED_RELATIONS else None
        return said is not None and said.relation is relation and said.from_older

    def _find_told_change(self, pair: MemoryPair, signs: PairSigns) -> ChangeVerdict:
        """Return whether the newer text tells that the older one no longer holds."""
        older, newer = signs.readings
        if signs.may_merge or older.stems.isdisjoint(newer.stems):
            return ChangeVerdict.UNKNOWN
        return judge_change(self._states(pair.older.content), self._states(pair.newer.content))

    def _at_most(self, signs: PairSigns, told: ChangeVerdict) -> list[tuple[Relation, float]]:
        """Return how sure some relations may be at most, whatever the weights say."""
        most = max_conflict_confidence(*signs.readings)
        against = [
            (each, most if is_well_founded(each, signs) else min(most, MAX_UNFOUNDED_CONFIDENCE))
            for each in CONFLICT_RELATIONS
        ]
        merged = 1.0 if signs.may_merge else SURE_AT_MOST
        merged = MAX_ELSEWHERE_CONFIDENCE if told is ChangeVerdict.ELSEWHERE else merged
        apart = told in (ChangeVerdict.APART, ChangeVerdict.ELSEWHERE) or replaces_without_saying(
            signs
        )
        return [
            *against,
            (Relation.EVOLUTION, MAX_APART_CONFIDENCE if apart else 1.0),
            (Relation.TENSION, MAX_APART_CONFIDENCE if may_both_hold(signs) else 1.0),
            (Relation.DUPLICATE, merged),
        ]

    def _build_evolution(self, signs: PairSigns, sure: float) -> Verdict:
        reason = render_reason(Relation.EVOLUTION, signs, 0.0)
        return Verdict(Relation.EVOLUTION, round(sure, 4), reason)

    def _judge_outright(self, pair: MemoryPair) -> Verdict | None:
        older, newer = pair.older, pair.newer
        turns = [self._turns(each.title, each.content) for each in (older, newer)]
        said = find_stated_relation(
            turns[0], self._parse_memory(older), turns[1], self._parse_memory(newer)
        )
        if said is None:
            return None
        return Verdict(
            said.relation, STATED_CONFIDENCE, f"one says `{said.words}`", said.from_older
        )

    def _build_side(self, memory: Memory) -> PairSide:
        return PairSide(
            reading=self._parse_memory(memory),
            title=telling_stems(memory.title) if memory.title else frozenset(),
            session=memory.origin.session if memory.origin else None,
            first_person=is_first_person(memory.content),
            days=memory.created.timestamp() / DAY_SECONDS,
        )

    def _parse_memory(self, memory: Memory) -> ParsedText:
        return self._read(memory.title, memory.content)


def _text_to_read(memory: Memory) -> str:
    """Return what a memory says, with its title where that says more."""
    if not memory.title or telling_stems(memory.title) <= telling_stems(memory.content):
        return memory.content
    return f"{memory.title}. {memory.content}"


def _find_unfounded_conflicts(signs: PairSigns) -> tuple[Relation, ...]:
    """Return the relations that the words suggest although the memories do not conflict."""
    if _say_the_same(signs) or _are_of_different_things(signs):
        return CONFLICT_RELATIONS
    return (Relation.EVOLUTION,) if is_addition(signs.readings[1].text) else ()


def _say_the_same(signs: PairSigns) -> bool:
    """Whether both texts say the same, or tell the same change. A restatement replaces nothing."""
    older, newer = (each.text for each in signs.readings)
    return say_the_same(older, newer) or tell_same_change(older, newer)


def _have_other_subjects(signs: PairSigns) -> bool:
    """Whether each text begins with a common word for something else: `my wife`, `my daughter`."""
    older, newer = (each.text for each in signs.readings)
    return have_different_subjects(older, newer, names=False)


def _are_of_different_things(signs: PairSigns) -> bool:
    """Whether what differs may be so of two things, or is denied by both: then both may hold."""
    older, newer = (each.text for each in signs.readings)
    if have_different_subjects(older, newer) or name_other_directions(older, newer):
        return True
    if signs.denial is not None and agree_in_denial(older, newer):
        return True
    if signs.opposites is not None and not agree_in_denial(older, newer) and _is_short(signs):
        return True  # who does not eat meat is a vegetarian
    opposites = frozenset(signs.opposites or ())
    differs = signs.number is not None or signs.denial is not None or bool(opposites)
    return differs and name_different_things(older, newer, opposites)


def _is_plainly_denied(signs: PairSigns) -> bool:
    """Whether one text is the other with a `not`: what reads texts as a whole may miss it."""
    older, newer = signs.readings
    denials = {count_denials(older.text), count_denials(newer.text)}
    alike = len(older.stems ^ newer.stems) <= DENIED_APART
    return signs.denial is not None and denials == {0, 1} and alike


def _is_read_wrongly(
    pair: MemoryPair, chance: dict[Relation, float], read: RelationChances
) -> bool:
    """Whether texts are nearly equal, and the signs take them for the same and the reading for
    something else. It was taught on restatements in other words."""
    same = Relation.DUPLICATE
    return (
        pair.similarity >= NEARLY_EQUAL
        and max(LEARNT_RELATIONS, key=lambda each: chance[each]) is same
        and max(dict(read), key=lambda each: dict(read)[each]) is not same
    )


def _says_nothing_new(signs: PairSigns) -> bool:
    """Whether the newer text has no telling word, number or denial that the older one has not. It
    may be put otherwise, but it replaces nothing."""
    older, newer = signs.readings
    added = find_added_roots(older.text, newer.text) - LIGHT_STEMS
    if added or not denies_alike(newer.text, [older.text]):
        return False
    written_otherwise = bool(newer.stems - older.stems - LIGHT_STEMS)  # `thirty`, `30`
    return written_otherwise or newer.values <= older.values


def _outweighs(outright: Verdict, read: float) -> bool:
    """Whether what one text says outright of the other counts more than a conflict that is read:
    `the report needs the nightly import` is not replaced by `the nightly import runs at 01:30`."""
    return outright.relation in (Relation.DEPENDS_ON, Relation.PART_OF) and read < READ_AS_CONFLICT


def _say_other_things(signs: PairSigns) -> bool:
    """Whether the two say different things of one thing, and no number of it changed."""
    older, newer = signs.readings
    tells_change = any(each.change for each in newer.clauses)
    return (
        signs.number is None
        and not tells_change
        and say_other_things_of_one(older.text, newer.text)
    )


def _least_chance_to_read(pair: MemoryPair) -> float:
    """Return how likely a pair must be the same or an update to be read. On whole stores six of
    299 such pairs, of those that are alike, are less likely; and more than half of all others. Of
    those whose words tell of different things one in six is, and two of 43 updates are lost."""
    if speak_of_others(pair.older.content, pair.newer.content):
        return READ_CHANCE_OTHERS
    return READ_CHANCE if pair.similarity < READ_SIMILARITY else READ_CHANCE_ALIKE


def _both_deny(signs: PairSigns) -> bool:
    """Whether both texts deny something, and the same."""
    older, newer = signs.readings
    denied = signs.denial is not None or bool(older.denied and newer.denied)
    return denied and agree_in_denial(older.text, newer.text)


def _is_short(signs: PairSigns) -> bool:
    return all(len(each.text) <= TEXT_CHARS for each in signs.readings)


def _may_differ(signs: PairSigns) -> bool:
    """Whether two texts that read as the same may differ in something that can be named: then
    somebody is asked, however surely they read so."""
    older, newer = (each.text for each in signs.readings)
    names = any(each.names - other.stems for each, other in permutations(signs.readings))
    return names or are_told_apart(older, newer) or have_contrary_words(older, newer)


def _have_other_signs(signs: PairSigns) -> bool:
    """Whether a sign that is no word, or a denial, stands in one of the two only."""
    older, newer = (each.text for each in signs.readings)
    return not have_same_marks(older, newer) or not denies_alike(older, [newer])


def _are_told_apart(signs: PairSigns) -> bool:
    older, newer = signs.readings
    return not signs.may_merge and are_told_apart(older.text, newer.text)
