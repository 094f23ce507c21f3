"""What names mean: Ruff is a linter, `k8s` is Kubernetes, metformin is a medicine for diabetes.

The tables in `terms/` have one entry for each line, `Name | other names | classes`. Whoever asks
for a linter is told of Ruff (a member of the class), whoever asks about k8s of Kubernetes
(another name), and whoever asks about Ruff of what is said about the linter (its class). These
are the *kin* of a word. Members of one class are no kin of each other.

A name that is a common word as well (`Slack`, `Rust`) counts only where it is written as a name.
Lines of the user's own (`parse_user_terms`) stand before the shipped ones, of which they replace
those of the same name.

The tables hold 18,000 entries, and a question needs a few of them. So they are kept as they are
written, beside a sorted array of hashes that says in which lines a term stands.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from madeleine.language.user_terms import parse_user_terms
from madeleine.language.word_hints import IRREGULAR_FORMS, QUESTION_WORDS, STOP_WORDS

TRADE_TABLES = ("software", "operations", "work", "life", "home")
EVERYDAY_TABLES = ("words",)
CLASS_COLUMN = 2  # of a line; names stand before it
MOST_WORDS = 4  # of a term that is looked for in a question
MOST_MEMBERS = 600  # entries of a class: more of them (`place`) tell nothing
OTHER_NAME_STRENGTH = 1.0
CLASS_STRENGTH = 0.5  # who asks about Ruff may mean any linter, and mostly does not
MEMBER_STRENGTH = 0.9
FULL_STRENGTH_MEMBERS = 8  # members up to which a class means each of them
LESS_BY_TENFOLD = 0.15
COMMON_WORD_FACTOR = 0.5  # of a name that is a common word: in a memory it may be just that
MOST_KEPT = 2_000  # terms whose kin are kept at hand

_COMMON_WORDS = """
acme add advent aegis aider airflow amazon anaconda angular anova apple arr astro audible azure
babel bari bash bic bid biome black bled bolt box brave bun burgundy calibre cassandra cayenne
celery chesterfield china clippy coda cologne confluence consul copilot curl cursor dart dei
dendrite depot discord discourse dom domo drive echo edge electron eleventy elisa elixir elk
elster ember ent envoy ev excel express fedora fiat fiddler firehose flask flutter fly focus
front ganache gatling gil gin gnome go groovy gymnasium helm homebrew ibis ice id ideal intercom
ionic ira isa iss jax jena jest keynote kicker kindle lan lando latex lax led libby lima linear
loki looker loom lund maestro make mandarin marvel maven meet meson midi milan mint mistral mobi
monopoly mr multiplex nara nas nat natron nats nest nice nix noel notion oakley obsidian odessa
ok opera orthodox os outlook pa packer pages parquet pe pestle phaser pin pinecone pixi pla
playwright plex plymouth pm po poe poetry postman postmark pr prefect presta prettier prisma
procrastinate prosody puppet putty pv quaker raid rails railway ram rancher react reading
remarkable render renovate ring rio roberta rocket roe roma ron rotary rub ruby rufus rust
safari salt sap scala scouts segment sentry shell signal slack smalltalk snowflake soc sow sox
spark spinnaker spring square storm stripe sundance swagger swift tailwind teams telegram ter
thunderbolt tidal tin toil tomcat tonga uni vanguard vault venice vesting vignette vin visa vite
wal waldorf warp watchman wc wellington whirlpool whoop wig windows wingspan wise word zoom
"""
COMMON_WORDS = frozenset(_COMMON_WORDS.split())
"""Words that are names as well, and mostly are none."""

_NAMES_AS_CLASSES = """
amazon apple azure bun curl dart electron ember excel express flask flutter gnome go helm ionic
maven nest notion obsidian outlook postman puppet rails react ruby rust scala slack snowflake
stripe swift teams telegram windows word zoom
"""
NAMES_AS_CLASSES = frozenset(_NAMES_AS_CLASSES.split())
"""Those of them that are classes too, of what belongs to the bearer of the name."""

_EMPTY = STOP_WORDS | QUESTION_WORDS
_SYMBOLS = (
    *((b"c++", b"cpp"), (b"c#", b"csharp"), (b"f#", b"fsharp")),
    *((start + b".net", start + b"dotnet") for start in (b" ", b"\n")),
)
_COMMA, _BAR, _LINE_END, _SPACE = b",|\n "
_SPACED = bytes(
    each if each >= 128 or chr(each).isalnum() or each in b",|\n" else _SPACE for each in range(256)
)
"""Makes a space of every other byte than those of letters, digits and the marks of a table."""
_MARKED = bytes(each in b",|\n" for each in range(256))
"""Makes 1 of the marks of a table, and 0 of all else."""


class KinLink(StrEnum):
    """How a kin belongs to the word it was found by."""

    OTHER_NAME = "other_name"
    """It is another name of the same."""
    MEMBER = "member"
    """It is one of the class."""
    CLASS = "class"
    """It is the class."""


class Term(NamedTuple):
    """A name or a class, as a table writes it and as it is looked for: words in lower case."""

    text: str
    key: str

    @property
    def is_written_as_name(self) -> bool:
        """Whether it has a capital."""
        return self.text != self.text.lower()


class KinTie(NamedTuple):
    """What makes a term the kin of another one, and how surely from 0 to 1."""

    link: KinLink
    strength: float
    everyday: bool
    """Whether it is of the words that everybody uses (`choose` for `pick`), which mean many things,
    and not of the names and terms of a trade."""


class Kin(NamedTuple):
    """A term that stands for another one."""

    text: str
    key: str
    tie: KinTie


class KinGroup(NamedTuple):
    """All kin of a term, by their keys: which are single words, and which begin with a word."""

    ties: dict[str, KinTie]
    words: frozenset[str]
    phrases: dict[str, list[str]]


class TermEntry(NamedTuple):
    """A line of a table."""

    names: tuple[Term, ...]
    """The name, and the other ones."""
    classes: tuple[Term, ...]


class TermTable:
    """Entries as they are written, and in which of them each term stands: hashes of all keys in
    order, and the line and the column of each."""

    def __init__(self, text: str, everyday: bool = False) -> None:
        self.everyday = everyday
        self._text = text.encode()
        self._keys = _normalize_table(text)
        self._text_starts = _line_starts(self._text)
        self._key_starts = _line_starts(self._keys)
        marks = np.frombuffer(self._keys, np.uint8)
        marks = marks[_find_marks(self._keys)]
        line = np.concatenate([[0], np.cumsum(marks == _LINE_END)])
        bars = np.concatenate([[0], np.cumsum(marks == _BAR)])
        first = np.flatnonzero(np.diff(line, prepend=-1))
        in_line = np.diff(bars[first], append=bars[-1])
        pieces = self._keys.replace(b"|", b",").replace(b"\n", b",").split(b",")
        hashes = np.fromiter(map(hash, pieces), np.int64, len(pieces))
        found = np.flatnonzero(in_line[line] == 2)  # what has no two bars is a heading
        order = found[np.argsort(hashes[found], kind="stable")]
        self._hashes = hashes[order]
        self._lines = line[order].astype(np.uint32)
        self._columns = (bars - bars[first][line])[order].astype(np.uint8)
        self._entries = np.flatnonzero(in_line == 2)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, keys: Sequence[str]) -> dict[int, int]:
        """Return the lines in which any of the keys stands, in order, and as what: 0 for the
        name, 1 for another name, 2 for a class."""
        hashes = _hash_keys(keys)
        first = np.searchsorted(self._hashes, hashes, side="left").tolist()
        last = np.searchsorted(self._hashes, hashes, side="right").tolist()
        found: dict[int, int] = {}
        for start, end in zip(first, last, strict=True):
            lines, columns = self._lines[start:end].tolist(), self._columns[start:end].tolist()
            for line, column in zip(lines, columns, strict=True):
                found[line] = min(column, found.get(line, column))
        return found

    def has(self, hashes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the hashes are those of a term."""
        if not len(self._hashes):
            return np.zeros(len(hashes), np.bool_)
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        there: NDArray[np.bool_] = self._hashes[places] == hashes
        return there

    def entry(self, line: int) -> TermEntry:
        """Return what a line says."""
        written = _line_at(self._text, self._text_starts, line).split("|")
        keys = _line_at(self._keys, self._key_starts, line).split("|")
        name, others, classes = map(_pair_terms, written, keys)
        return TermEntry(name + others, classes)

    def name_keys(self, lines: Iterable[int]) -> list[list[str]]:
        """Return the keys of the names that each of the lines has."""
        starts, keys = self._key_starts, self._keys
        heads = [keys[starts[line] : starts[line + 1]].rpartition(b"|")[0] for line in lines]
        if not heads:
            return []
        whole = b"\n".join(heads).replace(b"|,", b"|").replace(b"|", b",").decode()
        return [names.rstrip(",").split(",") for names in whole.split("\n")]

    def entries(self) -> Iterable[TermEntry]:
        """Yield all entries, in order."""
        return map(self.entry, self._entries.tolist())


