"""Loading a model from its folder: an ONNX file and its tokenizer.

What onnxruntime and tokenizers raise becomes `MindDown` here, and how they are set up is said
here once, for whoever runs a model.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from madeleine.errors import MindDown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
KNOWN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@dataclass(frozen=True, slots=True)
class OnnxNetwork:
    """A loaded ONNX file, and what it takes and gives."""

    name: str
    session: Any
    inputs: frozenset[str]
    outputs: tuple[str, ...]

    def run(
        self, ids: NDArray[np.int64], kinds: NDArray[np.int64], outputs: list[str]
    ) -> list[Any]:
        """Return the named outputs for one row of token ids. `kinds` says of each token which
        text it is of, for a model that reads two at once."""
        import numpy as np

        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": kinds,
        }
        taken = {name: given[name] for name in self.inputs}
        try:
            return list(self.session.run(outputs, taken))
        except _onnx_errors() as error:
            raise MindDown(self.name, f"the model does not run: {error}") from error


def load_network(path: Path, name: str) -> OnnxNetwork:
    """Load an ONNX file that wants nothing but texts."""
    try:
        session = _open_session(path, name)
    except ImportError as error:
        raise _unloadable_error(name, error) from error
    inputs = frozenset(each.name for each in session.get_inputs())
    unknown = inputs.difference(KNOWN_INPUTS)
    if unknown:
        raise MindDown(name, f"the model wants inputs we do not have: {', '.join(sorted(unknown))}")
    return OnnxNetwork(name, session, inputs, tuple(each.name for each in session.get_outputs()))


def load_tokenizer(path: Path, name: str, most_tokens: int) -> Any:
    """Load a tokenizer that cuts at `most_tokens` and never pads."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _unloadable_error(name, error) from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing narrower
        if type(error) is not Exception:
            raise
        raise MindDown(name, f"{path} cannot be loaded: {error}") from error
    tokenizer.no_padding()  # MiniLM's file says to pad every text to 128
    tokenizer.enable_truncation(most_tokens)
    return tokenizer


def _open_session(path: Path, name: str) -> Any:
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
    except _onnx_errors() as error:
        raise MindDown(name, f"{path} cannot be loaded: {error}") from error


def _onnx_errors() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises; its errors have no base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return (
        *(state.Fail, state.InvalidArgument, state.InvalidGraph, state.InvalidProtobuf),
        *(state.NoSuchFile, state.NotImplemented, state.RuntimeException),
    )


def _unloadable_error(name: str, error: ImportError) -> MindDown:
    return MindDown(name, f"a package it needs cannot be loaded: {error}")
