"""The local model, with the real weights where they are installed, and a tiny one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from madeleine.errors import MindDown
from madeleine.minds.local import LocalEmbedder, load_built_in, why_not_built_in

from .onnx_bytes import write_model
from .reading import passage, vectors

TABLE = np.array([[0, 0, 3], [1, 0, 0], [0, 1, 0]], np.float32)
WORDS = ["?", "east", "north"]


@pytest.fixture(scope="module")
def minilm() -> LocalEmbedder:
    embedder = load_built_in(threads=2)
    if embedder is None:
        pytest.skip(why_not_built_in())
    return embedder


def cosine(embedder: LocalEmbedder, one: str, other: str) -> float:
    a, b = vectors(embedder, [one, other])
    return float(a @ b)


def test_the_built_in_model_gives_the_known_vector(minilm: LocalEmbedder) -> None:
    """The first numbers of all-MiniLM-L6-v2 for this sentence, within what int8 moves them."""
    (vector,) = vectors(minilm, ["This is an example sentence"])

    assert vector.dtype == np.float32
    assert vector.shape == (minilm.dimension,) == (384,)
    assert vector[:3] == pytest.approx([0.067657, 0.063496, 0.048713], abs=0.02)


def test_texts_of_like_meaning_are_near_each_other(minilm: LocalEmbedder) -> None:
    near = cosine(minilm, "We store the index in SQLite", "The database of the index is SQLite")
    far = cosine(minilm, "We store the index in SQLite", "She likes to swim in the sea")

    assert near > 0.6 > 0.3 > far


def test_a_vector_does_not_depend_on_its_company(minilm: LocalEmbedder) -> None:
    texts = ["short", "a much longer text " * 40, "日本語のテキスト", "", "short"]

    together = minilm.read([passage(text) for text in texts])
    alone = [minilm.read([passage(text)])[0] for text in texts]

    for one, other in zip(together, alone, strict=True):
        assert one.vector.tobytes() == other.vector.tobytes()
        assert one.tokens.tobytes() == other.tokens.tobytes()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t ",
        "\0",
        "before\0after",
        "\ud800 half a pair",
        "שלום עולם",
        "مرحبا بالعالم",
        "สวัสดีชาวโลก",
        "🫖🍰",
        "e\u0301\u200d\u202e",
        "x" * 1_000_000,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_any_text_has_a_vector_of_length_one(minilm: LocalEmbedder, text: str) -> None:
    (vector,) = vectors(minilm, [text])

    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


def test_a_text_of_a_megabyte_means_what_its_beginning_means(minilm: LocalEmbedder) -> None:
    beginning = "We keep the index in SQLite because one file is easy to move. " * 25
    spaces = " " * 100_000

    whole = f"{spaces}{beginning}{'and so on ' * 90_000}"

    assert cosine(minilm, whole, beginning) > 0.999


def test_each_token_is_kept_narrow_and_as_long_as_a_byte_can_say(minilm: LocalEmbedder) -> None:
    (trace,) = minilm.read([passage("We keep the index in SQLite")])

    assert minilm.token_dimension == 128
    assert trace.tokens.dtype == np.int8
    assert trace.tokens.shape == (7, 128)  # "SQLite" is two of them, and no marks are kept
    assert np.linalg.norm(trace.tokens.astype(float), axis=1) == pytest.approx([127] * 7, abs=3)


def test_a_question_says_which_characters_each_token_stands_for(minilm: LocalEmbedder) -> None:
    text = "Who   chose SQLite? 世界"
    asked = minilm.ask(text)

    words = [text[start:end] for start, end in asked.spans]
    assert words == ["Who", "chose", "SQL", "ite", "?", "世"]  # 界 is unknown to it
    assert (asked.tokens.shape, asked.small.shape) == ((6, 384), (6, 128))
    assert asked.tokens.dtype == asked.small.dtype == np.float32
    assert np.allclose(np.linalg.norm(asked.tokens, axis=1), 1, atol=1e-5)


def test_a_question_and_a_passage_of_the_same_words_have_the_same_trace(
    minilm: LocalEmbedder,
) -> None:
    asked = minilm.ask("We keep the index in SQLite")
    (trace,) = minilm.read([passage("We keep the index in SQLite")])

    assert asked.vector.tobytes() == trace.vector.tobytes()
    assert np.array_equal(asked.small, trace.tokens.astype(np.float32) / np.float32(127))


def test_the_tokens_of_a_question_add_up_to_its_meaning(minilm: LocalEmbedder) -> None:
    asked = minilm.ask("Which database did we choose for the index?")
    total = asked.tokens.sum(axis=0)

    assert float(total @ asked.vector) / float(np.linalg.norm(total)) > 0.9


def test_what_is_unspoken_colours_the_whole_and_is_no_token(minilm: LocalEmbedder) -> None:
    text = "[8 May 2023] Melanie: I painted it!"
    (spoken,) = minilm.read([passage(text)])
    (half,) = minilm.read([passage(text, unspoken=13)])
    (silent,) = minilm.read([passage(text, unspoken=len(text))])

    assert half.vector.tobytes() == spoken.vector.tobytes()
    assert len(half.tokens) == len(spoken.tokens) - 6  # "[", "8", "May", "202", "3", "]"
    assert half.tokens.tobytes() == spoken.tokens[6:].tobytes()
    assert silent.tokens.tobytes() == spoken.tokens.tobytes()


def compass(folder: Path, projection: object = None) -> LocalEmbedder:
    """The tiny model, perhaps with a projection of its own."""
    write_model(folder, TABLE, WORDS)
    if isinstance(projection, np.ndarray):
        np.save(folder / "projection.npy", projection)
    elif isinstance(projection, bytes):
        (folder / "projection.npy").write_bytes(projection)
    return LocalEmbedder.from_folder(folder, threads=1)


def test_a_model_without_a_projection_keeps_no_tokens_and_is_not_loaded_to_say_so(
    tmp_path: Path,
) -> None:
    embedder = compass(tmp_path / "compass")
    (embedder.folder / "model.onnx").rename(tmp_path / "away")

    assert embedder.token_dimension == 0

    (tmp_path / "away").rename(embedder.folder / "model.onnx")
    (trace,) = embedder.read([passage("east north")])
    asked = embedder.ask("east north")
    assert trace.tokens.shape == asked.tokens.shape == asked.small.shape == (0, 0)
    assert asked.spans == ()


def test_a_folder_may_bring_its_own_projection(tmp_path: Path) -> None:
    """The tokens of north are (0, 1, 0), which this projection makes (0.6, 0.8)."""
    projection = np.array([[1, 0], [3, 4], [0, 0]], np.float32)
    embedder = compass(tmp_path / "compass", projection)

    (trace,) = embedder.read([passage("east north")])

    assert embedder.token_dimension == 2
    assert trace.tokens.tolist() == [[127, 0], [76, 102]]
    assert embedder.ask("north east").spans == ((0, 5), (6, 10))
    assert embedder.name != compass(tmp_path / "b" / "compass").name


def test_a_token_without_direction_is_not_kept(tmp_path: Path) -> None:
    """East has none in this projection."""
    embedder = compass(tmp_path / "compass", np.array([[0], [1], [0]], np.float32))

    (trace,) = embedder.read([passage("east north")])

    assert trace.tokens.tolist() == [[127]]
    assert embedder.ask("east north").small.tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("projection", "problem"),
    [
        (b"not numbers", r"projection\.npy cannot be loaded"),
        (b"", r"projection\.npy cannot be loaded"),
        (np.ones(3, np.float32), r"projection\.npy does not hold a matrix"),
        (np.ones((384, 2), np.float32), "for tokens of 384 numbers, the model gives 3"),
    ],
)
def test_a_projection_that_does_not_fit_is_said(
    tmp_path: Path, projection: object, problem: str
) -> None:
    embedder = compass(tmp_path / "compass", projection)

    with pytest.raises(MindDown, match=problem):
        embedder.read([passage("east")])


def test_no_texts_give_no_vectors_and_load_nothing() -> None:
    assert LocalEmbedder(Path("nowhere"), "absent", threads=2).read([]) == []


def test_threads_that_come_first_together_load_the_model_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    session = onnxruntime.InferenceSession

    def counting(*args: object, **more: object) -> object:
        made.append(args)
        return session(*args, **more)

    monkeypatch.setattr(onnxruntime, "InferenceSession", counting)
    embedder = LocalEmbedder.from_folder(write_model(tmp_path / "compass", TABLE, WORDS), threads=1)
    start = threading.Barrier(8)

    def first() -> None:
        start.wait(timeout=10)
        vectors(embedder, ["east"])

    threads = [threading.Thread(target=first) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)

    assert len(made) == 1


def test_a_model_without_a_pooled_output_is_averaged_over_its_tokens(tmp_path: Path) -> None:
    embedder = LocalEmbedder.from_folder(write_model(tmp_path / "compass", TABLE, WORDS), threads=1)

    made = vectors(embedder, ["east", "east north", "east east east north"])

    expected = [[1, 0, 0], [0.5**0.5, 0.5**0.5, 0], [0.9**0.5, 0.1**0.5, 0]]
    assert np.allclose(made, expected, atol=1e-6)
    assert embedder.dimension == 3


def test_a_model_is_given_just_the_inputs_it_has(tmp_path: Path) -> None:
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    folder = write_model(tmp_path / "compass", TABLE, WORDS, inputs=inputs)

    assert vectors(LocalEmbedder.from_folder(folder, threads=1), ["north"])[0].tolist() == [0, 1, 0]


def test_an_empty_text_works_without_special_tokens(tmp_path: Path) -> None:
    embedder = LocalEmbedder.from_folder(write_model(tmp_path / "compass", TABLE, WORDS), threads=1)

    assert vectors(embedder, [""])[0].tolist() == [0, 0, 1]


def test_a_folder_is_named_after_itself_and_its_content(tmp_path: Path) -> None:
    first = LocalEmbedder.from_folder(
        write_model(tmp_path / "a" / "compass", TABLE, WORDS), threads=1
    )
    same = LocalEmbedder.from_folder(
        write_model(tmp_path / "b" / "compass", TABLE, WORDS), threads=1
    )
    other = LocalEmbedder.from_folder(
        write_model(tmp_path / "c" / "compass", TABLE + 1, WORDS), threads=1
    )
    respelt = write_model(tmp_path / "d" / "compass", TABLE, ["?", "west", "south"])

    assert first.name.startswith("compass-")
    assert first.name == same.name
    assert len({first.name, other.name, LocalEmbedder.from_folder(respelt, threads=1).name}) == 3


def test_a_folder_without_a_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(MindDown, match=r"model\.onnx: No such file"):
        LocalEmbedder.from_folder(tmp_path, threads=1)


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_a_broken_file_is_named_when_the_model_is_needed(tmp_path: Path, broken: str) -> None:
    folder = write_model(tmp_path / "compass", TABLE, WORDS)
    (folder / broken).write_bytes(b"{ not a model")
    embedder = LocalEmbedder.from_folder(folder, threads=1)

    with pytest.raises(MindDown, match=f"{broken} cannot be loaded"):
        vectors(embedder, ["east"])


def test_a_model_that_wants_more_than_text_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "eyes", TABLE, WORDS, inputs=("input_ids", "pixel_values"))

    with pytest.raises(MindDown, match="inputs we do not have: pixel_values"):
        LocalEmbedder.from_folder(folder, threads=1).warm()


def test_a_model_that_fails_while_it_runs_is_down(tmp_path: Path) -> None:
    """The table is one row short, so the last word looks beyond its end."""
    embedder = LocalEmbedder.from_folder(
        write_model(tmp_path / "short", TABLE[:2], WORDS), threads=1
    )

    with pytest.raises(MindDown, match="the model does not run"):
        vectors(embedder, ["north"])


def test_a_vector_without_direction_is_never_returned(tmp_path: Path) -> None:
    embedder = LocalEmbedder.from_folder(
        write_model(tmp_path / "zero", TABLE * 0, WORDS), threads=1
    )

    with pytest.raises(MindDown, match="without direction"):
        vectors(embedder, ["east"])


def test_a_missing_package_is_said_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "madeleine_minilm", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert load_built_in(threads=1) is None
    assert "madeleine_minilm" in why_not_built_in()


def test_finding_a_model_imports_nothing_heavy() -> None:
    """The daemon starts with them, but `madeleine --help` and the hooks must not pay."""
    program = (
        "import sys\n"
        "import madeleine.minds.port, madeleine.minds.local, madeleine.minds.cache\n"
        "import madeleine.minds.remote, madeleine.minds.fake, madeleine.minds.reranker\n"
        "madeleine.minds.local.load_built_in(0)\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'huggingface_hub'}\n"
        "sys.exit(', '.join(heavy.intersection(sys.modules)) or 0)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8")

    assert (done.returncode, done.stderr) == (0, "")


def test_the_port_alone_costs_nothing() -> None:
    program = "import sys, madeleine.minds.port; sys.exit('apsw' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_loading_the_model_leaves_nothing_in_the_home_and_asks_no_network(tmp_path: Path) -> None:
    """The runtime's own reporting is off: no files of its own, no name looked up."""
    if load_built_in(1) is None:
        pytest.skip("the built-in model is not installed")
    program = (
        "import socket\n"
        "def refuse(*given): raise SystemExit('the network was asked')\n"
        "socket.socket.connect = refuse\n"
        "socket.getaddrinfo = refuse\n"
        "from madeleine.minds.local import load_built_in\n"
        "load_built_in(1).ask('one text')\n"
    )
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **home}, check=False, timeout=60
    )

    assert done.returncode == 0
    assert list(tmp_path.rglob("*")) == []


def test_a_question_in_a_script_the_model_cannot_read_says_so(minilm: LocalEmbedder) -> None:
    """It makes the same of every such text; similarity would mean nothing."""
    assert minilm.ask("which database did we pick?").known == 1.0
    for text in ("ราคาทองคำวันนี้", "🦊🦊", "今日の天気は"):
        assert minilm.ask(text).known < 0.5