def _hash_keys(keys: Sequence[str]) -> NDArray[np.int64]:
    return np.array([hash(key.encode()) for key in keys], np.int64)


def _find_marks(text: bytes) -> NDArray[np.bool_]:
    return np.frombuffer(text.translate(_MARKED), np.bool_)


def _line_starts(text: bytes) -> NDArray[np.uint32]:
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == _LINE_END)
    return np.concatenate([[0], ends + 1, [len(text) + 1]]).astype(np.uint32)


def _line_at(text: bytes, starts: NDArray[np.uint32], line: int) -> str:
    return text[int(starts[line]) : int(starts[line + 1]) - 1].decode()


def _pair_terms(written: str, keys: str) -> tuple[Term, ...]:
    pairs = zip(written.split(","), keys.split(","), strict=True)
    return tuple([Term(text.strip(), key) for text, key in pairs if key])


class Thesaurus:
    """Finds the kin of terms in some tables, the user's first."""

    def __init__(
        self, tables: Sequence[TermTable], own: TermTable | None = None, hidden: Iterable[str] = ()
    ) -> None:
        self._tables = (own, *tables) if own else tuple(tables)
        self._own = own
        self._hidden = frozenset(hidden)
        self._kept: dict[tuple[str, bool], KinGroup] = {}
        self._written: dict[tuple[str, KinTie], Kin] = {}

    def select_known(self, keys: Sequence[str]) -> list[str]:
        """Return those of the keys that stand in a table, in any form."""
        forms = [(key, form) for key in keys for form in term_forms(key)]
        hashes = _hash_keys([form for _, form in forms])
        there = np.any([table.has(hashes) for table in self._tables], axis=0)
        return list(dict.fromkeys(forms[place][0] for place in np.flatnonzero(there).tolist()))

    def find_kin(self, key: str, is_name: bool = False) -> KinGroup:
        """Return the kin of a term, which comes as `normalize_term` makes it; of a term that
        stands in no table none. `is_name` says that it is written as names are."""
        asked = (key, is_name)
        group = self._kept.get(asked)
        if group is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[asked] = group = self._collect_kin(key, is_name)
        return group

    def write_kin(self, key: str, tie: KinTie) -> Kin:
        """Return a kin as a table writes it. A name that is a common word is less sure: in a
        memory it may be just that."""
        kin = self._written.get((key, tie))
        if kin is None:
            term = self._find_written(key)
            common = key in COMMON_WORDS and term.is_written_as_name
            sure = tie.strength * COMMON_WORD_FACTOR if common else tie.strength
            if len(self._written) >= MOST_KEPT:
                self._written.clear()
            self._written[key, tie] = kin = Kin(term.text, key, tie._replace(strength=sure))
        return kin

    def _find_written(self, key: str) -> Term:
        """Return a term as a table writes it that has it for a name, or else for a class."""
        found = [
            (column, number, line)
            for number, table in enumerate(self._tables)
            for line, column in table.find([key]).items()
        ]
        _, number, line = min(found)
        entry = self._tables[number].entry(line)
        return next(each for each in (*entry.names, *entry.classes) if each.key == key)

    def _collect_kin(self, key: str, is_name: bool) -> KinGroup:
        keys = term_forms(key)
        named, members = self._look_up(keys)
        as_names = {_is_name_in(entry, keys) for entry, _ in named}
        if not is_name and (key in COMMON_WORDS or len(as_names) > 1):
            named = [each for each in named if not _is_name_in(each[0], keys)]
            members = [] if NAMES_AS_CLASSES.intersection(keys) else members
        share = 1 / math.sqrt(max(len(named), 1))
        strength = MEMBER_STRENGTH * member_factor(len(members))
        ties: dict[str, KinTie] = {}
        for everyday in (True, False):  # what is added later counts
            entries = [entry for entry, is_everyday in named if is_everyday == everyday]
            classes = [each.key for entry in entries for each in entry.classes]
            others = [each.key for entry in entries for each in entry.names]
            own = [names for names, is_everyday in members if is_everyday == everyday]
            for link, sure, found in (
                (KinLink.CLASS, CLASS_STRENGTH * share, classes),
                (KinLink.MEMBER, strength, itertools.chain.from_iterable(own)),
                (KinLink.OTHER_NAME, OTHER_NAME_STRENGTH * share, others),
            ):
                ties |= dict.fromkeys(found, KinTie(link, sure, everyday))
        for each in (*keys, *(ties.keys() & _EMPTY), ""):
            ties.pop(each, None)
        return _group_kin(ties)

    def _look_up(
        self, keys: Sequence[str]
    ) -> tuple[list[tuple[TermEntry, bool]], list[tuple[list[str], bool]]]:
        """Return the entries that have one of the keys as a name, and the keys of the names of
        those that have it as a class, each with whether it is of everyday words. A class of too
        many has none."""
        named: list[tuple[TermEntry, bool]] = []
        members: list[tuple[list[str], bool]] = []
        found = [(table, table.find(keys)) for table in self._tables]
        columns = [column for _, lines in found for column in lines.values()]
        is_told = columns.count(CLASS_COLUMN) <= MOST_MEMBERS
        for table, lines in found:
            hidden = self._hidden if table is not self._own else ()
            entries = [
                table.entry(line) for line, column in lines.items() if column != CLASS_COLUMN
            ]
            named += [(each, table.everyday) for each in entries if each.names[0].key not in hidden]
            if is_told:
                within = [line for line, column in lines.items() if column == CLASS_COLUMN]
                names = table.name_keys(within)
                members += [(each, table.everyday) for each in names if each[0] not in hidden]
        return named, members


