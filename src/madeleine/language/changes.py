"""Whether a short statement tells that what an older one states has changed.

`Ana lives in Izmir` and `Ana left Izmir for Perth` share few words and are far from each other,
yet nobody doubts what became of the first. Two ways of telling are known:

- the newer one names the same subject and says that the old value is over (`from`, `gave up`);
- it names the same subject and tells a change of the same attribute (`attributes.py`) to another
  value, without naming the old one.

A phrase that both share, in a place where subjects stand (`statements.py`), is what both are
about; all other phrases in such places must be shared too, so a name that differs in one word is
another subject. Whatever is wished for, asked, added or once happened replaces nothing.
"""

from __future__ import annotations

from enum import Enum

from madeleine.language.attributes import MULTIVALUED, QUOTED, kinds_fit_families
from madeleine.language.statements import TOPIC_SLOTS, ParsedStatement, Phrase, Slot, Words

MOST_FAMILIES = 6  # a word that may speak of more than these says not of which


class ChangeVerdict(Enum):
    """What a newer statement tells of an older one."""

    OVER = "over"
    """It says that the old value is no longer so."""
    CHANGED = "changed"
    """It tells of a change to another value."""
    APART = "apart"
    """They are about different things, or both may be so."""
    ELSEWHERE = "elsewhere"
    """They name different things that they are about."""
    UNKNOWN = "unknown"


def judge_change(older: ParsedStatement, newer: ParsedStatement) -> ChangeVerdict:
    """Return what the newer statement tells of the older one."""
    if not (older.short and newer.short and older.phrases and newer.phrases):
        return ChangeVerdict.UNKNOWN
    about = _find_common_subjects(older, newer)
    if about is None:
        return (
            ChangeVerdict.ELSEWHERE if _have_different_names(older, newer) else ChangeVerdict.APART
        )
    if newer.wished or newer.coming or older.wished or older.event:
        return ChangeVerdict.APART
    was, now = _select_values(older, about), _select_values(newer, about)
    if not about and len(was) > 1:
        return ChangeVerdict.APART
    if not older.denies and _is_said_to_be_over(newer, was, now):
        return ChangeVerdict.APART if _is_of_other_part(older, newer) else ChangeVerdict.OVER
    families = _common_families(older, newer)
    if families is None:
        return ChangeVerdict.APART
    return _judge_values(newer, was, now, families, alone=not about)


def _is_said_to_be_over(newer: ParsedStatement, was: list[Phrase], now: list[Phrase]) -> bool:
    """Whether an old value is said to be over, and a change or a new value is told. Where the
    older one names a value, it is that which has to be over, and no other word: who does not
    support Windows may support Linux."""
    best = _select_main_value(was) if was else None
    named = best is not None and (best.kinds or best.number or best.capital)
    values = [best] if best is not None and named else was
    gone = [
        each for each in now if each.gone and any(_names_value(each, value) for value in values)
    ]
    return bool(gone) and (newer.change or any(_is_new_value(each, was) for each in now))


def _is_new_value(phrase: Phrase, was: list[Phrase]) -> bool:
    return not phrase.gone and not any(_names_value(phrase, value) for value in was)


def _names_value(one: Phrase, value: Phrase) -> bool:
    """Whether a phrase names a value: `ferret` in `a ferret sleeps`, but no part of a name, nor
    `sleeps`."""
    if one.stems == value.stems:
        return True
    part = one.small and value.small and frozenset(one.stems) < frozenset(value.stems)
    return part and (not value.kinds or bool(one.kinds & value.kinds))


def _is_of_other_part(older: ParsedStatement, newer: ParsedStatement) -> bool:
    """Whether only something of it changed that the older one does not speak of: `its queue`."""
    spoken_of = frozenset().union(*(families for _, families in older.spoken_of))
    return bool(spoken_of) and any(not part & spoken_of for part in newer.parts)


def _select_values(statement: ParsedStatement, about: frozenset[Words]) -> list[Phrase]:
    """Return what a statement says of what it is about. When, only if it says nothing else."""
    rest = [each for each in statement.phrases if each.stems not in about]
    return [each for each in rest if each.slot is not Slot.WHEN] or rest


def _judge_values(
    newer: ParsedStatement,
    was: list[Phrase],
    now: list[Phrase],
    families: frozenset[str],
    alone: bool,
) -> ChangeVerdict:
    values = {each.stems for each in was}
    rest = [each for each in now if each.stems not in values]
    kept = [each for each in rest if not each.gone]
    if newer.more or len(rest) < len(now) or (alone and len(rest) > 1) or 0 < len(kept) < len(rest):
        return ChangeVerdict.APART  # both hold, or something else is over
    if not was or not rest:
        return ChangeVerdict.UNKNOWN
    if not _are_in_value_places([*was, *rest], families) or not _are_exchangeable(
        newer, was, rest, families
    ):
        return ChangeVerdict.APART
    old, new = _select_main_value(was), _select_main_value(rest)
    same = (
        _are_of_one_kind(old, new)
        or _names_attribute(newer, families)
        or kinds_fit_families(new.kinds, families - MULTIVALUED)
    )
    return ChangeVerdict.CHANGED if newer.change and same else ChangeVerdict.UNKNOWN


def _names_attribute(newer: ParsedStatement, families: frozenset[str]) -> bool:
    """Whether the newer one says itself which attribute it is that changed. Who `switched` to
    something may have done so with anything, but who `moved` has most likely moved house."""
    said = any(len(each & families) and len(each) <= MOST_FAMILIES for _, each in newer.spoken_of)
    return "home" in families or (said and bool(families - MULTIVALUED))


