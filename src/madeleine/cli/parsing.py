"""Parsers of the commands: argparse, with our own way of refusing."""

from __future__ import annotations

import argparse
import sys
from types import ModuleType
from typing import NoReturn

from madeleine.cli.command_table import command_summary
from madeleine.errors import Rejected


class NotUnicode(Rejected):
    """A word of the command line or a text on standard input that is not UTF-8."""

    kind = "not_unicode"

    def __init__(self, what: str, byte: int) -> None:
        super().__init__(
            f"{what} is not valid UTF-8 at byte {byte}",
            hint="send it as UTF-8",
            what=what,
            byte=byte,
        )


class CommandParser(argparse.ArgumentParser):
    """A parser that refuses like every other part of Madeleine: message, hint, exit code 2."""

    def error(self, message: str) -> NoReturn:
        raise Rejected(message, hint=f"`{self.prog} --help` shows how it is used")


def make_parser(command: str, module: ModuleType) -> CommandParser:
    """Return the parser of one command, with the options that every command takes."""
    about = (module.__doc__ or command_summary(command)).strip()
    parser = CommandParser(
        prog=f"madeleine {command}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    general = parser.add_argument_group("every command")
    general.add_argument(
        "--home", metavar="DIR", help="the folder that holds the memories (or MADELEINE_HOME)"
    )
    general.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def check_words(words: list[str]) -> None:
    """Refuse bytes that are no UTF-8: the interpreter hands them over as half surrogates."""
    for number, word in enumerate(words, start=1):
        try:
            word.encode("utf-8")
        except UnicodeEncodeError as error:
            at = len(word[: error.start].encode("utf-8"))
            raise NotUnicode(f"word {number} of the command", at) from error


def read_text_argument(given: str) -> str:
    """Return the text itself, or for `-` all of standard input less its last line end."""
    if given != "-":
        return given
    if sys.stdin.isatty():
        print("reading from the terminal; end with Ctrl-D", file=sys.stderr)
    text = decode_text(sys.stdin.buffer.read(), "standard input")
    return text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")


def decode_text(data: bytes, what: str) -> str:
    """Return bytes as text, a byte order mark left out."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotUnicode(what, error.start) from error
