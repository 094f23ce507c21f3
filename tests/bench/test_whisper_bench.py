"""`madeleine bench whisper`: its metrics, its prompts, and a run of every part.

All texts are made up here, in the shape in which the sets are published.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from madeleine.api.madeleine import Madeleine
from tests.bench.test_recall_bench import (
    BELIEFS,
    CASES,
    CONVERSATION,
    GOLDEN,
    belief,
    bench,
    contents,
    figures,
    written,
    written_chat,
)
from tests.cli.running import Cli

prompts: Any = bench("_whisper_prompts")
asking: Any = bench("_whisper_asking")
metrics: Any = bench("_whisper_metrics")
parts: Any = bench("_whisper_parts")
sets: Any = bench("_whisper_sets")
speed: Any = bench("_whisper_speed")
whisper: Any = bench("whisper")
memory_id: Any = bench("_recall_sets").memory_id

PARTS = "locomo,beam,proactive,ormah,precision,session"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)
    return Cli(tmp_path / "home")


# -- metrics -------------------------------------------------------------------------------


def answer(kind: str, gold: str, *injected: tuple[str, float], **more: Any) -> Any:
    """Return an answer; each letter of `gold` is a memory that fits."""
    prompt = prompts.Prompt("…", kind, frozenset(gold), **more)
    found = tuple(asking.Injected(name, score) for name, score in injected)
    return asking.Answer(prompt, found, max((score for _, score in injected), default=0.0))


OWN = [
    answer("own", "ab", ("a", 0.9), ("x", 0.8)),
    answer("own", "c"),
    answer("own", "d", ("y", 0.7)),
]
NEGATIVE = [answer("small", "", ("z", 0.75)), answer("small", ""), answer("task", "")]


def test_rates_are_over_prompts_and_shares_over_memories() -> None:
    assert metrics.whisper_rate(OWN).value == pytest.approx(2 / 3)
    assert metrics.hit_rate(OWN).value == pytest.approx(1 / 3)
    assert metrics.precision(OWN).value == pytest.approx(1 / 3)
    assert metrics.precision(OWN).n == 3
    assert metrics.recall(OWN).value == pytest.approx(1 / 4)
    assert metrics.recall(OWN).n == 4


def test_every_kind_of_negative_weighs_the_same() -> None:
    false = metrics.false_rates([*OWN, *NEGATIVE], ("small", "task", "swap"))

    assert {kind: rate.value for kind, rate in false.items()} == {"small": 0.5, "task": 0}
    assert metrics.over_kinds(false.values()).value == 0.25
    assert metrics.over_kinds(false.values()).n == 3


def test_usefulness_is_what_was_right_of_all_that_was_said() -> None:
    false = metrics.over_kinds(metrics.false_rates(NEGATIVE, ("small", "task")).values())

    worth = metrics.useful(metrics.hit_rate(OWN), metrics.whisper_rate(OWN), false)

    assert worth == pytest.approx((1 / 3) / (2 / 3 + 1 / 4))
    assert metrics.useful(*(metrics.mean([0]) for _ in range(3))) == 0


def test_the_area_under_the_curve_counts_a_tie_as_half() -> None:
    area = metrics.auc([0.9, 0.5], [0.5, 0.1])

    assert area.value == pytest.approx(3.5 / 4)
    assert area.n == 4
    assert area.spread > 0
    assert metrics.auc([1.0, 2.0], [0.0]).value == 1
    assert metrics.auc([], [0.0]).n == 0


def test_a_set_is_exact_without_anything_more_less_or_forbidden() -> None:
    assert metrics.exact(answer("own", "ab", ("b", 0.5), ("a", 0.4)))
    assert metrics.exact(answer("empty", ""))
    assert not metrics.exact(answer("own", "ab", ("a", 0.5)))
    assert not metrics.exact(answer("empty", "", ("x", 0.5)))
    assert not metrics.exact(answer("own", "a", ("a", 0.5), forbidden=frozenset("a")))


def test_a_concept_is_recalled_by_any_memory_that_carries_it() -> None:
    concepts = (frozenset("ab"), frozenset("c"), frozenset("d"))

    assert metrics.concept_recall(["x", "b", "d"], concepts, 2) == pytest.approx(1 / 3)
    assert metrics.concept_recall(["x", "b", "d"], concepts, 3) == pytest.approx(2 / 3)


# -- gates ---------------------------------------------------------------------------------


def test_a_gate_keeps_back_what_scores_below_it_and_nothing_else() -> None:
    given = answer("own", "a", ("a", 0.5), ("b", 0.4))

    assert given.at(0.5).ids == ("a",)
    assert given.at(0.6).ids == ()
    assert given.at(0.6).best == 0.5
    assert given.top == 0.5
    assert given.at(0.6).top == float("-inf")


TOPS = [answer("small", "", ("x", score)) for score in (0.2, 0.4, 0.6, 0.8)]
TOPS += [answer("task", "", ("x", score)) for score in (0.1, 0.3)]


@pytest.mark.parametrize(
    ("limits", "above"),
    [
        (metrics.Limits(0.125), 0.6),  # a quarter of small, nothing of task
        (metrics.Limits(0.125, {"small": 0.1}), 0.8),
        (metrics.Limits(0.25).within(2), 0.6),
        (metrics.Limits(0), 0.8),
    ],
)
def test_the_lowest_gate_is_just_above_the_first_that_must_be_silent(
    limits: Any, above: float
) -> None:
    gate = metrics.lowest_gate(TOPS, ("small", "task"), limits)

    assert above < gate < above + 1e-9


def test_without_false_whispers_the_gate_stays_open() -> None:
    quiet = [answer("small", ""), answer("task", "")]

    assert metrics.lowest_gate(quiet, ("small", "task"), metrics.Limits(0)) == 0


def test_the_most_exact_gate_lets_in_what_belongs_and_no_more() -> None:
    given = [answer("own", "a", ("a", 0.8), ("x", 0.5)), answer("empty", "", ("y", 0.6))]

    assert 0.6 < metrics.most_exact_gate(given) <= 0.8


def test_each_group_is_read_at_a_gate_of_the_others() -> None:
    groups = [
        [answer("small", "", ("x", 0.3)), answer("own", "a", ("a", 0.4))],
        [answer("small", "", ("x", 0.7)), answer("own", "b", ("b", 0.5))],
    ]

    first, second = metrics.frozen(groups, parts.PARTS["proactive"].choose())

    assert first.gate == pytest.approx(0.7)
    assert second.gate == pytest.approx(0.3)
    assert [each.ids for each in first.answers] == [(), ()]
    assert [each.ids for each in second.answers] == [("x",), ("b",)]


def test_halves_hold_every_second_prompt_of_each_kind() -> None:
    given = [answer("own", name) for name in "abc"] + [answer("small", "") for _ in range(2)]

    one, other = metrics.halves(given)

    assert [each.prompt.gold for each in one] == [frozenset("a"), frozenset("c"), frozenset()]
    assert [each.prompt.kind for each in other] == ["own", "small"]


# -- prompts -------------------------------------------------------------------------------


def test_names_are_changed_as_whole_words_and_in_their_short_form() -> None:
    theirs, ours = ("Mirabel", "Jonas"), ("Ann", "Theodor")

    changed = prompts.swapped("Did Mirabel see Mir's and Jonas's canoe in Jonastown?", theirs, ours)

    assert changed == "Did Ann see Ann's and Theodor's canoe in Jonastown?"


def test_names_can_trade_places() -> None:
    assert prompts.swapped("Bo met Ada.", ("Ada", "Bo"), ("Bo", "Ada")) == "Ada met Bo."


def test_a_sample_is_the_same_each_time_and_no_larger_than_its_pool() -> None:
    pool = list(range(50))

    assert prompts.sampled("one", pool, 10) == prompts.sampled("one", pool, 10)
    assert prompts.sampled("one", pool, 10) != prompts.sampled("two", pool, 10)
    assert sorted(prompts.sampled("one", pool, 80)) == pool


def written_lines(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def written_asides(folder: Path) -> Path:
    task = json.dumps({"text": "draw a house", "kind": "task", "from": "here"})
    written_lines(folder / "negatives-some.jsonl", task)
    written_lines(folder / "filler-some.txt", "ok", "thanks", "go on", "sort a list", "add two")
    return folder


def test_three_fifths_of_the_filler_are_small_talk(tmp_path: Path) -> None:
    asides = prompts.read_asides(written_asides(tmp_path))

    assert [(each.text, each.kind) for each in asides] == [
        ("draw a house", "task"), ("ok", "small"), ("thanks", "small"), ("go on", "small"),
        ("sort a list", "task"), ("add two", "task"),
    ]  # fmt: skip


OTHER_CONVERSATION = {
    "sample_id": "conv-2",
    "conversation": {
        "speaker_a": "Theodor",
        "speaker_b": "Ann",
        "session_1_date_time": "9:00 am on 1 July, 2024",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "My bakery opens on Monday."},
            {"speaker": "Theodor", "dia_id": "D1:2", "text": "I will bring my beagle."},
        ],
    },
    "qa": [
        {"question": "What does Ann open on Monday?", "evidence": ["D1:1"], "category": 4},
        {"question": "Which dog has Ann?", "evidence": ["D1:2"], "category": 5},
    ],
}


def written_data(root: Path) -> Path:
    written_asides(root / "negatives")
    written(root / "locomo" / "locomo-some.json", [CONVERSATION, OTHER_CONVERSATION])
    written_chat(root / "beam-tiny")
    written(root / "beam-tiny" / "2" / "chat.json", SECOND_CHAT)
    written(root / "beam-tiny" / "2" / "probing_questions.json", SECOND_PROBES)
    for domain, turn, concept in (
        ("garden", "On Sundays I prune the trees.", "Tree pruning"),
        ("games", "My chess club meets in the cellar.", "Chess club"),
    ):
        written_domain(root / "proactivemembench" / domain, turn, concept)
    written(root / "ormah" / "golden-some.jsonl", AGED)
    written_dialogue(root / "precisionmembench")
    return root


def by_kind(trial: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for prompt in trial.prompts:
        found.setdefault(prompt.kind, []).append(prompt.text)
    return found


def test_a_conversation_is_asked_what_others_were_asked_with_both_names(tmp_path: Path) -> None:
    first, second = sets.read_trials("locomo", written_data(tmp_path))

    assert by_kind(first)["own"] == ["Who bought a kayak?", "Who has a kayak or a canoe?"]
    assert by_kind(first)["other"] == ["What does Ann open on Monday?"]
    assert by_kind(first)["swap"] == ["What does Jonas open on Monday?"]
    assert sorted(by_kind(second)["other"]) == sorted(by_kind(first)["own"])
    assert all(not each.gold for each in first.prompts if each.kind != "own")


def test_conversations_with_a_common_speaker_are_no_strangers(tmp_path: Path) -> None:
    data = written_data(tmp_path)
    written(
        data / "locomo" / "locomo-some.json", [CONVERSATION, {**CONVERSATION, "sample_id": "b"}]
    )

    assert {"other", "swap"}.isdisjoint(by_kind(sets.read_trials("locomo", data)[0]))


SECOND_CHAT = [
    {"turns": [[{"id": 0, "role": "user", "content": "My flat has a balcony. ->-> 1,1"}]]}
]
SECOND_PROBES = {
    "information_extraction": [{"question": "What has my flat?", "source_chat_ids": [0]}],
    "event_ordering": [{"question": "What came first?", "source_chat_ids": [0]}],
}  # fmt: skip


def test_questions_about_everything_or_nothing_are_no_prompts_of_a_chat(tmp_path: Path) -> None:
    first, second = sets.read_trials("beam", written_data(tmp_path))

    assert by_kind(first)["own"] == ["When is it?"]
    assert by_kind(first)["abstention"] == ["What is my shoe size?"]
    assert by_kind(first)["other"] == by_kind(second)["own"] == ["What has my flat?"]


def written_domain(folder: Path, said: str, concept: str) -> Path:
    turns = [
        {"turn_id": 1, "role": "user", "content": said, "timestamp": "2024-03-01T20:15:00",
         "mentioned_entities": ["Weekend"], "planted_pairs": []},
        {"turn_id": 2, "role": "assistant", "content": concept, "timestamp": "2024-03-01T20:16:00",
         "mentioned_entities": [concept], "planted_pairs": []},
        {"turn_id": 3, "role": "user", "content": "It rained.", "mentioned_entities": ["Rain"],
         "timestamp": "2024-03-01T20:17:00+08:00", "planted_pairs": []},
    ]  # fmt: skip
    named = [{"concept": name} for name in (concept, "Heavy rain", "Nowhere")]
    asked = [
        {"question": f"Time for the {concept.split()[0]} again.", "candidate_set": named},
        {"question": "What a day.", "candidate_set": [{"concept": "Nowhere"}]},
    ]
    written(folder / "step4_conversations.json", [{"session_id": 1, "turns": turns}])
    written(folder / "step5_proactive_questions.json", asked)
    return folder


def test_a_turn_carries_a_concept_by_its_entities_its_text_or_its_stems(tmp_path: Path) -> None:
    games, garden = sets.read_trials("proactive", written_data(tmp_path))

    said, (trigger,) = contents(garden.store), [p for p in garden.prompts if p.kind == "own"]
    assert list(said.values()) == ["On Sundays I prune the trees.", "It rained."]
    assert [{said[each] for each in of} for of in trigger.concepts] == [
        {"On Sundays I prune the trees."}, {"It rained."},
    ]  # fmt: skip
    assert trigger.gold == frozenset(said)
    assert by_kind(garden)["other"] == by_kind(games)["own"] == ["Time for the Chess again."]


FIRST: Any
SECOND: Any
FIRST, SECOND = GOLDEN["memories"]
AGED = {
    **GOLDEN,
    "simulate_session": True,
    "memories": [{**FIRST, "created_days_ago": 3}, SECOND],
    "prompts": [
        *GOLDEN["prompts"],
        {"text": "what is my size?", "category": "identity",
         "expected": {"should_inject": [], "should_not_inject": ["n1"], "must_be_silent": True}},
    ],
}  # fmt: skip


def test_golden_prompts_are_of_three_kinds_and_memories_have_their_age(tmp_path: Path) -> None:
    (trial,) = sets.read_trials("ormah", written_data(tmp_path))

    wanted = trial.prompts[0]
    old, new = trial.store.drafts
    assert by_kind(trial)["noise"] == ["thanks"]
    assert by_kind(trial)["unanswered"] == ["what is my size?"]
    assert wanted.gold == {memory_id("ormah", "n1")}
    assert wanted.forbidden == {memory_id("ormah", "n2")}
    assert wanted.space == "atlas"
    assert new["created"] - old["created"] == timedelta(days=3)
    assert timedelta(0) <= datetime.now(UTC) - new["created"] <= timedelta(hours=2)


def written_dialogue(folder: Path) -> Path:
    given = [
        {**each, "updated_at": "2025-03-01T00:00:00Z", "pinned": each["_id"] == "tabs"}
        for each in [*BELIEFS, belief("linter", "Lints with care.", "domain:code")]
    ]
    written(folder / "beliefs.seed.json", given)
    lints = {"relevantBeliefs": {"shouldOnlyInclude": ["linter"]}}
    silent = {"noiseCheck": {"mustNotSurface": ["linter"]}}
    turns = [
        {"userMessage": "how do I lint?", "scope": ["domain:code"], "expect": lints},
        {"userMessage": "thanks, and lunch?", "scope": ["domain:code"], "expect": silent},
    ]
    case = {"caseId": "lint", "category": "x", "query": "lints with care", "expect": lints}
    written(folder / "retrieval.cases-some.json", [*CASES, {**case, "scope": ["domain:code"]}])
    written(folder / "session-retrieval.cases-some.json", [{"caseId": "talk", "turns": turns}])
    return folder


def test_beliefs_that_the_agent_has_anyway_are_not_sought(tmp_path: Path) -> None:
    other, own = sets.read_trials("precision", written_data(tmp_path))

    said = contents(own.store)
    over = [draft["content"] for draft in own.store.drafts if draft.get("valid_until")]
    assert "Indents with tabs." not in said.values()  # it is pinned
    assert over == ["Indents with spaces.", "Which host to take?"]
    assert other.prompts == ()
    assert [each.kind for each in own.prompts] == ["empty", "empty", "own"]
    assert {said[each] for each in own.prompts[2].gold} == {"Lints with care."}
    assert own.prompts[2].space == "domain:code"


def test_dialogues_are_one_session_each(tmp_path: Path) -> None:
    beliefs, golden = sets.read_trials("session", written_data(tmp_path))

    assert (beliefs.session, golden.session) == ("talk", "case-1")
    assert [each.kind for each in beliefs.prompts] == ["own", "empty"]
    assert beliefs.prompts[1].forbidden == {memory_id("precision", "linter")}
    assert [each.kind for each in golden.prompts] == ["own", "noise", "unanswered"]


def test_prompts_are_gathered_with_store_kind_and_gold(tmp_path: Path) -> None:
    gathered = sets.gather_prompts("locomo", written_data(tmp_path))

    store, text, kind, gold = gathered[0]
    said = contents(store)
    assert (store.name, text, kind) == ("locomo-conv-1", "Who bought a kayak?", "own")
    assert {said[each] for each in gold} == {"I bought a kayak."}
    assert {kind for _, _, kind, _ in gathered} == {"own", "other", "swap", "small", "task"}


def test_a_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"beam\*.*BEAM"):
        sets.gather_prompts("beam", tmp_path)


# -- the whole -----------------------------------------------------------------------------

SILENT_BELOW = 0.5


def recalled(
    self: Madeleine,
    prompt: str,
    *,
    session_id: str | None = None,
    space: str | None = None,
    explain: bool = False,
) -> SimpleNamespace:
    """Whisper what recall finds, as far as the gate lets it."""
    gate = float(os.environ.get(asking.GATE, SILENT_BELOW))
    most = int(os.environ.get(asking.MAX_NODES, 6))
    hits = self.recall(prompt, limit=most, space=space)
    injected = tuple(
        SimpleNamespace(memory=each.memory, score=each.score) for each in hits if each.score >= gate
    )
    best = max((each.score for each in hits), default=0.0)
    return SimpleNamespace(injected=injected, explained={"best": best} if explain else {})


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Madeleine, "whisper", recalled, raising=False)


@pytest.mark.soak
@pytest.mark.usefixtures("stand_in")
def test_every_set_is_measured_through_the_command(cli: Cli, tmp_path: Path) -> None:
    data = written_data(tmp_path / "data")

    ran = cli("--json", "bench", "whisper", "--", "--only", PARTS, "--data", str(data), "--sweep")

    found = figures(ran)
    assert ran.answer["benchmark"] == "whisper"
    assert ran.answer["left_out"] == []
    assert {part for part, _ in found} == {part.name for part in parts.PARTS.values()}
    assert found["W1 locomo", "hit (frozen)"]["n"] == 3
    assert found["W1 locomo", "FWR swap (shipped)"]["n"] == 3
    assert found["W2 beam", "whisper rate of abstention (frozen)"]["n"] == 1
    assert found["W3 proactive", "concept recall@20 (recall)"]["value"] >= 0.5
    assert found["W4 ormah", "forbidden whispered (shipped)"]["n"] == 2
    assert found["W5 precision", "exact (frozen)"]["target"]["bound"] == pytest.approx(33 / 39)
    assert found["session", "exact (shipped)"]["n"] == 5
    assert "gate (frozen)" not in {what for part, what in found if part == "session"}
    missed = any(each["passed"] is False for each in found.values())
    assert ran.code == int(missed)


@pytest.mark.usefixtures("stand_in")
def test_a_swept_gate_keeps_its_level_says_so_and_passes_nothing(cli: Cli, tmp_path: Path) -> None:
    data = written_data(tmp_path / "data")

    ran = cli("--json", "bench", "whisper", "--", "--only", "beam", "--data", str(data), "--sweep")

    swept = {what: each for (_, what), each in figures(ran).items() if "swept" in what}
    assert swept["mean FWR (swept to 5 %)"]["value"] <= 0.05
    assert swept["mean FWR (swept to 10 %)"]["value"] <= 0.10
    assert "optimistic" in swept["gate (swept to 1 %)"]["note"]
    assert all(each["passed"] is None for each in swept.values())


@pytest.mark.usefixtures("stand_in")
def test_without_a_frozen_gate_prompts_are_typed_once(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, typed = written_data(tmp_path / "data"), []

    def counted(self: Madeleine, prompt: str, **options: Any) -> object:
        typed.append((prompt, options["session_id"], os.environ.get(asking.GATE)))
        return recalled(self, prompt, **options)

    monkeypatch.setattr(Madeleine, "whisper", counted, raising=False)
    words = ["--only", "precision", "--data", str(data), "--frozen-on", "nothing"]

    ran = cli("--json", "bench", "whisper", "--", *words)

    assert sorted(typed) == sorted(
        (text, None, None) for _, text, *_ in sets.gather_prompts("precision", data)
    )
    assert all("frozen" not in what for _, what in figures(ran))


@pytest.mark.soak
@pytest.mark.usefixtures("stand_in")
def test_a_whisper_is_timed_against_embedding_the_prompt(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "TIMES", 12)
    words = ["--only", "latency", "--size", "600", "--embedded", "100"]

    ran = cli("bench", "whisper", "--", *words, "--json", str(tmp_path / "out"))

    rows = json.loads((tmp_path / "out").read_text(encoding="utf-8"))["figures"]
    found = {each["what"]: each for each in rows}
    assert found["whisper p95"]["value"] >= found["whisper p50"]["value"] > 0
    assert found["whisper p95, against embedding the prompt"]["target"]["bound"] == 4
    assert "| latency 600 | whisper p50 |" in ran.out


@pytest.mark.soak
@pytest.mark.skipif(not hasattr(Madeleine, "whisper"), reason="there is no such door yet")
def test_the_public_door_is_measured(cli: Cli, tmp_path: Path) -> None:
    data = written_data(tmp_path / "data")

    ran = cli("--json", "bench", "whisper", "--", "--only", PARTS, "--data", str(data))

    found = figures(ran)
    assert found["W4 ormah", "FWR small (shipped)"]["n"] == 3
    assert found["W1 locomo", "mean AUC"]["n"] > 0


def test_a_silence_counts_with_the_best_that_it_tells() -> None:
    def silent(prompt: str, **options: object) -> SimpleNamespace:
        return SimpleNamespace(injected=(), explained={"best": 0.4} if prompt else {})

    opened = SimpleNamespace(whisper=silent)

    assert asking.ask(opened, prompts.Prompt("lunch?", "small")).best == 0.4
    assert asking.ask(opened, prompts.Prompt("", "small")).best == 0


def test_homes_are_the_same_whatever_the_gate_is(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def build(home: Path) -> dict[str, float]:
        made.append(home.name)
        return {}

    for gate in ("0.3", "0.7"):
        monkeypatch.setenv(asking.GATE, gate)
        with ExitStack() as stack:
            whisper._homes(tmp_path / "cache", stack).made("one", "content", build)

    assert made == ["one"]
    assert os.environ[asking.GATE] == "0.7"


def test_settings_are_changed_only_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(asking.GATE, "0.6")
    monkeypatch.delenv(asking.MAX_NODES, raising=False)

    with asking.environment(asking.OPEN):
        assert (os.environ[asking.GATE], os.environ[asking.MAX_NODES]) == ("0", "3")

    assert os.environ[asking.GATE] == "0.6"
    assert asking.MAX_NODES not in os.environ


def test_a_part_without_its_data_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        whisper.main(["--only", "proactive", "--data", str(tmp_path)])

    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert "negatives*" in said
    assert "github.com/FxyQwQ/ProactiveMemBench" in said


def test_an_unknown_part_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stopped:
        whisper.main(["--only", "beam,nothing"])

    assert stopped.value.code == 2
    assert "latency" in capsys.readouterr().err
