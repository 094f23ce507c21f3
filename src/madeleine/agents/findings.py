"""What the doctor says: what is so, how bad it is, and what to type."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from madeleine.errors import Conflict, Damaged, MadeleineError, Missing, Rejected, Unavailable

FINE_CODE = "ok"
NOTE_CODE = "note"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing that was looked at. `code` is `ok`, `note`, or what kind of trouble it is."""

    check: str
    message: str
    fix: str = ""
    code: str = FINE_CODE

    @property
    def is_trouble(self) -> bool:
        return self.code not in (FINE_CODE, NOTE_CODE)


def trouble_finding(
    kind: type[MadeleineError], check: str, message: str, fix: str
) -> DoctorFinding:
    """Return something that is wrong, with the exit code of this kind of error."""
    return DoctorFinding(check, message, fix, kind.code)


def error_finding(check: str, error: MadeleineError) -> DoctorFinding:
    """Return an error as a finding: it says itself what to do."""
    return DoctorFinding(check, error.message, error.hint, error.code)


def findings_exit_code(findings: Iterable[DoctorFinding]) -> int:
    """Return 0 when all is well, else the code of the worst: damaged before unavailable …"""
    bases = (Rejected, Missing, Conflict, Unavailable, Damaged)
    codes = {base.code: base.exit_code for base in bases}
    return max((codes.get(each.code, 1) for each in findings if each.is_trouble), default=0)
