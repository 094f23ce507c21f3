"""The page words by itself what the daemon tells by kinds, so that it can be translated."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

import pytest

from madeleine.model.cause import ReasonKind, SilenceKind, WhisperSilence

ENGLISH = Path(__file__).parents[2] / "web" / "src" / "messages" / "en.ts"
SAID_OTHERWISE: dict[type[StrEnum], set[StrEnum]] = {
    ReasonKind: {ReasonKind.KIN, ReasonKind.CONNECTED},
    SilenceKind: {SilenceKind.NONE_NEAR_ENOUGH},
    WhisperSilence: {
        WhisperSilence.SAME_TOPIC,
        WhisperSilence.TOO_WEAK,
        WhisperSilence.BELOW_GATE,
        WhisperSilence.NOT_DELIVERED,  # the page says it of the outcome
    },
}
"""Kinds whose sentence depends on more than the kind; the page puts it together."""


@pytest.mark.parametrize(
    ("group", "kinds"),
    [("reason", ReasonKind), ("noAnswer", SilenceKind), ("noWhisper", WhisperSilence)],
)
def test_every_kind_has_a_sentence_on_the_page(group: str, kinds: type[StrEnum]) -> None:
    keys = set(re.findall(r"'(\w+\.\w+)':", ENGLISH.read_text(encoding="utf-8")))

    wanted = {f"{group}.{each}" for each in {*kinds} - SAID_OTHERWISE[kinds]}

    assert wanted <= keys
