"""Claims through a door: three parts, each on one line, or none at all."""

from __future__ import annotations

import pytest

from madeleine.errors import Rejected
from madeleine.model.codec import claim_from_json, claim_to_json
from madeleine.model.draft import MemoryLimits, read_draft
from madeleine.model.memory import Claim
from madeleine.model.revision import read_revision

PARTS = {"subject": "Ana", "attribute": "home city", "value": "Cork"}
CLAIM = Claim("Ana", "home city", "Cork")


def read(claim: object) -> Claim | None:
    return read_draft({"content": "text", "claim": claim}, MemoryLimits()).claim


def test_a_claim_is_read_on_one_line() -> None:
    assert read(PARTS) == CLAIM
    assert read({**PARTS, "value": " Cork\n"}) == CLAIM
    assert read({**PARTS, "value": "x" * 200}) == Claim("Ana", "home city", "x" * 200)
    assert read(None) is None


@pytest.mark.parametrize(
    ("claim", "complaint"),
    [
        ({**PARTS, "value": " \n"}, "claim.value"),
        ({**PARTS, "subject": None}, "claim.subject"),
        ({"subject": "Ana", "value": "Cork"}, "claim.attribute"),
        ({**PARTS, "value": "x" * 201}, "claim.value"),
        ({**PARTS, "value": 7}, "value"),
        ({**PARTS, "since": "now"}, "since"),
        ({}, "claim.subject"),
        ("Ana lives in Cork", "claim"),
    ],
)
def test_what_is_no_claim_is_refused(claim: object, complaint: str) -> None:
    with pytest.raises(Rejected, match=complaint):
        read(claim)


def test_a_revision_sets_a_claim_or_clears_it() -> None:
    assert read_revision({"claim": PARTS}, MemoryLimits()).values == {"claim": CLAIM}
    assert read_revision({"claim": None}, MemoryLimits()).values == {"claim": None}


def test_a_claim_survives_json() -> None:
    assert claim_from_json(claim_to_json(CLAIM)) == CLAIM
    assert claim_to_json(None) is None
