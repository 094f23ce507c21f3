"""What holds for every text: redacting twice changes nothing more, a text grows by no more than
its marks, and no text takes long."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.secrets import redact_secrets
from tests.examples import a_share_of
from tests.language.test_secrets_corpus import BARE, HARMLESS, LEAKS

MARK = re.compile(r"\[redacted [a-z ]+\]")
MARK_CHARS = len("[redacted private key]")
LEAST_CHARS = 3  # of a secret
CHARS = 50_000
SECONDS = 2  # of processor time; what grows by squares takes a hundred times as long

PIECES = st.sampled_from(
    [each for each, _ in LEAKS] + BARE + HARMLESS
    + ["password", "token", "secret", "[redacted token]", " is ", ": ", "=", '"', "'",
    "`", "|", ","]
    + ["\n", "\\", "{", "}", "(", ")", "[", "]", "<", ">", "&", "--", "$", "://", "@",
    "x9!", "-u a:b"]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=12).map("".join)


@given(TEXTS)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact_secrets(text).text

    assert redact_secrets(once) == (once, 0)


@given(TEXTS)
def test_a_text_grows_by_no_more_than_its_marks(text: str) -> None:
    found = redact_secrets(text)

    assert len(found.text) <= len(text) + found.secrets * (MARK_CHARS - LEAST_CHARS)
    assert (found.secrets == 0) == (found.text == text)


@given(TEXTS)
def test_what_is_left_is_the_text_without_the_secrets(text: str) -> None:
    place = 0
    for kept in MARK.split(redact_secrets(MARK.sub("", text)).text):
        place = MARK.sub("", text).index(kept, place) + len(kept)


@given(st.sampled_from([each for each in LEAKS if "\n" not in each[0]]), st.text(max_size=80))
def test_a_secret_does_not_outlive_what_stands_in_the_lines_around_it(
    leak: tuple[str, str], around: str
) -> None:
    text, secret = leak
    lines = around.replace(secret, "")

    assert secret not in redact_secrets(f"{lines}\n\n{text}\n\n{lines}").text


HOSTILE = [
    "a", " ", "\n", "a ", "a_", "a-", "a.", "a/", "a1", "aA", "=", ":", '"', "'", "`",
    "\\", "|", "-",
    "(", ")", "{", "[", "<", "<a", "<a>", "$", "$1$", "%", "&", "&a=", ",", ";", "@",
    "://", "://a:",
    "://a:b/", "://a:b@", "eyJ", "eyJaaaaaaaaa.", "sk-", "sk-a", "xoxb-", "AKIA", "ghp_",
    "SG.", "MTk.",
    "AAAA", "0123456789abcdef", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "password",
    "password ",
    "password:", "password=", "password: ", "password is ", "password for ",
    "password (", "password |",
    'password "', "password: |\n  ", "password: '", "pass: ", "PASSWORD=", "PASSWORD=a)", "token",
    "token:", "token: a1 ", "token=<a", "token=(", "token={a}", "token=a.", "token=your",
    "token a1b2 ",
    "secret_", "secret: ", "_key=a1", "api key ", "seed phrase: abc ", "seed phrase: ", "abc def ",
    "--password ", "--token a", "--a-a-", "use a1aa as ", "use a as ", "login a/", "login: a:",
    "curl -u ", "curl -u a:b ", "curl ", "mysql -p", "mysql x ", "docker login ",
    "docker login -p a",
    "echo a | ", "echo aaa|sudo ", "htpasswd -b a b ", "net user a ", "machine a login b ",
    "Cookie: a=", "Cookie: a=aaaaaa;", "Authorization: Basic ", "bearer a", "sessionid=",
    "<password>",
    "auth=(", 'auth=("a","', "| password |\n|---|\n", "| a | b |\n", "|-", "|-|\n", "a,password\n",
    "password,", "data:a/b;base64,", "data:a/b;base64,AKIA", "[redacted token]",
    "[redacted token]: ",
    "İ", "ß", "密码", "密码：", "é", "\u0301", "😀", "\x00", "\u2028", "𝐀", "5432:a:b:", "*:*:*:",
    "a:5432:a:a:", " a:5432:a:a:1", "auth: ", "auth:a", "auth=YTph", "\u200b", "a\u200b",
    "AKIAABCDEFGHIJKLMNOP ", "AKIAABCDEFGHIJKLMNOPaB1/",
]  # fmt: skip


@pytest.mark.few(5)
@pytest.mark.parametrize("piece", a_share_of(HOSTILE))
def test_a_text_that_begins_a_secret_again_and_again_takes_no_time(piece: str) -> None:
    assert seconds(piece * (CHARS // len(piece))) < SECONDS


@pytest.mark.few(2)
@pytest.mark.parametrize("leak", a_share_of([each for each, _ in LEAKS[::8]] + BARE[::8]))
def test_a_text_of_nothing_but_secrets_takes_no_time(leak: str) -> None:
    assert seconds(f"{leak}\n" * (CHARS // len(leak))) < SECONDS


@pytest.mark.few(2)
@pytest.mark.parametrize("piece", ["a", "a ", "-", "(", ":", "\\", "password "])
def test_a_megabyte_of_hostile_characters_takes_no_time(piece: str) -> None:
    assert seconds(piece * (20 * CHARS // len(piece))) < SECONDS * 2


def seconds(text: str) -> float:
    """Return how much of the processor's time it takes to look through a text."""
    began = time.process_time()
    redact_secrets(text)
    return time.process_time() - began
