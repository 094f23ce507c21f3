"""The entry: find the command, run it, turn what went wrong into an exit code.

Only the chosen command's module is imported, by its name, and everything else where it is needed;
the help of the whole is printed without any: starting is most of what a small command costs.

    0 ok · 1 a bug of ours · 2 rejected · 3 missing · 4 conflict · 5 unavailable · 6 damaged
"""

from __future__ import annotations

import importlib
import sys

from madeleine.cli.command_table import command_module, command_names, render_help
from madeleine.errors import MadeleineError, Rejected
from madeleine.version import __version__

TYPE_CHECKING = False  # as typing has it; importing typing would be most of the cost of --help
if TYPE_CHECKING:
    from types import ModuleType

    from madeleine.cli.output import CommandOutput
    from madeleine.cli.parsing import CommandParser

EXIT_INTERRUPTED = 130  # what a shell reports for a command ended by Ctrl-C
GLOBAL_FLAGS = ("--json",)
GLOBAL_VALUES = ("--home",)
SILENT_VERBS = ("inject", "store")  # of `whisper`: hosts wait for these, and may show what they say
UNPARSED_COMMANDS = ("mcp", "statusline")
"""Started by hosts that wait: without a parser, a voice and a door."""


class UnknownCommand(Rejected):
    """A word in the place of a command that is none."""

    kind = "unknown_command"

    def __init__(self, word: str, near: list[str]) -> None:
        hint = f"did you mean `{near[0]}`?" if near else "`madeleine --help` lists the commands"
        super().__init__(f"no command `{word}`", hint, word=word, near=near)


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    options, command, rest = split_words(words)
    if command in UNPARSED_COMMANDS and not rest:
        return int(_load_command(command).start(options))
    if command is not None:
        return _run_and_report(command, options, rest)
    if not rest or rest[0] in ("-h", "--help"):
        return _print_to_reader(render_help())
    if rest[0] in ("-V", "--version"):
        return _print_to_reader(f"madeleine {__version__}")
    return _refuse_option(rest[0], options)


def _print_to_reader(text: str) -> int:
    """Print what needs no door; nothing is wrong if the reader has seen enough."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        from madeleine.cli.output import silence_stdout

        return silence_stdout()
    return 0


def split_words(words: list[str]) -> tuple[list[str], str | None, list[str]]:
    """Return the options every command takes, the command, and its own words.

    The former may stand anywhere before a `--`: in front of the command, after it, or between
    two of its words.
    """
    options: list[str] = []
    rest: list[str] = []
    command = None
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return options, command, [*rest, *words[at:]]
        if word in GLOBAL_VALUES and at + 1 < len(words):
            options += words[at : at + 2]
            at += 1
        elif word in GLOBAL_FLAGS or word.startswith(tuple(f"{v}=" for v in GLOBAL_VALUES)):
            options.append(word)
        elif command is None and not word.startswith("-"):
            command = word
        else:
            rest.append(word)
        at += 1
    return options, command, rest


def _load_command(name: str) -> ModuleType:
    """Import the module of one command, and of no other."""
    return importlib.import_module(command_module(name))


def _run_and_report(command: str, options: list[str], rest: list[str]) -> int:
    """Run the command with somewhere to speak, and say what went wrong."""
    from madeleine.cli.output import ReaderGone, make_output, silence_stdout

    say = make_output(as_json="--json" in options)
    try:
        code = _run_command(command, options, rest, say)
        say.flush()
    except MadeleineError as error:
        return _report_problem(say, error)
    except KeyboardInterrupt:
        say.end_line()
        return EXIT_INTERRUPTED
    except ReaderGone:
        return silence_stdout()
    return code


def _report_problem(say: CommandOutput, error: MadeleineError) -> int:
    from madeleine.cli.output import ReaderGone, silence_stdout

    try:
        say.problem(error)
        say.flush()
    except ReaderGone:
        silence_stdout()
    return error.exit_code


def _run_command(command: str, options: list[str], rest: list[str], say: CommandOutput) -> int:
    from madeleine.cli.parsing import check_words

    check_words([*options, command, *rest])
    parser = make_command_parser(command)
    if {"-h", "--help"} & set(rest[: rest.index("--")] if "--" in rest else rest):
        say.line(parser.format_help().rstrip())
        return 0
    arguments = parser.parse_args([*options, *rest])
    if not (command == "whisper" and arguments.what in SILENT_VERBS):
        say.notes(_unknown_variable_notes(arguments.home))
    from madeleine.cli.door import CommandDoor

    with CommandDoor(arguments.home, say) as door:
        return int(_load_command(command).run(arguments, door, say))


def make_command_parser(command: str) -> CommandParser:
    """Return the parser of a command, or refuse the word."""
    if command not in command_names():
        from difflib import get_close_matches

        raise UnknownCommand(command, get_close_matches(command, command_names(), 1))
    from madeleine.cli.parsing import make_parser

    return make_parser(command, _load_command(command))


def _unknown_variable_notes(home: str | None) -> list[str]:
    """Return what to say about variables that mean nothing. The settings are read only if one of
    them is not among the names of ours: it may still be one that a setting names for a key."""
    from madeleine.cli.environment import find_setting_variables

    names = find_setting_variables()
    if not names:
        return []
    from madeleine.cli.variable_names import VARIABLE_NAMES

    if VARIABLE_NAMES.issuperset(names):
        return []
    from madeleine.api.home_paths import home_path
    from madeleine.bootstrap import describe_unknown_home_variables

    return describe_unknown_home_variables(home_path(home))


def _refuse_option(word: str, options: list[str]) -> int:
    from madeleine.cli.output import make_output

    error = Rejected(f"no option `{word}` here", hint="name a command first: `madeleine recall …`")
    make_output(as_json="--json" in options).problem(error)
    return error.exit_code


if __name__ == "__main__":
    raise SystemExit(main())
