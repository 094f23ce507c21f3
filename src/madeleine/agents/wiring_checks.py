"""The doctor's look at the agents: entries that point nowhere, fire twice, are slow or not run."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from madeleine.agents import autostart, claude_plugin, jsonc, toml_text
from madeleine.agents.catalog import (
    AgentHost,
    AgentWiring,
    claude_folder,
    codex_folder,
    find_agent,
    find_agents_here,
    plugin_wirings,
)
from madeleine.agents.environment import SetupEnvironment, read_packaged_hook
from madeleine.agents.findings import NOTE_CODE, DoctorFinding, error_finding, trouble_finding
from madeleine.agents.hook_records import read_hook_record
from madeleine.agents.host_files import HostFile, read_host_file, translate_parse_errors
from madeleine.agents.ownership import is_of_another_home, is_ormahs_hook, is_wired_hook
from madeleine.agents.pieces import JsonHooksPiece
from madeleine.agents.plan import apply_receipt, is_by_setup, look_into_file
from madeleine.agents.receipts import load_receipts
from madeleine.agents.seen_entry import SeenEntry
from madeleine.agents.toml_hooks import TomlHooksPiece
from madeleine.errors import Conflict, MadeleineError, Missing, Unavailable

MAX_HOOK_MS = 500.0  # what people notice before each answer
MIN_HOOK_RUNS = 3


def check_agents(around: SetupEnvironment) -> Iterator[DoctorFinding]:
    """Look at every agent on this machine, and at what starts with it."""
    for agent in find_agents_here(around):
        yield from _check_agent(around, agent)
    yield from _check_client(around)
    yield from _check_extra(around)


def _check_agent(around: SetupEnvironment, agent: AgentHost) -> Iterator[DoctorFinding]:
    fix = f"madeleine setup {agent.name}"
    try:
        receipts = load_receipts(around.agents)
        wirings = [apply_receipt(receipts, wiring) for wiring in agent.wirings(around)]
        files = [(wiring, *look_into_file(wiring)) for wiring in wirings]
    except MadeleineError as error:
        yield error_finding(agent.name, error)
        return
    if not any(seen for _, _, seen in files) and not _has_plugin(around, agent):
        yield _not_wired_finding(around, agent, fix)
        return
    found = [each for part in files for each in _check_file(around, agent, fix, *part)]
    found += list(_CHECK_BY_AGENT.get(agent.name, _check_nothing)(around))
    yield from found or [DoctorFinding(agent.name, f"{agent.title} is wired")]


def _not_wired_finding(around: SetupEnvironment, agent: AgentHost, fix: str) -> DoctorFinding:
    folder = around.agents / claude_plugin.PLUGIN_FOLDER
    if agent.name == "claude" and folder.is_dir():
        steps = "; ".join(claude_plugin.install_steps(folder))
        return DoctorFinding(
            agent.name, "the plugin is written and not installed yet", steps, NOTE_CODE
        )
    return DoctorFinding(agent.name, f"{agent.title} is here and not wired", fix, NOTE_CODE)


def _check_file(
    around: SetupEnvironment,
    agent: AgentHost,
    fix: str,
    wiring: AgentWiring,
    found: HostFile,
    seen: Sequence[SeenEntry],
) -> Iterator[DoctorFinding]:
    stale = [*_check_gone(agent, fix, found, seen), *_check_homes(around, agent, found, seen)]
    yield from stale
    for what, times in Counter(each.what for each in seen).items():
        if times > 1:
            problem = f"{found.path}: {what} stands there {times} times, and each of them fires"
            ours = sum(each.ours for each in seen if each.what == what)
            one = fix if ours == times else f"take one of them out of {found.path}"
            yield trouble_finding(Conflict, agent.name, problem, one)
    yield from _check_switches(agent, found, seen)
    if any(each.place for each in seen) or _has_plugin(around, agent):
        yield from _check_ormah(agent, wiring, found)
    if not stale:
        yield from _check_presence(agent, fix, wiring, found, seen)


def _check_gone(
    agent: AgentHost, fix: str, found: HostFile, seen: Sequence[SeenEntry]
) -> Iterator[DoctorFinding]:
    """Tell each path that is gone once, with all that points to it."""
    by_path: dict[str, list[SeenEntry]] = {}
    for each in seen:
        for path in _find_missing_programs(each.words):
            by_path.setdefault(path, []).append(each)
    for path, those in by_path.items():
        what = ", ".join(dict.fromkeys(each.what for each in those))
        verb = "points" if len(those) == 1 else "point"
        problem = f"{found.path}: {what} {verb} to {path}, which is not there"
        mend = fix if all(each.ours for each in those) else f"mend it in {found.path}"
        yield trouble_finding(Missing, agent.name, problem, mend)


def _check_homes(
    around: SetupEnvironment, agent: AgentHost, found: HostFile, seen: Sequence[SeenEntry]
) -> Iterator[DoctorFinding]:
    """Tell entries for another home: hooks that setup wrote for it keep ours out."""
    theirs = [each for each in seen if is_of_another_home(each.home, str(around.home))]
    for home in dict.fromkeys(each.home for each in theirs):
        those = [each for each in theirs if each.home == home]
        problem = f"{found.path}: {those[0].what} works for another home, {home}"
        fix = f"madeleine unsetup {agent.name} --home {shlex.quote(str(home))}, then setup"
        if not any(is_by_setup(found.path, each) for each in those):
            fix = f"nothing, if you want that; else take it out, then madeleine setup {agent.name}"
        kept_out = any(is_wired_hook(each.words) for each in those)
        yield DoctorFinding(agent.name, problem, fix, Conflict.code if kept_out else NOTE_CODE)


def _check_switches(
    agent: AgentHost, found: HostFile, seen: Sequence[SeenEntry]
) -> Iterator[DoctorFinding]:
    """Tell what a person turned off: they may have forgotten."""
    for each in seen:
        if each.off:
            problem = f"{found.path}: {each.what} is switched off"
            fix = f"nothing, if you want that; else switch it on in {found.path}"
            yield DoctorFinding(agent.name, problem, fix, NOTE_CODE)


def _check_ormah(agent: AgentHost, wiring: AgentWiring, found: HostFile) -> Iterator[DoctorFinding]:
    """Tell hooks of Ormah beside ours: it may be forgotten that they are there."""
    hooks = [piece for piece in wiring.pieces if isinstance(piece, JsonHooksPiece | TomlHooksPiece)]
    placed = [each for piece in hooks for each in piece.placed_entries(found.text)]
    events = dict.fromkeys(str(place[1]) for place, entry in placed if is_ormahs_hook(entry))
    for event in events:
        problem = f"{found.path}: hook on {event} asks Ormah as well, and both answer"
        yield trouble_finding(
            Conflict, agent.name, problem, f"take Ormah's hook out of {found.path}"
        )


def _check_presence(
    agent: AgentHost, fix: str, wiring: AgentWiring, found: HostFile, seen: Sequence[SeenEntry]
) -> Iterator[DoctorFinding]:
    if wiring.wanted and not any(each.ours for each in seen) and not seen:
        if not wiring.only_if_there:
            names = ", ".join(piece.name for piece in wiring.pieces if piece.name)
            yield trouble_finding(Missing, agent.name, f"{found.path}: {names} is missing", fix)
    elif wiring.wanted and any(each.ours for each in seen):
        yield from _check_as_written(agent, fix, wiring, found)
    elif not wiring.wanted and any(each.ours for each in seen):
        problem = f"{found.path}: the plugin brings this too, and both fire"
        yield trouble_finding(Conflict, agent.name, problem, fix)


def _check_as_written(
    agent: AgentHost, fix: str, wiring: AgentWiring, found: HostFile
) -> Iterator[DoctorFinding]:
    with translate_parse_errors(found):
        text = found.text
        for piece in wiring.pieces:
            text = piece.put(text)
    if text != found.text:
        problem = f"{found.path} is not as this installation writes it for this home"
        yield trouble_finding(Conflict, agent.name, problem, fix)


def _find_missing_programs(words: Sequence[str]) -> list[str]:
    """Return the programs and scripts among the words that are not there; the home may be new."""
    paths = [word for word in words if word.startswith("/")]
    given = {words[at + 1] for at, word in enumerate(words[:-1]) if word == "--home"}
    scripts = [word for word in paths if word not in given and _is_program(word, words)]
    return [word for word in scripts if not Path(word).exists()]


def _is_program(word: str, words: Sequence[str]) -> bool:
    return word == words[0] or word.endswith(".py")


# -- what only some hosts have -------------------------------------------------------------


def _has_plugin(around: SetupEnvironment, agent: AgentHost) -> bool:
    return agent.name == "claude" and claude_plugin.is_plugin_enabled(claude_folder(around))


def _check_claude(around: SetupEnvironment) -> Iterator[DoctorFinding]:
    folder = claude_folder(around)
    settings = jsonc.read_json(read_host_file(folder / "settings.json").text).value
    if isinstance(settings, dict) and settings.get("disableAllHooks"):
        problem = f"{folder / 'settings.json'}: `disableAllHooks` is set, so no hook runs"
        yield trouble_finding(Conflict, "claude", problem, "take it out, or set it to false")
    record = read_hook_record(folder)
    count = len(record.runs)
    if count >= MIN_HOOK_RUNS and record.median_ms > MAX_HOOK_MS:
        problem = f"hooks take {record.median_ms:,.0f} ms (median of the last {count:,})"
        fix = "madeleine setup claude; if that is no help, madeleine bench hook"
        yield trouble_finding(Unavailable, "slow hooks", problem, fix)
    if record.failures:
        problem = f"{record.failures:,} of the last {count:,} hooks failed, by Claude Code's record"
        yield trouble_finding(Unavailable, "claude", problem, "madeleine setup claude")


def _check_codex(around: SetupEnvironment) -> Iterator[DoctorFinding]:
    """Codex runs no hook that was not reviewed; what was stands in its settings, by the hook's
    file and place."""
    trusted = _read_trusted_hooks(codex_folder(around))
    events = [
        str(seen.place[1])
        for wiring in find_agent("codex").wirings(around)
        for seen in look_into_file(wiring)[1]
        if seen.place and not trusted & _trust_names(wiring.path, seen.place)
    ]
    if events:
        which = f"the hooks on {', '.join(events)}"
        problem = f"Codex CLI has not been told to trust {which}, so they do not run yet"
        yield DoctorFinding(
            "codex", problem, "start codex and choose to review its hooks", NOTE_CODE
        )


def _read_trusted_hooks(folder: Path) -> set[str]:
    settings = toml_text.read_toml(read_host_file(folder / "config.toml").text)
    state = toml_text.find_table(settings, ("hooks", "state")) or {}
    return {
        _normalize_name(name)
        for name, each in state.items()
        if isinstance(each, dict) and each.get("trusted_hash") and each.get("enabled", True)
    }


def _trust_names(path: Path, place: Sequence[str | int]) -> set[str]:
    """Return under which names Codex notes that it trusts a hook: FILE:EVENT:GROUP:NUMBER."""
    event, group, number = place[1], place[2], place[-1]
    files = (path, path.resolve())
    return {_normalize_name(f"{each}:{event}:{group}:{number}") for each in files}


def _normalize_name(name: str) -> str:
    return name.lower().replace("_", "")  # UserPromptSubmit is user_prompt_submit there


def _check_nothing(around: SetupEnvironment) -> Iterator[DoctorFinding]:
    return iter(())


_CHECK_BY_AGENT = {"claude": _check_claude, "codex": _check_codex}


# -- our own files -------------------------------------------------------------------------


def _check_client(around: SetupEnvironment) -> Iterator[DoctorFinding]:
    found = read_host_file(around.hook)
    if found.data is not None and found.data != read_packaged_hook():
        problem = f"{around.hook} is not the client of this release"
        yield trouble_finding(Conflict, "hook", problem, "madeleine setup")
    elif found.data is None and claude_plugin.is_plugin_enabled(claude_folder(around)):
        problem = f"the plugin of Claude Code needs {around.hook}, which is not there"
        yield trouble_finding(Missing, "hook", problem, "madeleine setup claude")


def _check_extra(around: SetupEnvironment) -> Iterator[DoctorFinding]:
    """The plugin's files and what starts the daemon, where there are such files."""
    extra = {
        "claude --plugin": plugin_wirings(around),
        "--autostart": autostart.autostart_wirings(around),
    }
    for words, wirings in extra.items():
        for wiring in wirings:
            found = read_host_file(wiring.path)
            if found.data is not None and found.text != wiring.pieces[0].put(""):
                problem = f"{found.path} is not as this installation writes it for this home"
                yield trouble_finding(Conflict, "setup", problem, f"madeleine setup {words}")
