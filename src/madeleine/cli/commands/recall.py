"""Find the memories that answer a question, best first."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import build_memory_row, render_count, render_table
from madeleine.cli.options import (
    add_filters,
    build_filter,
    drop_none,
    parse_id_argument,
    single_space,
)
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.cli.parsing import read_text_argument
from madeleine.model.levels import relevance_level

MAX_PASSAGE_CHARS = 70
INDENT = " " * 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="what you want to know; - reads stdin")
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help="how many at most; 10 if not said, 30 for an overview",
    )
    parser.add_argument("--all", action="store_true", help="also what is found below the floor")
    parser.add_argument("--explain", action="store_true", help="show how each score came about")
    parser.add_argument(
        "--why-not",
        type=parse_id_argument,
        metavar="ID",
        help="say why this memory is not among the answers",
    )
    add_filters(parser)


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    question = drop_none(
        query=read_text_argument(arguments.query),
        limit=arguments.limit,
        explain=arguments.explain or None,
        why_not=arguments.why_not,
        all=arguments.all or None,
        **build_filter(arguments),
    )
    answer = door.call("recall", body=question)
    say.reply(answer, lambda: _render_hits(answer, arguments, say))
    return 0


def _render_hits(
    answer: dict[str, Any], arguments: argparse.Namespace, say: CommandOutput
) -> Iterator[str]:
    hits = answer["results"]
    if hits:
        space = single_space(arguments)
        yield render_count(len(hits), "memory", "memories") + (
            f" in `{escape_controls(space)}`" if space else ""
        )
        rows = [build_memory_row(hit["memory"], say, space, hit["score"]) for hit in hits]
        group = None
        for hit, line in zip(hits, render_table(rows, say), strict=True):
            if hit.get("group") != group:
                group = hit["group"]
                yield say.bold(escape_controls(str(group)))
            yield line
            yield from _render_hit_details(hit, arguments.explain)
    else:
        say.talk(f"nothing recalled: {escape_controls(answer.get('silence') or 'nothing matches')}")
    if folded := answer.get("folded"):
        say.talk(f"{folded:,}{' more' if hits else ''} below the floor; --all shows them")
    if answer.get("why_not"):
        yield escape_controls(answer["why_not"])


def _render_hit_details(hit: dict[str, Any], explain: bool) -> Iterator[str]:
    """Yield what stands under the line of a hit: that it is over, its passage, and how its
    score came about."""
    memory = hit["memory"]
    over = [f"true until {memory['valid_until'][:10]}"] if memory["valid_until"] else []
    if memory["superseded_by"]:
        over.append(f"replaced by {memory['superseded_by'][:8]}")
    newer = hit.get("replaced_by")
    if newer and not newer["known"]:
        asked = newer["proposal"]
        look = f" `madeleine proposals show {asked[:8]}`" if asked else ""
        over.append(f"replaced by {newer['id'][:8]} ({escape_controls(newer['title'])})?{look}")
    if over:
        yield f"{INDENT}{', '.join(over)}"
    if passage := hit.get("passage"):
        words = " ".join(escape_controls(passage["text"]).split())
        cut = words[:MAX_PASSAGE_CHARS] + ("…" if len(words) > MAX_PASSAGE_CHARS else "")
        yield f"{INDENT}at character {passage['start']:,}: {cut}"
    if explain:
        yield from (f"{INDENT}{line}" for line in render_explanation(hit))
        yield from (f"{INDENT}{_render_turn(turn)}" for turn in hit.get("around") or ())


def _render_turn(turn: Mapping[str, Any]) -> str:
    """Return on one line what was said beside a hit."""
    speaker = f"{turn['speaker']}: " if turn["speaker"] else ""
    words = " ".join(escape_controls(f"{speaker}{turn['text']}").split())
    cut = words[:MAX_PASSAGE_CHARS] + ("…" if len(words) > MAX_PASSAGE_CHARS else "")
    return f"turn {turn['turn']}  {cut}"


def render_explanation(hit: dict[str, Any]) -> Iterator[str]:
    """Yield why a memory was found, and the numbers behind its score, one kind a line."""
    if reasons := escape_controls("; ".join(hit.get("reasons") or ())):
        yield reasons
    numbers = hit.get("explained") or {}
    weights = numbers.get("weights") or {}
    if weights:
        features = numbers["features"]
        parts = {name: features[name] * weight for name, weight in weights.items()}
        telling = sorted(parts.items(), key=lambda part: -abs(part[1]))
        shown = ", ".join(f"{name} {share:+.2f}" for name, share in telling if abs(share) >= 0.005)
        yield f"{numbers['head']}: {shown}"
        lifted = _render_factors(numbers.get("lifts") or {}, "lifted")
        yield f"chance {numbers['chance']:.3f}{lifted}"
    if boosts := numbers.get("boosts"):
        changing = {name: factor for name, factor in boosts.items() if factor != 1}
        yield f"boosts{_render_factors(changing, '') or ': none'}"
    if (relevance := hit["memory"].get("relevance")) is not None:
        yield f"relevance {relevance:.2f}, {relevance_level(relevance)}"
    if (inherited := numbers.get("inherited")) is not None:
        yield f"inherited {inherited:.3f}"
    if (logit := numbers.get("cross_encoder")) is not None:
        yield f"cross-encoder {logit:+.2f}"


def _render_factors(values: Mapping[str, float], word: str) -> str:
    named = ", ".join(f"{name} {value:.2f}" for name, value in values.items())
    return f"{f', {word}' if word else ''}: {named}" if named else ""
