"""A sentence model on this machine: an ONNX file and its tokenizer in one folder.

The built-in model comes with the package `madeleine-minilm`; any other folder with
`model.onnx` and `tokenizer.json` will do. Nothing is fetched at run time.

Each text is one call of the model, never a batch. The built-in model is quantised
dynamically: it takes its scale from everything in the call, so in a batch a text would get
another vector in other company, and a rebuild would not give the index it replaces.
Throughput comes from several calls at once instead, each on one thread; onnxruntime lets
go of the interpreter while it computes. See docs/decisions/0002-embedding-model.md.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from madeleine.errors import MindDown
from madeleine.minds.texts import shown
from madeleine.minds.vectors import Rows, unit
from madeleine.model.vector import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"

MOST_TOKENS = 256  # what MiniLM was trained to read; time grows with it
SHOWN_CHARS = 4_000  # 256 tokens are about 1,000 characters of prose; the rest is margin
NAMED_BYTES = 65_536  # of each end of a file, enough to tell two models apart

# Outputs that are one vector per text, in order of preference. A model with none of them is
# averaged over its tokens.
POOLED_OUTPUTS = ("embedding", "sentence_embedding")
KNOWN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class LocalEmbedder:
    """A model in a folder. It is loaded on first use, once, whichever thread comes first."""

    def __init__(self, folder: Path, name: str, threads: int, dimension: int = 0) -> None:
        """`threads` is how many texts of one `embed` are worked on at once, 0 for one per
        core. `dimension`, when known, spares loading the model to learn it."""
        self.folder = folder
        self.name = name
        self._threads = threads or os.cpu_count() or 1
        self._dimension = dimension
        self._loaded: _Loaded | None = None
        self._loading = threading.Lock()

    @classmethod
    def from_folder(cls, folder: Path, threads: int) -> LocalEmbedder:
        """Return the model in a folder of the user's, named after the folder and its content.

        Raises `MindDown` when a file is not there.
        """
        digest = hashlib.sha256()
        for file in (MODEL_FILE, TOKENIZER_FILE):
            try:
                digest.update(_ends(folder / file))
            except OSError as error:
                problem = error.strerror or str(error)
                raise MindDown(folder.name, f"{folder / file}: {problem}") from error
        return cls(folder, f"{folder.resolve().name}-{digest.hexdigest()[:12]}", threads)

    @property
    def dimension(self) -> int:
        if not self._dimension:
            self._dimension = len(self._embed(""))
        return self._dimension

    def warm(self) -> None:
        """Load the model now, so that the first text does not wait for it."""
        self._embed("")

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        workers = min(self._threads, len(texts))
        if workers <= 1:
            return [self._embed(text) for text in texts]
        self._model()  # so that the workers do not queue up behind the loading
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            return list(pool.map(self._embed, texts))

    def _embed(self, text: str) -> Vector:
        model = self._model()
        vectors = unit(model.pooled(text))
        if vectors is None:
            raise MindDown(self.name, "the model gave a vector without direction")
        return vectors[0]

    def _model(self) -> _Loaded:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = _load(self.folder, self.name)
        return self._loaded


def built_in(threads: int) -> LocalEmbedder | None:
    """Return the model that comes with the install, or None when `why_not_built_in`."""
    if why_not_built_in():
        return None
    import madeleine_minilm

    return LocalEmbedder(
        madeleine_minilm.folder(), madeleine_minilm.MODEL, threads, madeleine_minilm.DIMENSION
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


def _ends(path: Path) -> bytes:
    """Return the size of a file and the bytes at both its ends: a name for it that does not
    take a second of reading at every start."""
    with path.open("rb") as file:
        first = file.read(NAMED_BYTES)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - NAMED_BYTES))
        return size.to_bytes(8, "big") + first + file.read(NAMED_BYTES)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A session with its tokenizer, and what the graph takes and gives."""

    name: str
    session: Any
    tokenizer: Any
    inputs: frozenset[str]
    output: str

    def pooled(self, text: str) -> Rows:
        """Return one row: the vector of the whole text, not yet scaled."""
        import numpy as np

        encoded = self.tokenizer.encode(shown(text, SHOWN_CHARS)).ids
        # A tokenizer without special tokens makes nothing of an empty text, and a graph
        # makes nothing of nothing. Number 0 is padding almost everywhere.
        ids = np.array([encoded or [0]], np.int64)
        (given,) = self.run(ids, [self.output])
        rows: Rows = given.astype(np.float32, copy=False)
        # Every token counts in the mean: there is one text and hence no padding.
        return np.mean(rows, axis=1) if rows.ndim == 3 else rows

    def run(self, ids: NDArray[np.int64], outputs: list[str]) -> list[Any]:
        """Return the named outputs of the graph for one row of token ids."""
        import numpy as np

        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        taken = {name: given[name] for name in self.inputs}
        try:
            return list(self.session.run(outputs, taken))
        except _failures() as error:
            raise MindDown(self.name, f"the model does not run: {error}") from error


def _load(folder: Path, name: str) -> _Loaded:
    try:
        session = _session(folder / MODEL_FILE, name)
        tokenizer = _tokenizer(folder / TOKENIZER_FILE, name)
    except ImportError as error:
        raise MindDown(name, f"a package it needs cannot be loaded: {error}") from error
    inputs = frozenset(each.name for each in session.get_inputs())
    unknown = inputs.difference(KNOWN_INPUTS)
    if unknown:
        raise MindDown(name, f"the model wants inputs we do not have: {', '.join(sorted(unknown))}")
    outputs = [each.name for each in session.get_outputs()]
    output = next((each for each in POOLED_OUTPUTS if each in outputs), outputs[0])
    return _Loaded(name, session, tokenizer, inputs, output)


def _session(path: Path, name: str) -> Any:
    # Its builds may report usage to their maker and keep a device id in the user's cache. It
    # asks the environment when it loads, so this has to come before the import.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3  # errors; warnings about a graph are nobody's business here
    # The arena costs nothing to leave out, and never gives memory back.
    options.enable_cpu_mem_arena = False
    # A thread that spins while it waits takes the core from the one that is waited for.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except _failures() as error:
        raise MindDown(name, f"{path} cannot be loaded: {error}") from error


def _failures() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises; its errors have no base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return (
        *(state.Fail, state.InvalidArgument, state.InvalidGraph, state.InvalidProtobuf),
        *(state.NoSuchFile, state.NotImplemented, state.RuntimeException),
    )


def _tokenizer(path: Path, name: str) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing narrower
        if type(error) is not Exception:
            raise
        raise MindDown(name, f"{path} cannot be loaded: {error}") from error
    tokenizer.no_padding()  # MiniLM's file says to pad every text to 128
    tokenizer.enable_truncation(MOST_TOKENS)
    return tokenizer
