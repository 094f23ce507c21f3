"""What setup and unsetup say about a plan, before or after it was carried out."""

from __future__ import annotations

from collections.abc import Iterator

from madeleine.agents.catalog import WiringLink
from madeleine.agents.plan import PlannedFileChange, WiringPlan
from madeleine.agents.setup import PreparedSetup
from madeleine.cli.memory_words import render_count
from madeleine.cli.output import CommandOutput, Json, escape_controls


def plan_to_json(plan: WiringPlan, dry_run: bool) -> dict[str, object]:
    """Return the plan as `--json` prints it."""
    return {
        "dry_run": dry_run,
        "changes": [_change_to_json(each) for each in plan.changes],
        "links": [{"path": str(each.path), "wanted": each.wanted} for each in plan.links],
        "unchanged": [str(path) for path in plan.same],
        "notes": list(plan.notes),
    }


def _change_to_json(change: PlannedFileChange) -> Json:
    return {
        "agent": change.agent,
        "path": str(change.path),
        "action": change.action,
        "what": list(change.what),
        "backup": str(change.backup) if change.backup else None,
    }


def render_plan(prepared: PreparedSetup, dry_run: bool, say: CommandOutput) -> Iterator[str]:
    """Give the plan, one file a line."""
    plan = prepared.plan
    changed = {change.agent for change in plan.changes}
    names = ", ".join(agent.title for agent in prepared.agents if agent.name in changed)
    if names:
        yield say.dim(escape_controls(names))
    for change in plan.changes:
        what = say.dim(", ".join(change.what))
        yield f"  {change.action:<7} {escape_controls(str(change.path))}  {what}"
        if change.backup is not None:
            yield say.dim(f"          as it was: {escape_controls(str(change.backup))}")
    yield from (
        f"  {_render_link_action(link)} {escape_controls(str(link.path))}" for link in plan.links
    )
    yield _render_ending(plan, dry_run)


def _render_link_action(link: WiringLink) -> str:
    return f"{'link' if link.wanted else 'unlink':<7}"


def _render_ending(plan: WiringPlan, dry_run: bool) -> str:
    if not plan.changes:
        return "nothing to change"
    would = "would be changed; nothing was" if dry_run else "changed"
    return f"{render_count(len(plan.changes), 'file')} {would}"
