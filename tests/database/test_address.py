"""Where a database is said to be: what lets one in is never part of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.errors import BadSetting

place_of = pytest.importorskip("madeleine.database.address").public_address

PASSWORDS = st.text(st.sampled_from("/#?@:%&=[],+ 7é"), max_size=12).map(lambda text: f"qx{text}qx")


@given(PASSWORDS)
def test_a_password_is_not_told_whatever_signs_it_has(password: str) -> None:
    try:
        told = place_of(f"postgresql://me:{password}@db.example.org:5433/memory")
    except BadSetting as refused:
        told = refused.message + refused.hint

    assert "qx" not in told


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://me:pw@h:1/d", "postgresql://h:1/d"),
        ("postgresql://me:pw@h1:1,h2:2/d", "postgresql://h1:1,h2:2/d"),
        ("postgresql://me@h1,h2/d?target_session_attrs=read-write", "postgresql://h1,h2/d"),
        ("postgresql://me:p%40@[::1]:5/d", "postgresql://[::1]:5/d"),
        ("postgresql://me@/d?host=/run/pg&password=pw", "postgresql:///d"),
        ("postgres:///d?host=db.example.org", "postgresql://db.example.org/d"),
    ],
)
def test_a_place_is_host_port_and_name(url: str, place: str) -> None:
    assert place_of(url) == place


@pytest.mark.parametrize("port", ["notaport", "0", "65536", "²"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(BadSetting, match="port"):
        place_of(f"postgresql://me:pw@h:{port}/d")


def test_what_helps_with_an_option_that_nobody_knows_names_options() -> None:
    with pytest.raises(BadSetting) as caught:
        place_of("postgresql://me:pw@h/d?bogus=x")

    assert "behind ? write only what PostgreSQL knows" in caught.value.hint
    assert "bogus" not in caught.value.message + caught.value.hint  # it may be of a password