def _group_kin(ties: dict[str, KinTie]) -> KinGroup:
    phrases: dict[str, list[str]] = {}
    for key in [key for key in ties if " " in key]:
        phrases.setdefault(key.partition(" ")[0], []).append(key)
    words = frozenset(key for key in ties if " " not in key and len(key) > 1)
    return KinGroup(ties, words, phrases)


def member_factor(members: int) -> float:
    """Return how far a class means each of its members: wholly if there are few of them, and a
    little less with each ten times as many."""
    return 1 / (1 + LESS_BY_TENFOLD * math.log10(max(members / FULL_STRENGTH_MEMBERS, 1)))


def _is_name_in(entry: TermEntry, keys: Sequence[str]) -> bool:
    """Whether an entry writes the term that was looked up with a capital."""
    return any(each.is_written_as_name for each in entry.names if each.key in keys)


def term_forms(key: str) -> tuple[str, ...]:
    """Return a key with the other forms of its last word, and of a verb that it begins with:
    `linters` and `linter`, `picked up` and `pick up`."""
    start, _, last = key.rpartition(" ")
    if not start:
        return (key, *_other_numbers(key), *_verb_bases(key))
    first, _, rest = key.partition(" ")
    return (
        key,
        *[f"{start} {each}" for each in _other_numbers(last)],
        *[f"{each} {rest}" for each in _verb_bases(first)],
    )


