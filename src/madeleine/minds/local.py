"""A sentence model on this machine: an ONNX file and its tokenizer in one folder.

The built-in model comes with the package `madeleine-minilm`; any other folder with
`model.onnx` and `tokenizer.json` will do. Nothing is fetched at run time.

Each text is one call of the model, never a batch. The built-in model is quantised
dynamically: it takes its scale from everything in the call, so in a batch a text would get
another vector in other company, and a rebuild would not give the index it replaces.
Throughput comes from several calls at once instead, each on one thread; onnxruntime lets
go of the interpreter while it computes. See docs/decisions/0002-embedding-model.md.

The same call gives a vector for each token. They are kept if there is a *projection*, a
matrix that makes them narrow: one comes with the built-in model, and a folder may hold its
own as `projection.npy`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from madeleine.errors import MindDown
from madeleine.minds.loading import (
    MODEL_FILE,
    TOKENIZER_FILE,
    OnnxNetwork,
    load_network,
    load_tokenizer,
)
from madeleine.minds.texts import prepare_text
from madeleine.minds.vectors import (
    empty_tokens,
    multiply_rows,
    normalize_rows,
    normalize_vectors,
    quantize_tokens,
    round_as_tokens,
)
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding, Rows
from madeleine.model.vector import Vector

PROJECTION_FILE = "projection.npy"

MAX_TOKENS = 256  # what MiniLM was trained to read; time grows with it
MAX_CHARS = 4_000  # 256 tokens are about 1,000 characters of prose; the rest is margin
FINGERPRINT_BYTES = 65_536  # of each end of a file, enough to tell two models apart

# Outputs that are one vector per text, in order of preference. A model with none of them is
# averaged over its tokens.
UNKNOWN_TOKENS = frozenset({"[UNK]", "<unk>"})
LAST_LATIN = "\u024f"
MAX_GUESSED_LETTERS = 2  # of another script: the model spells out what it cannot read

POOLED_OUTPUTS = ("embedding", "sentence_embedding")
# Outputs that are one vector per token.
TOKEN_OUTPUTS = ("tokens", "token_embeddings", "last_hidden_state")


class LocalEmbedder:
    """A model in a folder. It is loaded on first use, once, whichever thread comes first."""

    def __init__(
        self,
        folder: Path,
        name: str,
        threads: int,
        dimension: int = 0,
        projection: Path | None = None,
        token_dimension: int | None = None,
        *,
        reads_every_script: bool = False,
    ) -> None:
        """`threads` is how many texts of one `read` are worked on at once, 0 for one per
        core. The dimensions, when known, spare loading the model to learn them. To a model that
        reads every script a single letter of another one is a word like others."""
        self.folder = folder
        self.name = name
        self._threads = threads or os.cpu_count() or 1
        self._dimension = dimension
        self._projection = projection
        self._token_dimension = token_dimension if projection else 0
        self._reads_every_script = reads_every_script
        self._loaded: _LoadedEmbedder | None = None
        self._loading = threading.Lock()

    @classmethod
    def from_folder(cls, folder: Path, threads: int) -> LocalEmbedder:
        """Return the model in a folder of the user's, named after the folder and its content.

        Raises `MindDown` when a file is not there.
        """
        projection = folder / PROJECTION_FILE
        files = [MODEL_FILE, TOKENIZER_FILE, *([PROJECTION_FILE] if projection.exists() else [])]
        digest = hashlib.sha256()
        for file in files:
            try:
                digest.update(_fingerprint_bytes(folder / file))
            except OSError as error:
                problem = error.strerror or str(error)
                raise MindDown(folder.name, f"{folder / file}: {problem}") from error
        name = f"{folder.resolve().name}-{digest.hexdigest()[:12]}"
        return cls(folder, name, threads, projection=projection if len(files) == 3 else None)

    @property
    def projection(self) -> Path | None:
        """The file of the matrix that makes tokens narrow, if they are kept."""
        return self._projection

    @property
    def dimension(self) -> int:
        if not self._dimension:
            self._dimension = len(self._read_vector(self._loaded_model().read("")))
        return self._dimension

    @property
    def token_dimension(self) -> int:
        if self._token_dimension is None:
            self._token_dimension = self._loaded_model().token_dimension
        return self._token_dimension

    def warm(self) -> None:
        """Load the model now, so that the first text does not wait for it."""
        self._loaded_model().read("")

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        workers = min(self._threads, len(passages))
        if workers <= 1:
            return [self._read(passage) for passage in passages]
        self._loaded_model()  # so that the workers do not queue up behind the loading
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            return list(pool.map(self._read, passages))

    def ask(self, text: str) -> QueryEmbedding:
        """Return what a question means.

        `spans` count in what the model is shown, which is the text itself unless that is
        longer than `MAX_CHARS`.
        """
        model = self._loaded_model()
        made = model.read(text)
        small = round_as_tokens(model.narrow(made.tokens))
        vector = self._read_vector(made)
        rows = normalize_rows(made.tokens)
        return QueryEmbedding(vector, rows, small, made.spans, made.known, self.name)

    def _read(self, passage: Passage) -> PassageEmbedding:
        model = self._loaded_model()
        made = model.read(passage.text)
        spoken = [each for each, (start, _) in enumerate(made.spans) if start >= passage.unspoken]
        rows = made.tokens[spoken] if spoken else made.tokens
        return PassageEmbedding(
            self._read_vector(made), quantize_tokens(model.narrow(rows)), made.known
        )

    def _read_vector(self, made: _ModelOutput) -> Vector:
        vectors = normalize_vectors(made.whole)
        if vectors is None:
            raise MindDown(self.name, "the model gave a vector without direction")
        return vectors[0]

    def _loaded_model(self) -> _LoadedEmbedder:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._load()
        return self._loaded

    def _load(self) -> _LoadedEmbedder:
        loaded = _load_embedder(self.folder, self.name, self._projection)
        return replace(loaded, reads_every_script=self._reads_every_script)


def load_built_in(threads: int) -> LocalEmbedder | None:
    """Return the model that comes with the install, or None when `why_not_built_in`."""
    if why_not_built_in():
        return None
    import madeleine_minilm

    return LocalEmbedder(
        madeleine_minilm.folder(),
        madeleine_minilm.MODEL,
        threads,
        madeleine_minilm.DIMENSION,
        madeleine_minilm.projection(),
        madeleine_minilm.TOKEN_DIMENSION,
    )


def why_not_built_in() -> str:
    """Say in a sentence what the built-in model lacks; empty when it lacks nothing.

    It only looks; none of the heavy packages is imported.
    """
    needed = ("madeleine_minilm", "onnxruntime", "tokenizers", "numpy")
    missing = [package for package in needed if importlib.util.find_spec(package) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    import madeleine_minilm

    folder = madeleine_minilm.folder()
    if not all((folder / file).is_file() for file in (MODEL_FILE, TOKENIZER_FILE)):
        return "madeleine_minilm is installed without its weights"
    return ""


def _is_unknown_token(token: str) -> bool:
    """Whether a token stands for something that the model does not know as a word: any text
    at all, or a letter or two of a script of which it knows only letters."""
    bare = token.removeprefix("##")
    return token in UNKNOWN_TOKENS or (
        0 < len(bare) <= MAX_GUESSED_LETTERS and bare[0] > LAST_LATIN
    )


def _fingerprint_bytes(path: Path) -> bytes:
    """Return the size of a file and the bytes at both its ends: a name for it that does not
    take a second of reading at every start."""
    with path.open("rb") as file:
        first = file.read(FINGERPRINT_BYTES)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - FINGERPRINT_BYTES))
        return size.to_bytes(8, "big") + first + file.read(FINGERPRINT_BYTES)


class _ModelOutput(NamedTuple):
    """What one call of the model gives: the whole text as one row, and a row for each token
    of it, with the characters that the token stands for."""

    whole: Rows
    tokens: Rows
    spans: tuple[tuple[int, int], ...]
    known: float


@dataclass(frozen=True, slots=True)
class _LoadedEmbedder:
    """A network with its tokenizer, and which of its outputs are wanted. Tokens are, when
    there is a projection."""

    network: OnnxNetwork
    tokenizer: Any
    pooled: str
    tokens: str | None
    projection: Rows | None
    reads_every_script: bool = False

    @property
    def token_dimension(self) -> int:
        return 0 if self.projection is None else self.projection.shape[1]

    def read(self, text: str) -> _ModelOutput:
        """Read a text; nothing is scaled yet."""
        import numpy as np

        encoded = self.tokenizer.encode(prepare_text(text, MAX_CHARS))
        # A tokenizer without special tokens makes nothing of an empty text, and a graph
        # makes nothing of nothing. Number 0 is padding almost everywhere.
        ids = np.array([encoded.ids or [0]], np.int64)
        outputs = [self.pooled] if self.tokens is None else [self.pooled, self.tokens]
        pooled, *tokens = self.network.run(ids, np.zeros_like(ids), outputs)
        whole: Rows = pooled.astype(np.float32, copy=False)
        # Every token counts in the mean: there is one text and hence no padding.
        whole = np.mean(whole, axis=1) if whole.ndim == 3 else whole
        if not tokens:
            return _ModelOutput(whole, empty_tokens().astype(np.float32), (), 1.0)
        said = [each for each, mark in enumerate(encoded.special_tokens_mask) if not mark]
        own = [each for each in said if encoded.tokens[each] not in UNKNOWN_TOKENS]
        spans = tuple(encoded.offsets[each] for each in own)
        known = sum(self._knows_token(encoded.tokens[each]) for each in said) / max(len(said), 1)
        rows = tokens[0][0][own].astype(np.float32, copy=False)
        return _ModelOutput(whole, rows, spans, known)

    def _knows_token(self, token: str) -> bool:
        unknown = token in UNKNOWN_TOKENS if self.reads_every_script else _is_unknown_token(token)
        return not unknown

    def narrow(self, tokens: Rows) -> Rows:
        """Return the tokens as narrow as those that are kept."""
        if self.projection is None:
            return tokens
        given, fitting = tokens.shape[1], self.projection.shape[0]
        if given != fitting:
            raise MindDown(
                self.network.name,
                f"the projection is for tokens of {fitting} numbers, the model gives {given}",
            )
        return multiply_rows(tokens, self.projection)


def _load_embedder(folder: Path, name: str, projection: Path | None) -> _LoadedEmbedder:
    network = load_network(folder / MODEL_FILE, name)
    tokenizer = load_tokenizer(folder / TOKENIZER_FILE, name, MAX_TOKENS)
    outputs = network.outputs
    pooled = next((each for each in POOLED_OUTPUTS if each in outputs), outputs[0])
    tokens = next((each for each in TOKEN_OUTPUTS if each in outputs), None)
    if projection is None or tokens is None:
        return _LoadedEmbedder(network, tokenizer, pooled, None, None)
    return _LoadedEmbedder(network, tokenizer, pooled, tokens, _load_projection(projection, name))


def _load_projection(path: Path, name: str) -> Rows:
    import numpy as np

    try:
        matrix: Rows = np.load(path, allow_pickle=False).astype(np.float32)
    except (OSError, ValueError, EOFError) as error:
        raise MindDown(name, f"{path} cannot be loaded: {error}") from error
    if matrix.ndim != 2:
        raise MindDown(name, f"{path} does not hold a matrix")
    return matrix