def _are_of_one_kind(old: Phrase, new: Phrase) -> bool:
    """Whether two values are of one kind, or count the same."""
    counted = old.number and new.number and old.stems[1:] == new.stems[1:] != ()
    return counted or bool((old.kinds & new.kinds) - MULTIVALUED)


def _are_exchangeable(
    newer: ParsedStatement, was: list[Phrase], now: list[Phrase], families: frozenset[str]
) -> bool:
    """Whether one value may stand in the other's place, and nothing beside them differs."""
    old, new = _select_main_value(was), _select_main_value(now)
    if old.number != new.number or not (
        old.number or _may_share_attribute(old, new, families, newer.named)
    ):
        return False
    mine = {each.stems for each in was} - {old.stems}
    theirs = {each.stems for each in now} - {new.stems}
    return not (mine and theirs) or bool(mine & theirs)


def _may_share_attribute(
    old: Phrase, new: Phrase, families: frozenset[str], named: frozenset[str]
) -> bool:
    """Whether two values may be of one attribute, as far as kinds and spelling tell. Where the
    attribute itself is named, a name may well follow what is none."""
    fit = (kinds_fit_families(old.kinds, families), kinds_fit_families(new.kinds, families))
    if False in fit:
        return False
    if old.kinds & new.kinds or True in fit:
        return True
    named_apart = (old.small and new.capital) or (old.capital and new.small)
    return not (old.kinds and new.kinds) and bool(not named_apart or named & families)


def _common_families(older: ParsedStatement, newer: ParsedStatement) -> frozenset[str] | None:
    """Return the attributes that both may speak of, or `None` if they speak of different ones.

    A word that both have tells nothing by itself (`the rent of the office`), but if only one of
    them says more than that, it must fit: `the tests of Atlas are written in Zig`."""
    mine, theirs = dict(older.spoken_of), dict(newer.spoken_of)
    shared = mine.keys() & theirs.keys()
    rest = [[side[each] for each in side.keys() - shared] for side in (mine, theirs)]
    told = [*rest[0], *rest[1]]
    if not told:
        return frozenset().union(*(mine[each] for each in shared))
    common = frozenset.intersection(*told)
    if shared and not (rest[0] and rest[1]):
        common &= frozenset().union(*(mine[each] | theirs[each] for each in shared))
    if not mine or not theirs:
        return frozenset()
    return common or None


def _find_common_subjects(
    older: ParsedStatement, newer: ParsedStatement
) -> frozenset[Words] | None:
    """Return the phrases that both are about; none if both speak of who says it."""
    owned = any("owner" in families for _, families in (*older.spoken_of, *newer.spoken_of))
    mine = {each.stems for each in older.phrases if _may_be_subject(each, older, owned)}
    shared = [each for each in newer.phrases if each.stems in mine]
    named = frozenset(each.stems for each in shared if _may_be_subject(each, newer, owned))
    kept = frozenset(each.stems for each in shared if not each.gone)
    if _have_different_names(older, newer):
        return None
    if named & kept:
        return named & kept
    if kept and any(each.gone for each in newer.phrases):
        return kept  # `we dropped Jenkins in Atlas`
    return frozenset() if _have_unnamed_subject(older, newer) else named or None


def _have_different_names(older: ParsedStatement, newer: ParsedStatement) -> bool:
    """Whether each names something where subjects stand, and none of it stands in the other."""
    sides = [
        {each.stems for each in side.phrases if _is_name_of_subject(each, side)}
        for side in (older, newer)
    ]
    everything = [{each.stems for each in side.phrases} for side in (older, newer)]
    return all(sides) and not (sides[0] & everything[1] or sides[1] & everything[0])


def _is_name_of_subject(phrase: Phrase, statement: ParsedStatement) -> bool:
    if phrase.small or phrase.kinds or (statement.owning and phrase.slot is Slot.FIRST):
        return False
    return phrase.slot in (*TOPIC_SLOTS, Slot.OBJECT) or statement.bids


def _have_unnamed_subject(older: ParsedStatement, newer: ParsedStatement) -> bool:
    """Whether both are about who says it, or about something in words of attributes alone: `the
    rent of the office`."""
    if _has_topic(older) or _has_topic(newer):
        return False
    words = dict(older.spoken_of).keys() & dict(newer.spoken_of).keys()
    return bool(older.speaker and older.speaker == newer.speaker) or len(words) > 1


def _has_topic(statement: ParsedStatement) -> bool:
    return any(each.slot in TOPIC_SLOTS and not each.gone for each in statement.phrases)


def _may_be_subject(phrase: Phrase, statement: ParsedStatement, owned: bool) -> bool:
    """Whether a statement may be about a phrase. Who owns something is not what it is about; and
    what is not about a name at its beginning may be about one anywhere: `offer Ana some tea`."""
    if QUOTED in phrase.kinds:
        return False
    if owned and statement.owning:
        return phrase.slot is not Slot.FIRST
    if phrase.slot in (*TOPIC_SLOTS, Slot.OBJECT):
        return True
    return phrase.capital and (statement.bids or not _has_topic(statement))


def _are_in_value_places(values: list[Phrase], families: frozenset[str]) -> bool:
    """Whether no value stands where subjects do, but for who owns something, and what is of a
    known kind: `Postgres is the database of Atlas`."""
    return "owner" in families or all(each.kinds for each in values if each.slot in TOPIC_SLOTS)


def _select_main_value(phrases: list[Phrase]) -> Phrase:
    """Return the phrase that says what is so: of a known kind, a number, a name, or the last."""
    told = [
        (bool(each.kinds), each.number, each.capital, place) for place, each in enumerate(phrases)
    ]
    return phrases[max(told)[-1]]