@lru_cache(maxsize=4_096)
def _other_numbers(word: str) -> tuple[str, ...]:
    """Return the singular of what looks like a plural, and else the plural."""
    if len(word) < 3 or not word.isalpha():
        return ()
    if word.endswith("ies") and len(word) > 4:
        return (word[:-3] + "y",)
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return (word[:-2],)
    if word.endswith("s"):
        return () if word.endswith(("ss", "us", "is")) else (word[:-1],)
    if word.endswith("y") and word[-2] not in "aeiou":
        return (word[:-1] + "ies",)
    return (word + ("es" if word.endswith(("ch", "sh", "x", "z")) else "s"),)


@lru_cache(maxsize=4_096)
def _verb_bases(word: str) -> tuple[str, ...]:
    """Return what a verb may be without its ending, `host` or `hoste` for `hosted`, of which only
    one stands in a table; and what is done by it, `hosting`."""
    bases = [IRREGULAR_FORMS[word]] if IRREGULAR_FORMS.get(word, word) != word else []
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3:
            bases += [root, root + "e", root + "ing"]
            if root[-1] == root[-2]:
                bases.append(root[:-1])
    return tuple(each for each in bases if each != word)


def normalize_term(term: str) -> str:
    """Return the key of a term: its words in lower case with single spaces."""
    return _normalize_table(term.replace("|", " ").replace(",", " ")).decode()


