"""What the doctor says: what is so, how bad it is, and what to type."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from madeleine.errors import Conflict, Damaged, MadeleineError, Missing, Rejected, Unavailable

FINE = "ok"
NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `code` is `ok`, `note`, or what kind of trouble it is."""

    check: str
    message: str
    fix: str = ""
    code: str = FINE

    @property
    def is_trouble(self) -> bool:
        return self.code not in (FINE, NOTE)


def trouble(kind: type[MadeleineError], check: str, message: str, fix: str) -> Finding:
    """Return something that is wrong, with the exit code of this kind of error."""
    return Finding(check, message, fix, kind.code)


def refused(check: str, error: MadeleineError) -> Finding:
    """Return an error as a finding: it says itself what to do."""
    return Finding(check, error.message, error.hint, error.code)


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 0 when all is well, else the code of the worst: damaged before unavailable …"""
    bases = (Rejected, Missing, Conflict, Unavailable, Damaged)
    codes = {base.code: base.exit_code for base in bases}
    return max((codes.get(each.code, 1) for each in findings if each.is_trouble), default=0)
