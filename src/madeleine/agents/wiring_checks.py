"""The doctor's look at the agents: entries that point nowhere, fire twice, are slow or not run."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from madeleine.agents import autostart, claude_plugin, jsonc, toml_text
from madeleine.agents.catalog import (
    Agent,
    Wiring,
    agent_named,
    agents_here,
    claude_folder,
    codex_folder,
    plugin_wirings,
)
from madeleine.agents.findings import NOTE, Finding, refused, trouble
from madeleine.agents.marks import is_anothers, is_ormahs_hook, is_wired_hook
from madeleine.agents.pieces import Hooks
from madeleine.agents.plan import is_by_setup, known_by, looked
from madeleine.agents.receipts import load
from madeleine.agents.records import claude_record
from madeleine.agents.seen import Seen
from madeleine.agents.surroundings import Surroundings, packaged_hook
from madeleine.agents.texts import Found, find, reading
from madeleine.agents.toml_hooks import TomlHooks
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
        receipts = load(around.agents)
        wirings = [known_by(receipts, wiring) for wiring in agent.wirings(around)]
        files = [(wiring, *looked(wiring)) for wiring in wirings]
    except MadeleineError as error:
        yield refused(agent.name, error)
        return
    if not any(seen for _, _, seen in files) and not _has_plugin(around, agent):
        yield _not_wired(around, agent, fix)
        return
    found = [each for part in files for each in _check_file(around, agent, fix, *part)]
    found += list(_ONLY_FOR.get(agent.name, _nothing)(around))
    yield from found or [Finding(agent.name, f"{agent.title} is wired")]


def _not_wired(around: Surroundings, agent: Agent, fix: str) -> Finding:
    folder = around.agents / claude_plugin.FOLDER
    if agent.name == "claude" and folder.is_dir():
        steps = "; ".join(claude_plugin.steps(folder))
        return Finding(agent.name, "the plugin is written and not installed yet", steps, NOTE)
    return Finding(agent.name, f"{agent.title} is here and not wired", fix, NOTE)


def _check_file(
    around: Surroundings,
    agent: Agent,
    fix: str,
    wiring: Wiring,
    found: Found,
    seen: Sequence[Seen],
) -> Iterator[Finding]:
    stale = [*_check_gone(agent, fix, found, seen), *_check_homes(around, agent, found, seen)]
    yield from stale
    for what, times in Counter(each.what for each in seen).items():
        if times > 1:
            problem = f"{found.path}: {what} stands there {times} times, and each of them fires"
            ours = sum(each.ours for each in seen if each.what == what)
            one = fix if ours == times else f"take one of them out of {found.path}"
            yield trouble(Conflict, agent.name, problem, one)
    yield from _check_switches(agent, found, seen)
    if any(each.place for each in seen) or _has_plugin(around, agent):
        yield from _check_ormah(agent, wiring, found)
    if not stale:
        yield from _check_presence(agent, fix, wiring, found, seen)


def _check_gone(agent: Agent, fix: str, found: Found, seen: Sequence[Seen]) -> Iterator[Finding]:
    """Tell each path that is gone once, with all that points to it."""
    by_path: dict[str, list[Seen]] = {}
    for each in seen:
        for path in _gone(each.words):
            by_path.setdefault(path, []).append(each)
    for path, those in by_path.items():
        what = ", ".join(dict.fromkeys(each.what for each in those))
        verb = "points" if len(those) == 1 else "point"
        problem = f"{found.path}: {what} {verb} to {path}, which is not there"
        mend = fix if all(each.ours for each in those) else f"mend it in {found.path}"
        yield trouble(Missing, agent.name, problem, mend)


def _check_homes(
    around: Surroundings, agent: Agent, found: Found, seen: Sequence[Seen]
) -> Iterator[Finding]:
    """Tell entries for another home: hooks that setup wrote for it keep ours out."""
    theirs = [each for each in seen if is_anothers(each.home, str(around.home))]
    for home in dict.fromkeys(each.home for each in theirs):
        those = [each for each in theirs if each.home == home]
        problem = f"{found.path}: {those[0].what} works for another home, {home}"
        fix = f"madeleine unsetup {agent.name} --home {shlex.quote(str(home))}, then setup"
        if not any(is_by_setup(found.path, each) for each in those):
            fix = f"nothing, if you want that; else take it out, then madeleine setup {agent.name}"
        kept_out = any(is_wired_hook(each.words) for each in those)
        yield Finding(agent.name, problem, fix, Conflict.code if kept_out else NOTE)


def _check_switches(agent: Agent, found: Found, seen: Sequence[Seen]) -> Iterator[Finding]:
    """Tell what a person turned off: they may have forgotten."""
    for each in seen:
        if each.off:
            problem = f"{found.path}: {each.what} is switched off"
            fix = f"nothing, if you want that; else switch it on in {found.path}"
            yield Finding(agent.name, problem, fix, NOTE)


def _check_ormah(agent: Agent, wiring: Wiring, found: Found) -> Iterator[Finding]:
    """Tell hooks of Ormah beside ours: it may be forgotten that they are there."""
    hooks = [piece for piece in wiring.pieces if isinstance(piece, Hooks | TomlHooks)]
    placed = [each for piece in hooks for each in piece.placed(found.text)]
    events = dict.fromkeys(str(place[1]) for place, entry in placed if is_ormahs_hook(entry))
    for event in events:
        problem = f"{found.path}: hook on {event} asks Ormah as well, and both answer"
        yield trouble(Conflict, agent.name, problem, f"take Ormah's hook out of {found.path}")


def _check_presence(
    agent: Agent, fix: str, wiring: Wiring, found: Found, seen: Sequence[Seen]
) -> Iterator[Finding]:
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
    """Codex runs no hook that was not reviewed; what was stands in its settings, by the hook's
    file and place."""
    trusted = _trusted(codex_folder(around))
    events = [
        str(seen.place[1])
        for wiring in agent_named("codex").wirings(around)
        for seen in looked(wiring)[1]
        if seen.place and not trusted & _trust_names(wiring.path, seen.place)
    ]
    if events:
        which = f"the hooks on {' and '.join(events)}"
        problem = f"Codex CLI has not been told to trust {which}, so they do not run yet"
        yield Finding("codex", problem, "start codex and choose to review its hooks", NOTE)


def _trusted(folder: Path) -> set[str]:
    settings = toml_text.read(find(folder / "config.toml").text)
    state = toml_text.table_at(settings, ("hooks", "state")) or {}
    return {
        _plain(name)
        for name, each in state.items()
        if isinstance(each, dict) and each.get("trusted_hash") and each.get("enabled", True)
    }


def _trust_names(path: Path, place: Sequence[str | int]) -> set[str]:
    """Return under which names Codex notes that it trusts a hook: FILE:EVENT:GROUP:NUMBER."""
    event, group, number = place[1], place[2], place[-1]
    files = (path, path.resolve())
    return {_plain(f"{each}:{event}:{group}:{number}") for each in files}


def _plain(name: str) -> str:
    return name.lower().replace("_", "")  # UserPromptSubmit is user_prompt_submit there


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