def _normalize_table(text: str) -> bytes:
    """Return the keys of a whole table at once, which is quicker than term by term."""
    low = f" {text.lower()} ".encode()
    for written, key in _SYMBOLS:
        low = low.replace(written, key)
    plain = np.frombuffer(low.translate(_SPACED), np.uint8)
    plain = plain[~((plain == _SPACE) & np.append(plain[1:] == _SPACE, False))]
    mark = _find_marks(plain.tobytes())
    beside = np.append(False, mark[:-1]) | np.append(mark[1:], False)
    return bytes(plain[~((plain == _SPACE) & beside)]).strip(b" ")


# --- tables ---------------------------------------------------------------------------------


@cache
def load_tables() -> tuple[TermTable, ...]:
    """Return the shipped entries: names and terms of trades, and everyday words."""
    folder = files("madeleine.language").joinpath("terms")

    def read(names: Iterable[str]) -> str:
        return "\n".join(folder.joinpath(f"{each}.txt").read_text("utf-8") for each in names)

    return TermTable(read(TRADE_TABLES)), TermTable(read(EVERYDAY_TABLES), everyday=True)


@cache
def load_thesaurus() -> Thesaurus:
    """Return the shipped thesaurus."""
    return Thesaurus(load_tables())


@lru_cache(maxsize=8)
def extend_thesaurus(texts: tuple[str, ...]) -> Thesaurus:
    """Return the shipped thesaurus with entries of the user's, who wrote these texts."""
    read = [parse_user_terms(text) for text in texts]
    own = TermTable("\n".join(line for each in read for line in each.entries))
    named = [entry.names[0].key for entry in own.entries()]
    removed = [normalize_term(name) for each in read for name in each.removed]
    return Thesaurus(load_tables(), own, [*named, *removed])
