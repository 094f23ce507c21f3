"""Many houses behind one server: each opened once, and nobody waits for anybody else's."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest

from madeleine.bootstrap import HomeContext, HomeContexts

SECONDS = 20.0


class Street:
    """Opens houses, and keeps count of them."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.left: list[str] = []
        self.may_open = threading.Event()
        self.slow = ""

    def context(self, tenant: str) -> HomeContext:
        if tenant == self.slow:
            assert self.may_open.wait(SECONDS)
        self.opened.append(tenant)
        made: Any = SimpleNamespace(tenant=tenant, leave=lambda: self.left.append(tenant))
        return cast("HomeContext", made)

    def contexts(self, at_most: int = 9) -> HomeContexts:
        return HomeContexts(self.context("home"), self.context, at_most)


def test_a_house_is_opened_once_however_many_ask() -> None:
    street = Street()
    contexts = street.contexts()
    street.slow = "ada"

    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(contexts.of, "ada") for _ in range(8)]
        street.may_open.set()
        found = {id(each.result(SECONDS)) for each in asked}

    assert len(found) == 1
    assert street.opened == ["home", "ada"]


def test_nobody_waits_while_anothers_house_is_opened() -> None:
    street = Street()
    contexts = street.contexts()
    street.slow = "ada"

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(contexts.of, "ada")
        assert contexts.of("ben").tenant == "ben"
        assert contexts.of("home") is contexts.first
        assert not waiting.done()
        street.may_open.set()
        assert waiting.result(SECONDS).tenant == "ada"


def test_the_house_that_nobody_asked_for_longest_is_let_go() -> None:
    street = Street()
    contexts = street.contexts(at_most=2)
    for tenant in ("ada", "ben", "ada", "cleo"):
        contexts.of(tenant)

    assert street.left == ["ben"]
    assert contexts.of("ben").tenant == "ben"
    assert street.opened == ["home", "ada", "ben", "cleo", "ben"]


def test_a_house_that_could_not_be_opened_is_tried_again() -> None:
    tries: list[str] = []

    def fail_once(tenant: str) -> HomeContext:
        tries.append(tenant)
        if len(tries) == 1:
            raise TimeoutError
        return Street().context(tenant)

    contexts = HomeContexts(Street().context("home"), fail_once)
    with pytest.raises(TimeoutError):
        contexts.of("ada")

    assert contexts.of("ada").tenant == "ada"
