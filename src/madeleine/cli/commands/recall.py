"""Find the memories that answer a question, best first."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import Door
from madeleine.cli.options import add_filters, filter_of, given, one_space
from madeleine.cli.parsing import text_or_stdin
from madeleine.cli.say import Say, clean
from madeleine.cli.words import memory_row, plural, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="what you want to know; - reads stdin")
    parser.add_argument("--limit", type=int, metavar="N", help="how many at most; 10 if not said")
    parser.add_argument("--explain", action="store_true", help="show how each score came about")
    add_filters(parser)


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    question = given(
        query=text_or_stdin(arguments.query),
        limit=arguments.limit,
        explain=arguments.explain or None,
        **filter_of(arguments),
    )
    answer = door.call("recall", body=question)
    say.reply(answer, lambda: _words(answer, arguments, say))
    return 0


def _words(answer: dict[str, Any], arguments: argparse.Namespace, say: Say) -> Iterator[str]:
    hits = answer["results"]
    if not hits:
        say.talk(f"nothing recalled: {clean(answer.get('silence') or 'nothing matches')}")
        return
    space = one_space(arguments)
    yield plural(len(hits), "memory", "memories") + (f" in `{clean(space)}`" if space else "")
    rows = [memory_row(hit["memory"], say, space, hit["score"]) for hit in hits]
    for hit, line in zip(hits, table(rows, say), strict=True):
        yield line
        if arguments.explain:
            yield f"            {explained(hit)}"


def explained(hit: dict[str, Any]) -> str:
    """Return why a memory was found, and the numbers behind its score."""
    numbers = ", ".join(
        f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {value}"
        for name, value in (hit.get("match") or {}).items()
    )
    reasons = clean("; ".join(hit.get("reasons") or ()))
    return f"{reasons}  [{numbers}]" if numbers else reasons
