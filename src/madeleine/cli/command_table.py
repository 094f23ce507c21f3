"""Every command: its name, its module in `commands/`, and its line in `madeleine --help`."""

from __future__ import annotations

COMMAND_GROUPS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Remember and find",
        (
            ("remember", "write a memory, or many from a file"),
            ("recall", "find the memories that answer a question"),
            ("show", "one memory whole, with its connections"),
            ("list", "memories, newest first; also the trash"),
            ("history", "what happened to a memory"),
            ("log", "what happened, a sentence each, and how to take it back"),
            ("brief", "what a session in this folder is told at its start"),
            ("whisper", "what would be whispered to a prompt, and why; what whispers were worth"),
            ("statusline", "what was whispered in a session, for a host's status line"),
        ),
    ),
    (
        "Change, always with a way back",
        (
            ("revise", "change what a memory says"),
            ("retire", "mark a memory as no longer true"),
            ("forget", "move a memory to the trash"),
            ("restore", "bring a forgotten memory back"),
            ("link", "connect two memories"),
            ("unlink", "take a connection away"),
            ("merge", "make one memory of two"),
            ("undo", "take back a change or a whole run"),
            ("proposals", "what waits for your decision"),
        ),
    ),
    (
        "The daemon",
        (
            ("serve", "start the daemon"),
            ("stop", "end the daemon"),
            ("mcp", "serve the tools to an agent on stdio (MCP)"),
            ("status", "what there is, and what is wrong"),
            ("config", "the settings in force and where they come from; change one"),
            ("ui", "open the page in a browser: see what is known, and set it right"),
        ),
    ),
    (
        "People, where several share a database",
        (
            ("person", "who has a memory of their own; add and remove people"),
            ("token", "make, list and revoke the tokens that clients show"),
            ("space", "which project a folder is, and why; rename, merge and share spaces"),
        ),
    ),
    (
        "Coding agents",
        (
            ("pause", "keep and whisper nothing in a session until it goes on"),
            ("setup", "wire coding agents: hooks, MCP server, instructions"),
            ("unsetup", "take out exactly what setup put in"),
            ("doctor", "find what is wrong with the installation, with the fix for each"),
        ),
    ),
    (
        "Moving in and out",
        (
            ("ingest", "take in notes, conversations and transcripts of agents"),
            ("import", "bring memories along from other programs, or from an export"),
            ("export", "write memories to JSON lines, a zip of files, or an Obsidian vault"),
            ("skills", "procedures that worked, as Agent Skills (SKILL.md)"),
            ("move", "move the whole memory into a database, or back into files"),
        ),
    ),
    (
        "Upkeep",
        (
            ("sleep", "let the memory tend itself now; when it does so by itself"),
            (
                "consolidate",
                "let memories fade, meet, gather and go: decay, creative, cluster, forget",
            ),
            ("backup", "keep a copy of vault, journal and settings; list the copies"),
            ("sync", "exchange memories with your other machines"),
            ("restore-backup", "put a backup in place; what was there is put aside"),
            ("reconcile", "make the index say what the files say"),
            ("rebuild", "make the index anew from files and journal"),
            ("compact", "tidy the journal's past months"),
            ("cost", "what remote models were asked today and this month, and what it cost"),
            ("purge", "remove forgotten memories for good, with a receipt"),
            ("bench", "run a benchmark (in a checkout)"),
        ),
    ),
    (
        "About the commands",
        (
            ("help", "how a command is used"),
            ("completion", "a script that has bash, zsh or fish complete commands"),
        ),
    ),
)

# A module cannot be called `list` without hiding the built-in from a reader, and no module can
# be called by a word of the language or with a hyphen.
MODULE_BY_COMMAND = {"list": "listing", "import": "importing", "restore-backup": "restore_backup"}


def command_names() -> list[str]:
    """Return the names of all commands, in the order of the help."""
    return [name for _, commands in COMMAND_GROUPS for name, _ in commands]


def command_summary(command: str) -> str:
    """Return the command's line in the help."""
    return next(
        line for _, commands in COMMAND_GROUPS for name, line in commands if name == command
    )


def command_module(command: str) -> str:
    """Return the dotted name of the module that runs the command."""
    return f"madeleine.cli.commands.{MODULE_BY_COMMAND.get(command, command)}"


def render_help() -> str:
    """Return what `madeleine --help` prints."""
    lines = [
        "usage: madeleine [--home DIR] [--json] COMMAND ...",
        "",
        "Memory for AI agents that surfaces by itself: markdown files on your own disk.",
    ]
    for title, commands in COMMAND_GROUPS:
        lines += ["", f"{title}:", *(f"  {name:<16}{line}" for name, line in commands)]
    return "\n".join([*lines, "", *_HELP_ENDING])


_HELP_ENDING = (
    "Every command takes:",
    "  --home DIR  the folder that holds the memories (or MADELEINE_HOME; ~/.madeleine)",
    "  --json      print one JSON document",
    "  --help      say how the command is used",
    "",
    "An ID is a whole UUID, its first eight characters, or any beginning that fits only one.",
    "Exit codes: 0 ok, 1 bug, 2 rejected, 3 missing, 4 conflict, 5 unavailable, 6 damaged.",
)
