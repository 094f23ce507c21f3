"""The lock: every pinned version with its hashes, and no address."""

from __future__ import annotations

import re

import pytest

from tools.lock_hashes import (
    CONSTRAINTS,
    LOCK,
    PLATFORMS,
    PYTHONS,
    LockedPackage,
    LockError,
    read_hashes,
    read_pins,
    render_lock,
)

EVERYWHERE = {system.split()[0] for system in PLATFORMS}


def test_the_lock_has_the_versions_of_the_constraints() -> None:
    locked = read_pins(LOCK.read_text(encoding="utf-8"))

    assert locked == read_pins(CONSTRAINTS.read_text(encoding="utf-8")), "run `make lock`"


def test_every_version_has_a_hash_and_nothing_has_an_address() -> None:
    text = LOCK.read_text(encoding="utf-8")

    assert all(read_hashes(text).values())
    assert not re.search(r"\w+://", text)
    assert set(re.findall(r"--hash=(\w+):", text)) == {"sha256"}
    assert all(len(each) == 64 for each in re.findall(r"--hash=sha256:(\w+)", text))


def test_a_lock_that_is_rendered_is_read_again() -> None:
    whole = LockedPackage("1.0", {"a" * 64, "b" * 64}, EVERYWHERE, set(PYTHONS))
    some = LockedPackage("2.0", {"c" * 64}, {"linux", "darwin"}, {"3.12", "3.13"})

    text = render_lock({"whole": whole, "some-of-it": some})

    assert read_pins(text) == {"whole": "1.0", "some-of-it": "2.0"}
    assert read_hashes(text) == {"whole": 2, "some-of-it": 1}
    marker = "(sys_platform == 'darwin' or sys_platform == 'linux') and python_version >= '3.12'"
    assert f"some-of-it==2.0 ; {marker} \\\n" in text


def test_a_package_without_an_archive_is_no_lock() -> None:
    with pytest.raises(LockError, match=r"no system has an archive of lost 1\.0"):
        render_lock({"lost": LockedPackage("1.0")})
