"""A network on this machine that reads two notes together and says what they are to each other.

It comes with the package `madeleine-relations`. One pair is one call of the network, for the
reason given in `local.py`: in a batch a pair would get other numbers in other company, and what
is kept of it would depend on what it was read beside. Pairs of 32 tokens take 4 to 5 ms each on
one thread, and nothing holds a lock meanwhile (I6).

Two texts that say the same do so whichever comes first. So what seems to is read the other way
round too, and both readings make its chance.

What was read is kept beside the vectors, in embeddings.db, under a hash of both texts, so no pair
is read twice. Kept are the network's own numbers: what chances they become is read from the
package (`calibration.json`) every time.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from madeleine.errors import MindDown
from madeleine.minds.cache import EmbeddingCache
from madeleine.minds.loading import (
    MODEL_FILE,
    TOKENIZER_FILE,
    OnnxNetwork,
    load_network,
    load_tokenizer,
)
from madeleine.minds.port import RelationChances, TextPair
from madeleine.minds.texts import prepare_text
from madeleine.model.verdict import MemoryPair, Relation
from madeleine.rules.chances import SMALLEST, calibrate_logits, log_odds, rescale_chance
from madeleine.rules.store_chances import weigh_signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

PACKAGE = "madeleine_relations"
MAX_CHARS = 2_000  # of each text: three times what fits beside another one
SAME_FROM = 0.5  # chance of `same` from which a pair is read the other way round too
KEPT_AT_ONCE = 256  # pairs after which what was read is handed to the cache

RELATION_OF = {
    "same": Relation.DUPLICATE,
    "update": Relation.EVOLUTION,
    "contradiction": Relation.TENSION,
    "related": Relation.RELATED_TO,
    "different": Relation.NONE,
    "supports": Relation.SUPPORTS,
    "part_of": Relation.PART_OF,
    "depends_on": Relation.DEPENDS_ON,
}
"""What each answer of the network means here."""

Logits = tuple[float, ...]
AnswerWeights = Mapping[str, Mapping[str, float]]

WEIGHED = {"same": Relation.DUPLICATE, "update": Relation.EVOLUTION}
"""What is weighed anew for a pair among all near ones of its store."""
READ_SIGNS = {**WEIGHED, "contradiction": Relation.TENSION}
"""The readings that go into it."""


@dataclass(frozen=True, slots=True)
class RelationCalibration:
    """How the network's numbers become chances."""

    answers: tuple[str, ...]
    temperature: float
    bias: tuple[float, ...]
    slope: float
    shift: float
    """What the lower of two chances of `same` comes to, when a pair was read both ways."""
    read_in_store: AnswerWeights = field(default_factory=dict)
    unread_in_store: AnswerWeights = field(default_factory=dict)
    """What makes chances of a duplicate and an evolution among all near pairs of a store, by what
    was read and without it."""

    def chances(self, logits: Logits) -> RelationChances:
        """Return the chance of each relation."""
        shares = calibrate_logits(logits, self.temperature, self.bias)
        named = zip(self.answers, shares, strict=True)
        return {RELATION_OF[answer]: share for answer, share in named}

    def chances_both_ways(self, one: RelationChances, turned: RelationChances) -> RelationChances:
        """Return the chances of a pair that was read the other way round too: that of `same` anew,
        the others as shares of what it leaves."""
        lower = min(one[Relation.DUPLICATE], turned[Relation.DUPLICATE])
        same = rescale_chance(lower, self.slope, self.shift)
        left = (1 - same) / max(1 - one[Relation.DUPLICATE], SMALLEST)
        return {
            relation: same if relation is Relation.DUPLICATE else chance * left
            for relation, chance in one.items()
        }

    def chances_in_store(self, pair: MemoryPair, read: RelationChances | None) -> RelationChances:
        """Return the chances of a pair among all near ones of its store. What was read of the other
        relations stays in proportion; where nothing was read, it is taken that there is none.

        Two can only contradict each other as far as they speak of the same matter, which is told
        by what they share: unrelated rules read as contrary to each other.
        """
        plain = measure_store_signs(pair)
        if not plain or not self.unread_in_store or not self.read_in_store:
            return read or {Relation.NONE: 1.0}
        unread = weigh_signs(self.unread_in_store, plain)
        if read is None:
            known = {WEIGHED[name]: each for name, each in unread.items()}
            return {**known, Relation.NONE: 1 - math.fsum(known.values())}
        said = {name: log_odds(read[relation]) for name, relation in READ_SIGNS.items()}
        weighed = weigh_signs(self.read_in_store, {**said, **plain})
        chance = {WEIGHED[name]: each for name, each in weighed.items()}
        left = 1 - math.fsum(chance.values())
        others = {each: share for each, share in read.items() if each not in chance}
        whole = max(math.fsum(others.values()), SMALLEST)
        rest = {each: left * share / whole for each, share in others.items()}
        contrary = min(rest[Relation.TENSION], math.fsum(unread.values()))
        rest[Relation.RELATED_TO] += rest[Relation.TENSION] - contrary
        return {**rest, **chance, Relation.TENSION: contrary}


