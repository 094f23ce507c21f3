"""Secrets are taken out of a text; what only looks long stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.secrets import TEXT_CHARS, may_hold_secret, redact_secrets

# Put together here, so that no scanner takes this file for a leak.
HEX40 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
LETTERS = "abcdefghijklmnopqrstuvwxyz"

TOKENS = [
    f"sk-ant-api03-{LETTERS}",
    f"sk-{LETTERS}",
    f"sk-proj-{LETTERS}",
    f"sk_live_{LETTERS}",
    f"ghp_{LETTERS}0123456789",
    f"github_pat_{LETTERS}",
    f"glpat-{LETTERS}",
    f"xoxb-123456789012-{LETTERS}",
    "AKIA" + "IOSFODNN7EXAMPLE",
    f"AIzaSyA1234567890{LETTERS}",
    f"ya29.{LETTERS}",
    f"hf_{LETTERS}0123",
    f"npm_{LETTERS}0123456789",
    f"pypi-AgEI{LETTERS}{LETTERS}",
    f"gsk_{LETTERS}0123456789",
    f"SG.{LETTERS}.{LETTERS}",
    f"dckr_pat_{LETTERS}",
    f"hvs.{LETTERS}",
    f"AGE-SECRET-KEY-1{LETTERS.upper()}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
    "123456789:AAE4" + LETTERS + "12345",
]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("around", ["{}", "use {} for billing", 'key="{}"', "({})", "X={};"])
def test_a_key_of_a_known_provider_is_taken_out_wherever_it_stands(token: str, around: str) -> None:
    found = redact_secrets(around.format(token))

    assert token not in found.text
    assert token[-12:] not in found.text
    assert "[redacted" in found.text
    assert found.secrets >= 1


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "postgres://ana:geheim@db.local/atlas",
            "postgres://ana:[redacted password]@db.local/atlas",
        ),
        ("redis://:p4ss@localhost:6379/0", "redis://:[redacted password]@localhost:6379/0"),
        ("https://u:p@example.com/x?y=1", "https://u:[redacted password]@example.com/x?y=1"),
        ("Authorization: Bearer abc123def456ghi", "Authorization: Bearer [redacted token]"),
        ('-H "Authorization: Basic dXNlcjpwYXNz"', '-H "Authorization: Basic [redacted token]"'),
        ('password = "correct horse battery"', 'password = "[redacted password]"'),
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=[redacted password]"),
        ("DB_PASS=hunter2", "DB_PASS=[redacted password]"),
        ('dbPassword: "geheim"', 'dbPassword: "[redacted password]"'),
        ('{"password": "geheim123"}', '{"password": "[redacted password]"}'),
        ("my password is hunter2, ok?", "my password is [redacted password], ok?"),
        ("the passcode is 931466", "the passcode is [redacted password]"),
        ("the token is a8f3kd93kfl2", "the token is [redacted token]"),
        (
            "https://x.org/v1?api_key=12ab34cd56&x=1",
            "https://x.org/v1?api_key=[redacted token]&x=1",
        ),
        ("User Id=sa;Password=Str0ng!Pass;", "User Id=sa;Password=[redacted password];"),
        ("AccountKey=abcd1234abcd1234==;", "AccountKey=[redacted token];"),
        ("client_secret: 8a7sd8f7a8sd7f8as7df", "client_secret: [redacted token]"),
        (f"the api key for staging: {HEX40}", "the api key for staging: [redacted token]"),
        ("curl --password 's3cret'", "curl --password '[redacted password]'"),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws_secret_access_key = [redacted token]",
        ),
        ("https://hooks.slack.com/services/T00/B00/XXXX", "[redacted address]"),
    ],
)
def test_a_secret_that_is_named_is_taken_out_and_its_name_stays(text: str, left: str) -> None:
    assert redact_secrets(text) == (left, 1)


def test_a_private_key_is_taken_out_whole_also_where_its_end_is_missing() -> None:
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    whole = f"before\n{begin}\nMIIEow\nIBAAK\n{end}\nafter"

    assert redact_secrets(whole) == ("before\n[redacted private key]\nafter", 1)
    assert redact_secrets(f"before\n{begin}\nMIIEow") == ("before\n[redacted private key]", 1)


@pytest.mark.parametrize(
    "text",
    [
        f"commit {HEX40} fixes the token parser",
        f"https://github.com/ana/atlas/commit/{HEX40}",
        "97acbe8e-1b2c-4d5e-8f90-123456789abc",
        "the session id is 97acbe8e-1b2c-4d5e-8f90-123456789abc",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "/usr/local/lib/python3.11/site-packages/madeleine/language/secrets.py",
        "see src/madeleine/rules/token_secrets_2.py for the api key rule",
        "test_a_token_that_is_expired_is_refused_and_told_2",
        "password: str = Field(...)",
        "token = get_token()",
        "def login(user, password=None):",
        'api_key=os.environ["OPENAI_API_KEY"]',
        "secret = settings.secret_key",
        "token: string",
        "password: ${DB_PASSWORD}",
        "set API_KEY=<your-key>",
        "Token: Bearer <token>",
        "API_TOKEN is read from the environment",
        "the password is too weak",
        "the password is stored hashed",
        "the token is expired",
        "We rotate the token every 30 days",
        "tokens_per_run = 200000",
        "max_tokens: 4096",
        "the token budget is 2000",
        "secret: see 1Password",
        "password reset works again",
        "The token endpoint is /oauth2/token",
        "the secret of success: 10000 hours",
        "primary key: user_id",
        "compass: north",
        "pass: all of them",
        "ssh://git@github.com/x/y.git",
        "http://localhost:8787/agent@x",
        "risk-assessment-of-the-whole-thing-2026",
        "git checkout task-1234567890-abcdefghijklmnop",
        "the token picture data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUA" * 20,
        "",
    ],
)
def test_what_only_looks_like_one_stays_as_it_is(text: str) -> None:
    assert redact_secrets(text) == (text, 0)


def test_a_text_without_secrets_twice_redacted_is_the_same() -> None:
    once = redact_secrets(f'password = "geheim" and {TOKENS[0]} at postgres://a:b@c/d').text

    assert redact_secrets(once) == (once, 0)


@given(st.text(max_size=300), st.sampled_from(TOKENS[:8]), st.text(max_size=300))
def test_a_key_never_outlives_whatever_stands_around_it(
    before: str, token: str, after: str
) -> None:
    assert token not in redact_secrets(f"{before} {token} {after}").text


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    found = redact_secrets(text)

    assert found.secrets >= 0
    assert (found.secrets == 0) == (found.text == text)


def test_a_text_beyond_measure_is_kept_nowhere() -> None:
    assert redact_secrets("y" * (TEXT_CHARS + 1)) == (
        "[redacted: too long to be looked through]",
        1,
    )


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "piece",
    ["password ", "a", "sk-", "-----BEGIN PRIVATE KEY-----", "token:", "://a:", "a_", "a-", "eyJ"],
)
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.perf_counter()

    redact_secrets(text)

    assert time.perf_counter() - began < 3


@pytest.mark.parametrize(
    "said",
    [
        "the password is short",
        "my pin is secret",
        f"{HEX40} is for prod",
        f"use {TOKENS[0]}",
    ],
)
def test_in_doubt_a_sentence_is_suspicious(said: str) -> None:
    assert may_hold_secret(said)


def test_a_plain_sentence_is_not_suspicious() -> None:
    assert not may_hold_secret("We decided to use SQLite because there is one writer.")


DIGITS = "0123456789abcdef"


@pytest.mark.parametrize(
    "token",
    [
        f"sb_secret_{LETTERS}",
        f"nfp_{LETTERS}0123456789",
        f"pscale_tkn_{LETTERS}0123456789",
        f"sntrys_{LETTERS}0123456789",
        f"dp.pt.{LETTERS}0123456789",
        f"NRAK-{LETTERS.upper()}",
        f"ntn_{LETTERS}0123456789",
        f"secret_{LETTERS}{LETTERS[:17]}",
        f"lsv2_pt_{DIGITS * 2}_{DIGITS[:10]}",
        f"pat{LETTERS[:14]}.{DIGITS * 4}",
        f"{LETTERS[:14]}.atlasv1.{LETTERS * 2}",
        f"HRKU-{LETTERS}0123456789",
        f"sk.eyJ1{LETTERS}.{LETTERS}",
        f"phx_{LETTERS}0123456789",
        f"pul-{HEX40}",
        f"bkua_{HEX40}",
    ],
)
def test_a_key_of_a_lesser_known_provider_is_taken_out_too(token: str) -> None:
    assert redact_secrets(f"I used {token} for it.").text == "I used [redacted token] for it."


@pytest.mark.parametrize(
    "text",
    [
        "PGPASSWORD={} psql",
        "**Password:** {}",
        "__password__: {}",
        "<password>{}</password>",
        "| password | {} |",
        "| DB password | `{}` |",
        "password for prod = {}",
        "The password for the db is: {}",
        "pass: {}",
        "pw: {}",
        "пароль: {}",
        "密码: {}",
        "密码：{}",
        "パスワード: {}",
        "password: |\n  {}",
        "curl -u admin:{} https://x.example",
        "curl -s --user 'admin:{}' https://x.example",
        "mysql -u root -p{} atlas",
        "sshpass -p {} ssh x",
        "docker login -u ana -p {} ghcr.io",
        "redis-cli -h x -a {} ping",
        "Cookie: theme=dark-mode; session={}",
        'Cookie: session={}; theme="x"',
    ],
)
def test_a_secret_is_taken_out_however_it_is_told(text: str) -> None:
    chosen = "Tr0ub4dor&3x"

    found = redact_secrets(f"So:\n{text.format(chosen)}\nThat is all.")

    assert chosen not in found.text
    assert found.text.endswith("\nThat is all.")
    assert found.secrets == 1


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("PGPASSWORD=correcthorse psql", "correcthorse"),
        ("client_secret=bRnISkzPEmQDBbnSebbz", "bRnISkzPEmQDBbnSebbz"),
        ("password: 12345678", "12345678"),
        ("password=/slash9pass", "/slash9pass"),
        ("password: $ecret99x", "$ecret99x"),
        (f"https://a.example/b?sv=2020&sig={LETTERS}%3D", LETTERS),
        (f"X-Amz-Signature={HEX40}{HEX40[:24]}", HEX40),
    ],
)
def test_a_secret_may_look_like_a_word_a_number_or_a_path(text: str, secret: str) -> None:
    assert secret not in redact_secrets(text).text


@pytest.mark.parametrize(
    "text",
    [
        f"the token refresh landed in {HEX40}",
        "secret_name: prod-db-credentials-v2",
        "sk-learn-based-classifier-pipeline-v2",
        "The secret is consistency99",
        "| user | password | notes |\n|---|---|---|",
        "| password | Notizen |\n| --- | --- |",
        "| password | required |",
        "password=$DB_PASSWORD",
        "password: /run/secrets/db2",
        "tests that pass: test_login_v2",
        "client_secret: SecretKeyProviderFactory",
        "mysql -p atlas",
        "curl -u admin:$PASSWORD https://x.example",
        "the password for the guests is on the fridge",
        "cookie: enabled for everybody",
    ],
)
def test_what_only_stands_near_a_secret_stays(text: str) -> None:
    assert redact_secrets(text) == (text, 0)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "piece",
    ["curl -u ", "mysql x ", "docker login ", "sk-a", "password for ", "| password | ",
     "Cookie: a=", "sshpass ", "a_", "PASSW", "token in ", "secret_", "<password>"],
)  # fmt: skip
def test_what_looks_like_the_beginning_of_a_secret_again_and_again_takes_no_time(
    piece: str,
) -> None:
    began = time.perf_counter()

    redact_secrets(piece * (200_000 // len(piece)))

    assert time.perf_counter() - began < 5
