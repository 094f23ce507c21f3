"""A listener with a few memories that have nothing to do with each other."""

from __future__ import annotations

import pytest

from madeleine.write.stores import Stores
from tests.fakes import keep
from tests.real_model import minds
from tests.whisper.listening import Listener

__all__ = ["minds"]

KNOWN = (
    "The ferry to Bergen leaves at half past nine",
    "Marta is allergic to peanuts",
    "The office has a green door",
    "Grandmother's apple pie needs cinnamon",
)


@pytest.fixture
def listener(stores: Stores) -> Listener:
    for each in KNOWN:
        keep(stores, each)
    return Listener(stores)