def measure_store_signs(pair: MemoryPair) -> dict[str, float]:
    """Return what tells, without reading a pair, whether both speak of the same matter; nothing
    where nobody looked at their words."""
    shared = pair.shared
    if shared is None:
        return {}
    words = {"cover": shared.cover, "shared": shared.total, "rare": float(shared.rare)}
    return {"similarity": pair.similarity, **words}


class RelationNetwork:
    """A network in a folder, with its calibration. It is loaded on first use, and let go of by
    `release`: it is needed at night only."""

    def __init__(
        self, folder: Path, name: str, most_tokens: int, calibration: RelationCalibration
    ) -> None:
        self.folder = folder
        self.name = name
        self.calibration = calibration
        self._most_tokens = most_tokens
        self._loaded: _LoadedReader | None = None
        self._loading = threading.Lock()

    def read_logits(self, pairs: Sequence[TextPair]) -> list[Logits]:
        """Return the network's own numbers for each pair."""
        network = self._load() if pairs else None
        return [network.read(*pair) for pair in pairs] if network else []

    def count_tokens(self, pair: TextPair) -> int:
        """Return how many tokens of a pair are read."""
        return len(self._load().encode(*pair).ids)

    def release(self) -> None:
        with self._loading:
            self._loaded = None

    def _load(self) -> _LoadedReader:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load_reader(
                    self.folder, self.name, self._most_tokens, len(self.calibration.answers)
                )
            return self._loaded


class LocalRelationReader:
    """The network with what it read before, which costs nothing and is not counted."""

    def __init__(self, network: RelationNetwork, cache: EmbeddingCache, most_per_run: int) -> None:
        self.name = network.name
        self._network = network
        self._cache = cache
        self._most = self._left = most_per_run

    def read(self, pairs: Sequence[TextPair]) -> list[RelationChances | None]:
        found = self._read_chances(pairs)
        same = [
            place
            for place, each in enumerate(found)
            if each is not None and each[Relation.DUPLICATE] >= SAME_FROM
        ]
        turned = self._read_chances([pairs[place][::-1] for place in same])
        for place, other in zip(same, turned, strict=True):
            one = found[place]
            found[place] = one and other and self._network.calibration.chances_both_ways(one, other)
        return found

    def _read_chances(self, pairs: Sequence[TextPair]) -> list[RelationChances | None]:
        logits: dict[str, Logits] = {}
        keys = [_pair_key(pair) for pair in pairs]
        for start in range(0, len(pairs), KEPT_AT_ONCE):
            stop = start + KEPT_AT_ONCE
            logits |= self._read(dict(zip(keys[start:stop], pairs[start:stop], strict=True)))
        chances = self._network.calibration.chances
        return [chances(logits[key]) if key in logits else None for key in keys]

    def weigh_in_store(self, pair: MemoryPair, read: RelationChances | None) -> RelationChances:
        return self._network.calibration.chances_in_store(pair, read)

    def begin_run(self) -> None:
        self._left = self._most

    def release(self) -> None:
        self.begin_run()
        self._network.release()

    def _read(self, asked: Mapping[str, TextPair]) -> dict[str, Logits]:
        known = self._read_kept(list(asked))
        missing = [key for key in asked if key not in known][: self._left]
        self._left -= len(missing)
        fresh = self._network.read_logits([asked[key] for key in missing])
        packed = {key: (_pack(each), b"") for key, each in zip(missing, fresh, strict=True)}
        if packed:
            self._cache.put(self.name, packed)
        return known | {key: _unpack(each) for key, (each, _) in packed.items()}

    def _read_kept(self, keys: Sequence[str]) -> dict[str, Logits]:
        """Return what is kept and makes sense; the rest is read again."""
        size = len(_pack((0.0,) * len(self._network.calibration.answers)))
        kept = self._cache.get(self.name, keys)
        found = {key: _unpack(each) for key, (each, _) in kept.items() if len(each) == size}
        return {key: each for key, each in found.items() if all(map(math.isfinite, each))}


