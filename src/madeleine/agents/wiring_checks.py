"""The doctor's look at the agents: entries that point nowhere, fire twice, are slow or not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from madeleine.agents import autostart, claude_plugin, jsonc, toml_text
from madeleine.agents.catalog import (
    Agent,
    Wiring,
    agents_here,
    claude_folder,
    codex_folder,
    plugin_wirings,
)
from madeleine.agents.findings import NOTE, Finding, refused, trouble
from madeleine.agents.records import claude_record
from madeleine.agents.seen import Seen
from madeleine.agents.surroundings import Surroundings, packaged_hook
from madeleine.agents.texts import Found, find, reading
from madeleine.errors import Conflict, MadeleineError, Missing, Unavailable

SLOW_MS = 500.0  # what people notice before each answer
RECORDS_LEAST = 3


def check_agents(around: Surroundings) -> Iterator[Finding]:
    """Look at every agent on this machine, and at what starts with it."""
    for agent in agents_here(around):
        yield from _check_agent(around, agent)
    yield from _check_client(around)
    yield from _check_extra(around)


def _check_agent(around: Surroundings, agent: Agent) -> Iterator[Finding]:
    fix = f"madeleine setup {agent.name}"
    try:
        looked = [(wiring, *_looked(wiring)) for wiring in agent.wirings(around)]
    except MadeleineError as error:
        yield refused(agent.name, error)
        return
    if not any(seen for _, _, seen in looked) and not _has_plugin(around, agent):
        yield Finding(agent.name, f"{agent.title} is here and not wired", fix, NOTE)
        return
    found = [each for part in looked for each in _check_file(agent, fix, *part)]
    found += list(_ONLY_FOR.get(agent.name, _nothing)(around))
    yield from found or [Finding(agent.name, f"{agent.title} is wired")]


def _looked(wiring: Wiring) -> tuple[Found, tuple[Seen, ...]]:
    found = find(wiring.path)
    if found.data is None:
        return found, ()
    with reading(found):
        return found, tuple(seen for piece in wiring.pieces for seen in piece.look(found.text))


def _check_file(
    agent: Agent, fix: str, wiring: Wiring, found: Found, seen: Sequence[Seen]
) -> Iterator[Finding]:
    for each in seen:
        for path in _gone(each.words):
            problem = f"{found.path}: {each.what} points to {path}, which is not there"
            yield trouble(Missing, agent.name, problem, fix)
    for what, times in Counter(each.what for each in seen).items():
        if times > 1:
            problem = f"{found.path}: {what} stands there {times} times, and each of them fires"
            yield trouble(Conflict, agent.name, problem, f"{fix}, or take your own one out")
    if wiring.wanted and not any(each.ours for each in seen) and not seen:
        if not wiring.only_if_there:
            names = ", ".join(piece.name for piece in wiring.pieces if piece.name)
            yield trouble(Missing, agent.name, f"{found.path}: {names} is missing", fix)
    elif wiring.wanted and any(each.ours for each in seen):
        yield from _check_as_written(agent, fix, wiring, found)
    elif not wiring.wanted and any(each.ours for each in seen):
        problem = f"{found.path}: the plugin brings this too, and both fire"
        yield trouble(Conflict, agent.name, problem, fix)


def _check_as_written(agent: Agent, fix: str, wiring: Wiring, found: Found) -> Iterator[Finding]:
    with reading(found):
        text = found.text
        for piece in wiring.pieces:
            text = piece.put(text)
    if text != found.text:
        problem = f"{found.path} is not as this installation writes it for this home"
        yield trouble(Conflict, agent.name, problem, fix)


def _gone(words: Sequence[str]) -> list[str]:
    """Return the programs and scripts among the words that are not there; the home may be new."""
    paths = [word for word in words if word.startswith("/")]
    given = {words[at + 1] for at, word in enumerate(words[:-1]) if word == "--home"}
    scripts = [word for word in paths if word not in given and _is_program(word, words)]
    return [word for word in scripts if not Path(word).exists()]


def _is_program(word: str, words: Sequence[str]) -> bool:
    return word == words[0] or word.endswith(".py")


# -- what only some hosts have -------------------------------------------------------------


def _has_plugin(around: Surroundings, agent: Agent) -> bool:
    return agent.name == "claude" and claude_plugin.is_on(claude_folder(around))


def _check_claude(around: Surroundings) -> Iterator[Finding]:
    folder = claude_folder(around)
    settings = jsonc.read(find(folder / "settings.json").text).value
    if isinstance(settings, dict) and settings.get("disableAllHooks"):
        problem = f"{folder / 'settings.json'}: `disableAllHooks` is set, so no hook runs"
        yield trouble(Conflict, "claude", problem, "take it out, or set it to false")
    record = claude_record(folder)
    count = len(record.runs)
    if count >= RECORDS_LEAST and record.median_ms > SLOW_MS:
        problem = f"hooks take {record.median_ms:,.0f} ms (median of the last {count:,})"
        fix = "madeleine setup claude; if that is no help, madeleine bench hook"
        yield trouble(Unavailable, "slow hooks", problem, fix)
    if record.failures:
        problem = f"{record.failures:,} of the last {count:,} hooks failed, by Claude Code's record"
        yield trouble(Unavailable, "claude", problem, "madeleine setup claude")


def _check_codex(around: Surroundings) -> Iterator[Finding]:
    """Codex runs no hook that was not reviewed; what was stands in its settings."""
    folder = codex_folder(around)
    state = toml_text.table_at(
        toml_text.read(find(folder / "config.toml").text), ("hooks", "state")
    )
    trusted = [
        name.lower().replace("_", "")
        for name, each in (state or {}).items()
        if isinstance(each, dict) and each.get("trusted_hash") and each.get("enabled", True)
    ]
    wanted = f"{folder / 'hooks.json'}:userpromptsubmit:".lower()
    if not any(name.startswith(wanted.replace("_", "")) for name in trusted):
        problem = "Codex CLI has not been told to trust the hooks, so they do not run yet"
        yield Finding("codex", problem, "start codex and choose to review its hooks", NOTE)


def _nothing(around: Surroundings) -> Iterator[Finding]:
    return iter(())


_ONLY_FOR = {"claude": _check_claude, "codex": _check_codex}


# -- our own files -------------------------------------------------------------------------


def _check_client(around: Surroundings) -> Iterator[Finding]:
    found = find(around.hook)
    if found.data is not None and found.data != packaged_hook():
        problem = f"{around.hook} is not the client of this release"
        yield trouble(Conflict, "hook", problem, "madeleine setup")
    elif found.data is None and claude_plugin.is_on(claude_folder(around)):
        problem = f"the plugin of Claude Code needs {around.hook}, which is not there"
        yield trouble(Missing, "hook", problem, "madeleine setup claude")


def _check_extra(around: Surroundings) -> Iterator[Finding]:
    """The plugin's files and what starts the daemon, where there are such files."""
    extra = {
        "claude --plugin": plugin_wirings(around),
        "--autostart": autostart.wirings(around),
    }
    for words, wirings in extra.items():
        for wiring in wirings:
            found = find(wiring.path)
            if found.data is not None and found.text != wiring.pieces[0].put(""):
                problem = f"{found.path} is not as this installation writes it for this home"
                yield trouble(Conflict, "setup", problem, f"madeleine setup {words}")
