"""What setup and unsetup say about a plan, before or after it was carried out."""

from __future__ import annotations

from collections.abc import Iterator

from madeleine.agents.catalog import WiringLink
from madeleine.agents.plan import PlannedFileChange, WiringPlan
from madeleine.agents.wire import PreparedSetup
from madeleine.cli.say import Json, Say, clean
from madeleine.cli.words import plural


def plan_document(plan: WiringPlan, dry_run: bool) -> dict[str, object]:
    """Return the plan as `--json` prints it."""
    return {
        "dry_run": dry_run,
        "changes": [_change(each) for each in plan.changes],
        "links": [{"path": str(each.path), "wanted": each.wanted} for each in plan.links],
        "unchanged": [str(path) for path in plan.same],
        "notes": list(plan.notes),
    }


def _change(change: PlannedFileChange) -> Json:
    return {
        "agent": change.agent,
        "path": str(change.path),
        "action": change.action,
        "what": list(change.what),
        "backup": str(change.backup) if change.backup else None,
    }


def plan_words(prepared: PreparedSetup, dry_run: bool, say: Say) -> Iterator[str]:
    """Give the plan, one file a line."""
    plan = prepared.plan
    changed = {change.agent for change in plan.changes}
    names = ", ".join(agent.title for agent in prepared.agents if agent.name in changed)
    if names:
        yield say.dim(clean(names))
    for change in plan.changes:
        yield f"  {change.action:<7} {clean(str(change.path))}  {say.dim(', '.join(change.what))}"
        if change.backup is not None:
            yield say.dim(f"          as it was: {clean(str(change.backup))}")
    yield from (f"  {_link_action(link)} {clean(str(link.path))}" for link in plan.links)
    yield _ending(plan, dry_run)


def _link_action(link: WiringLink) -> str:
    return f"{'link' if link.wanted else 'unlink':<7}"


def _ending(plan: WiringPlan, dry_run: bool) -> str:
    if not plan.changes:
        return "nothing to change"
    would = "would be changed; nothing was" if dry_run else "changed"
    return f"{plural(len(plan.changes), 'file')} {would}"
