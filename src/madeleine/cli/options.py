"""Options that several commands share, and the requests made of them."""

from __future__ import annotations

import argparse

from madeleine.errors import InvalidValue, Rejected

TYPES_HELP = (
    "fact, decision, preference, event, person, project, concept, procedure, goal, observation"
)
TIERS_HELP = "core, working or archival"
KINDS_HELP = "standing (how things are to be done) or plain; read from the text if not said"
EDGES_HELP = (
    "supports, part_of, depends_on, defines, derived_from, evolved_from, related_to, contradicts"
)
CLAIM_PARTS = ("subject", "attribute", "value")
CLAIM_FORMAT = "'SUBJECT | ATTRIBUTE | VALUE'"
SPOKEN_HELP = "such as yesterday, 'since friday' or 2026-11-15"
TIME_HELP = "such as 2026-11-15 or 2026-11-15T18:04:00Z"


def add_id(parser: argparse.ArgumentParser, name: str = "id", help_text: str = "") -> None:
    """Add a memory's id."""
    parser.add_argument(
        name, metavar=name.upper(), type=parse_id_argument, help=help_text or "the memory"
    )


def parse_id_argument(text: str) -> str:
    """Refuse nothing at all where an id is wanted; what it names is for the operation to find."""
    if not text.strip():
        raise argparse.ArgumentTypeError("an id is empty")
    return text


def require_name(text: str | None) -> str:
    """Return the name that an action is about; it must be there."""
    if text is None or not text.strip():
        raise Rejected("no name is given", hint="add it: `--help` shows how")
    return text


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add the filter of recall and list; each may be given several times."""
    several = parser.add_argument_group("filter")
    several.add_argument(
        "--type", action="append", metavar="TYPE", help=f"only these: {TYPES_HELP}"
    )
    several.add_argument(
        "--tier", action="append", metavar="TIER", help=f"only these: {TIERS_HELP}"
    )
    several.add_argument(
        "--space", action="append", metavar="SPACE", help="only these; `global` has no name"
    )
    several.add_argument("--tag", action="append", metavar="TAG", help="with any of these tags")
    several.add_argument("--after", metavar="TIME", help=f"created then or later, {SPOKEN_HELP}")
    several.add_argument("--before", metavar="TIME", help="created before that")
    several.add_argument("--as-of", metavar="TIME", help="as things stood then")
    several.add_argument(
        "--outdated", action="store_true", help="also what is retired, expired or superseded"
    )
    several.add_argument(
        "--exchanges",
        action="store_true",
        help="also what was said in sessions, kept word for word",
    )


def build_filter(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the filter as a request names it."""
    return drop_none(
        types=arguments.type,
        tiers=arguments.tier,
        spaces=arguments.space,
        tags=arguments.tag,
        created_after=arguments.after,
        created_before=arguments.before,
        as_of=arguments.as_of,
        outdated=arguments.outdated or None,
        exchanges=arguments.exchanges or None,
    )


def single_space(arguments: argparse.Namespace) -> str | None:
    """Return the space asked for, if it is just one."""
    spaces = arguments.space or []
    return spaces[0] if len(spaces) == 1 else None


def parse_claim(text: str | None) -> dict[str, object] | None:
    """Return the claim that `SUBJECT | ATTRIBUTE | VALUE` makes; a value may hold a bar."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split("|", 2)]
    if len(parts) < len(CLAIM_PARTS):
        raise InvalidValue("claim", f"is {text!r}", hint=f"three parts: {CLAIM_FORMAT}")
    return dict(zip(CLAIM_PARTS, parts, strict=True))


def drop_none(**values: object) -> dict[str, object]:
    """Return the values that were given at all."""
    return {name: value for name, value in values.items() if value is not None}