def load_relation_network() -> RelationNetwork | None:
    """Return the network that comes with the install, or None when `why_no_relation_reader`."""
    if why_no_relation_reader():
        return None
    import madeleine_relations

    calibration = read_calibration(madeleine_relations.calibration(), madeleine_relations.RELATIONS)
    return RelationNetwork(
        madeleine_relations.folder(),
        madeleine_relations.MODEL,
        madeleine_relations.MOST_TOKENS,
        calibration,
    )


def why_no_relation_reader() -> str:
    """Say in a sentence what the network lacks; empty when it lacks nothing. It only looks."""
    needed = (PACKAGE, "onnxruntime", "tokenizers", "numpy")
    missing = [package for package in needed if importlib.util.find_spec(package) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    import madeleine_relations

    folder = madeleine_relations.folder()
    if not all((folder / file).is_file() for file in (MODEL_FILE, TOKENIZER_FILE)):
        return f"{PACKAGE} is installed without its weights"
    return ""


def read_calibration(path: Path, answers: Sequence[str]) -> RelationCalibration:
    """Return the numbers in a calibration file, in the order of the answers."""
    told = json.loads(path.read_text(encoding="utf-8"))
    bias = tuple(float(told["bias"][answer]) for answer in answers)
    both = told["same_both_ways"]
    return RelationCalibration(
        tuple(answers),
        float(told["temperature"]),
        bias,
        float(both["slope"]),
        float(both["shift"]),
        told.get("in_store", {}).get("read", {}),
        told.get("in_store", {}).get("unread", {}),
    )


@dataclass(frozen=True, slots=True)
class _LoadedReader:
    network: OnnxNetwork
    tokenizer: Any
    answers: int

    def encode(self, older: str, newer: str) -> Any:
        """Return the tokens of a pair, the older text first."""
        return self.tokenizer.encode(prepare_text(older, MAX_CHARS), prepare_text(newer, MAX_CHARS))

    def read(self, older: str, newer: str) -> Logits:
        import numpy as np

        encoded = self.encode(older, newer)
        ids = np.array([encoded.ids], np.int64)
        kinds = np.array([encoded.type_ids], np.int64)
        (given,) = self.network.run(ids, kinds, [self.network.outputs[0]])
        return self._check_logits(given)

    def _check_logits(self, given: NDArray[Any]) -> Logits:
        logits = tuple(float(each) for each in given.reshape(-1))
        if len(logits) != self.answers or not all(map(math.isfinite, logits)):
            problem = f"the model gives {len(logits)} numbers for a pair, or one that is none"
            raise MindDown(self.network.name, problem)
        return logits


def _load_reader(folder: Path, name: str, most_tokens: int, answers: int) -> _LoadedReader:
    network = load_network(folder / MODEL_FILE, name)
    tokenizer = load_tokenizer(folder / TOKENIZER_FILE, name, most_tokens)
    return _LoadedReader(network, tokenizer, answers)


def _pair_key(pair: TextPair) -> str:
    older, newer = (each.encode("utf-8", "surrogatepass") for each in pair)
    digest = hashlib.sha256(len(older).to_bytes(8, "big"))
    digest.update(older)
    digest.update(newer)
    return digest.hexdigest()


def _pack(logits: Logits) -> bytes:
    import numpy as np

    return np.array(logits, np.float32).tobytes()


def _unpack(packed: bytes) -> Logits:
    import numpy as np

    return tuple(float(each) for each in np.frombuffer(packed, np.float32))
