"""Secrets that show by their own form: a provider's prefix, a key block, an address, a header.

What stands before such a one does not matter. Each pattern names what is to go `value` and the
rest stays. They come in two lists: those of which the letters' case is part (`ghp_…`), and those
that are looked for in the text in small letters. The prefixes are those that the providers
document, and that the common scanners know.

The time grows with the text and no faster: every repetition is bounded, or gives nothing back.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from madeleine.language.late_pattern import compile_late
from madeleine.language.secret_values import (
    SecretSpan,
    is_inside,
    is_mixed,
    is_name,
    is_placeholder,
)

_MODELS = (
    r"sk-ant-[\w-]{16,}+|sk-(?:proj|svcacct|admin|or-v1|lf|let|helicone)-[A-Za-z0-9_-]{20,}+"
    r"|sk-(?:[A-Za-z0-9]{1,12}[_-]){0,3}[A-Za-z0-9]{16,}[\w-]*+|sk_[0-9a-f]{40,}+|csk-[a-z0-9]{40,}+"
    r"|hf_[A-Za-z0-9]{24,}+|api_org_[A-Za-z0-9]{30,}+|gsk_[A-Za-z0-9]{30,}+|xai-[A-Za-z0-9]{40,}+"
    r"|pplx-[A-Za-z0-9]{30,}+|r8_[A-Za-z0-9]{30,}+|nvapi-[\w-]{40,}+|fw_[A-Za-z0-9]{20,}+"
    r"|jina_[A-Za-z0-9]{30,}+|e2b_[0-9a-f]{32,}+|tgp_v1_[\w-]{30,}+|rpa_[A-Z0-9]{30,}\w*+"
    r"|pcsk_\w{30,}+|pa-(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Z])[\w-]{40,}+|fc-[0-9a-f]{32}"
    r"|tvly-[\w-]{20,}+|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{6,}+|apify_api_[A-Za-z0-9]{30,}+"
    r"|BSA(?=[\w-]{0,30}\d)[\w-]{27,}+|m0-(?=[A-Za-z0-9]{0,40}\d)[A-Za-z0-9]{36,}+|dtn_[0-9a-f]{40,}+"
    r"|a[ks]-(?=[A-Za-z0-9]{0,22}\d)(?=[A-Za-z0-9]{0,22}[A-Z])[A-Za-z0-9]{22}(?![\w-])"
    r"|pylf_v\d_\w{2,6}_\w{30,}+|wandb_v1_\w{30,}+"
)
_CODE = (
    r"gh[pousrv]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+|GR1348941[\w-]{20,}+"
    r"|gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas|ffct|wt)-[\w.-]{18,}+"
    r"|ATATT3[\w=-]{40,}+|ATCTT3[\w=-]{40,}+|ATBB[A-Za-z0-9]{28,}+|ATTA[0-9A-Za-z]{60,}+"
    r"|npm_[A-Za-z0-9]{30,}+|pypi-[\w-]{40,}+|rubygems_[0-9a-f]{32,}+|oy2[a-z0-9]{43}(?![a-z0-9])"
    r"|cio(?=[A-Za-z0-9]{0,31}\d)[A-Za-z0-9]{32}(?!\w)|CLOJARS_[A-Za-z0-9]{40,}+"
    r"|packagist_[ou]ut_[0-9a-f]{40,}+|dckr_[op]at_[\w-]{20,}+|AKCp[A-Za-z0-9]{60,}+"
    r"|cmVmd[A-Za-z0-9]{59}|CCIP(?:AT|RJ)_[A-Za-z0-9_]{30,}+|bku[at]_[0-9a-f]{40}|pul-[0-9a-f]{40}"
    r"|sq[aup]_[0-9a-f]{40}|sgp_[\w-]{40,}+|lin_(?:api|oauth)_[A-Za-z0-9]{20,}+|fig[do]_[\w-]{30,}+"
    r"|ntn_[A-Za-z0-9]{30,}+|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])|PMAK-[0-9a-f-]{40,}+"
    r"|API-[A-Z0-9]{26}(?![A-Z0-9])|pnu_[a-z0-9]{36}|rdme_[a-z0-9]{60,}+|dd[op]_[A-Za-z0-9]{36}"
    r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|[ps]at\.[\w-]{20,24}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"
    r"|sntry[su]_[\w+/=-]{30,}+|gb_api_[A-Za-z0-9]{30,}+|CFPAT-[\w-]{40,}+|tr_(?:prod|dev)_\w{18,}+"
    r"|hc[abx]ik_[a-z0-9]{50,}+|ico-[A-Za-z0-9]{32}|dnkey-[\w=-]{26}-[\w=-]{52}|endr\+[\w-]{16}"
)
_AWS_ID = r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}[A-Z0-9]*+"
_CLOUDS = (
    _AWS_ID + r"|ABSK[A-Za-z0-9+/]{60,}+=*+"
    r"|bedrock-api-key-[\w+/=-]{30,}+|AIza[\w-]{30,}+|ya29\.[\w.-]{20,}+|GOCSPX-[\w-]{20,}+"
    r"|1//0[\w-]{30,}+|LTAI[A-Za-z0-9]{16,}+|AKID[A-Za-z0-9]{32}|dapi[0-9a-f]{32}[0-9a-f-]*+"
    r"|do[opr]_v1_[0-9a-f]{40,}+|dp\.(?:pt|st|sa|ct|scim|audit)\.[\w.-]{30,}+"
    r"|hv[sbr]\.[\w-]{20,}+|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}+|HRKU-[\w-]{30,}+"
    r"|v1\.0-[0-9a-f]{24}-[0-9a-f]{40,}+|cf[aup]t_[\w-]{30,}+"
    r"|fo1_[\w-]{30,}+|fm(?:1[ar]|2)_[A-Za-z0-9+/=_,-]{40,}+|sbp_[0-9a-f]{30,}+"
    r"|sb_secret_[\w-]{20,}+|vercel_[A-Za-z0-9]{20,}+|vc[pkair]_[A-Za-z0-9]{40,}+"
    r"|nfp_[A-Za-z0-9]{30,}+|pscale_(?:tkn|pw|oauth)_[\w.=-]{30,}+|napi_[a-z0-9]{50,}+"
    r"|npg_(?=[A-Za-z0-9]{0,20}\d)[A-Za-z0-9]{12,}+|rnd_[A-Za-z0-9]{24,}+|tk-us-[\w-]{40,}+"
    r"|tskey-[a-z]{2,12}-[\w-]{16,}+|dt0[cs]\d\d\.[A-Z2-7]{24}\.[A-Z2-7]{64}|sha256~[\w-]{43}"
    r"|glsa_\w{30,}+|glc_[A-Za-z0-9+/]{32,}+=*+|eyJrIjoi[A-Za-z0-9+/]{40,}+=*+"
    r"|NR(?:AK|II|JS|AA|RA|IQ)-[\w-]{20,}+|4b1d[A-Za-z0-9]{38}(?!\w)|AQVN[\w-]{35,}+"
    r"|[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])|ops_eyJ[A-Za-z0-9+/]{60,}+=*+"
    r"|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"
    r"|2[A-Za-z0-9]{26}_[A-Za-z0-9]{21}(?!\w)|AGE-SECRET-KEY-1[0-9A-Z]{20,}+"
    r"|(?:sdk|mob|api)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
)
_MONEY = (
    r"[spr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/=]{20,}+|sk\.eyJ[\w-]{16,}\.[\w-]{16,}+"
    r"|sq0(?:atp|csp|idp)-[\w-]{20,}+|EAAA[\w-]{56,}+|EAA[A-Z][A-Za-z0-9]{80,}+|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"
    r"|rzp_(?:live|test)_[A-Za-z0-9]{14,}+|xnd_(?:production|development)_\w{30,}+"
    r"|FLW(?:SEC|PUB)K(?:_TEST)?-[0-9a-zA-Z-]{16,}+|duffel_(?:live|test)_[\w=-]{40,}+"
    r"|EZ[AT]K[A-Za-z0-9]{54,}+|shippo_(?:live|test)_[0-9a-f]{40}"
    r"|access-(?:sandbox|development|production)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
    r"|access_token\$(?:sandbox|production)\$[0-9a-z]{16}\$[0-9a-f]{32}"
    r"|pdl_(?:live|sdbx)_apikey_\w{20,}+|polar_(?:oat|pat)_\w{30,}+|amzn\.mws\.[0-9a-f-]{36}"
    r"|amzn1\.oa2-cs\.v1\.[0-9a-f]{64}|[xyz]prv[A-Za-z0-9]{100,}+|nsec1[a-z0-9]{50,}+"
)
_TALK = (
    r"xox[abeoprs](?:\.xox[bp])?-[\w-]{10,}+|xapp-[\w-]{10,}+|xwfp-[\w-]{10,}+"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}+|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}(?!\w)"
    r"|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])|SK[0-9a-f]{32}|x(?:keys|smtps)ib-[0-9a-f]{64}-\w{16}"
    r"|[MNO][A-Za-z\d_-]{22,26}\.[\w-]{6}\.[\w-]{27,40}|re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}+"
    r"|AAAA[\w-]{7}:APA91b[\w-]{80,}+|A{20,24}[A-Za-z0-9%]{60,}+|tfp_[\w.=-]{40,}+|phx_[A-Za-z0-9]{30,}+"
    r"|pat-(?:na|eu|ap)\d-[0-9a-f-]{36}|dG9rO[\w=-]{40,}+|pk_\d{5,10}_[A-Z0-9]{32}"
    r"|sl\.(?:[A-Za-z]\.)?[\w-]{100,}+|IG(?:QV|AA)[\w-]{60,}+|fio-u-[\w=-]{60,}+|p8e-[a-z0-9]{32}"
    r"|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk|hooks_[A-Za-z0-9]{40,}+|signkey-\w{3,8}-[0-9a-f]{32,}+"
)
_CRYPT = (  # what a password file holds: nobody can read it, but a list of words finds it
    r"\$(?:2[abxy]?|apr1|[1569]|y|gy|7|sha1|scrypt|argon2(?:id|i|d)|pbkdf2[\w-]{0,10})\$"
    r"[\w./+=,$-]{20,}+"
)

_AS_WRITTEN = (
    (
        "private key",
        compile_late(
            r"(?P<value>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----END ).)*+(?:-----END [A-Z0-9 ]{0,60}-----)?)",
            re.S,
        ),
    ),
    (
        "private key",  # PuTTY's
        compile_late(r"Private-Lines: \d{1,3}\r?\n(?P<value>(?:[A-Za-z0-9+/=]{16,}+\s{0,2})++)"),
    ),
    ("token", compile_late(r"(?P<value>eyJ(?<![\w.-]eyJ)[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?)")),
    (
        "token",
        compile_late(
            rf"(?<![A-Za-z0-9])(?=\$?[A-Za-z0-9][\w$.~/+:=-]{{10}})(?P<value>{_MODELS}|{_CODE}|{_CLOUDS}|{_MONEY}|{_TALK}|{_CRYPT})"
        ),
    ),
    ("token", compile_late(r"(?:(?<![\w:/.-])|(?<=/bot))(?P<value>\d{8,10}:AA[\w-]{33})(?![\w-])")),
    ("token", compile_late(r"FlyV1 (?P<value>[\w+/=,-]{16,}+)")),
    (
        "token",
        compile_late(
            r"(?:[Aa]uthorization|AUTHORIZATION)[\"']?\]?\s{0,3}(?:=>|[:=,])\s{0,3}\\?[\"'`]?"
            r"(?i:(?:bearer|basic|token|digest|bot|api-?key|key|negotiate|splunk|genie-?key)\s{1,3}"
            r"(?:(?:token|key)=[\"']?)?)"
            r"(?P<value>(?![A-Z]?[a-z]++(?![\w.~+/=:-]))[\w.~+/=:-]{8,}+)"
        ),
    ),
    (
        "token",  # without a word that says what it is
        compile_late(
            r"(?:[Aa]uthorization|AUTHORIZATION)[\"']?\]?\s{0,3}(?:=>|[:=,])\s{0,3}\\?[\"'`]?"
            r"(?P<value>(?![\w.-]*+[(\[])(?=[A-Za-z_.~+/:-]{0,200}\d)[\w.~+/=:-]{8,}+)"
        ),
    ),
    (
        "address",
        compile_late(
            r"(?P<value>https://(?:hooks\.slack\.com/(?:services|workflows|triggers)"
            r"|discord(?:app)?\.com/api/webhooks|[\w-]{1,80}\.webhook\.office\.com"
            r"|outlook\.office\.com/webhook|hooks\.zapier\.com/hooks/catch"
            r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook"
            r"|maker\.ifttt\.com/trigger/[\w-]{1,80}/with/key)/[^\s\"'<>)]++)"
        ),
    ),
    (
        "password",
        compile_late(
            r"(?<=://)[^\s/:@\"'<>\[\]]{0,200}:(?P<value>(?!\[redacted|\$|\{|<|%\w*%|\*|\d{1,5}/)"
            r"(?:[^\s/@\"'<>]|@(?=[^\s/@\"'<>]{1,100}@)|/(?=[^\s/@\"'<>]{1,60}@)){1,200})(?=@/?[\w.\[-])"
        ),
    ),
    (
        "token",  # as the name somebody signs in with
        compile_late(
            r"(?<=://)(?P<value>(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[a-zA-Z])[\w-]{20,200})(?=(?::x-oauth-basic)?@[\w\[])"
        ),
    ),
    (
        "password",
        compile_late(
            r"PIN(?<!\wPIN)(?:[ -]?[Cc]ode)?(?: (?:is|ist)|\s?[:=])\s{1,2}(?P<value>\d{4,8})(?!\w)"
        ),
    ),
)
_PGPASS = r"[\w.*-]{1,100}:(?:\d?543\d|6432|6543|\*):(?!\d++:)[^:\s]{1,60}:[^:\s]{1,60}:"
_IN_SMALL_LETTERS = (
    ("token", compile_late(r"bearer\s{1,3}(?P<value>(?=[\w.~+/-]{0,200}\d)[\w.~+/-]{16,}+=*+)")),
    (
        "cookie",
        compile_late(
            r"cookie[\"']?\s{0,2}:\s{0,2}[\"']?(?P<value>[\w.-]{1,80}=(?!\[redacted)[^\s;\"']{6,4000}"
            r"(?:;\s{0,2}[\w.-]{1,80}(?:=[^\s;\"']{0,4000})?){0,40})"
        ),
    ),
    (
        "cookie",
        compile_late(
            r"(?:sess(?:ion)?id|phpsessid|session_id(?==)|connect\.sid|aspsessionid\w{8}|laravel_session"
            r"|_gitlab_session|remember_token|sessionkey|xsrf-token|csrftoken)[\"']?\s{0,2}[:=]\s{0,2}[\"']?"
            r"(?P<value>(?!\w{8}-\w{4}-\w{4}-\w{4}-\w{12}(?!\w))(?=[\w.%:+/-]{0,60}\d)[\w.%:+/-]{16,}+=*+)"
        ),
    ),
    (
        "signature",
        compile_late(
            r"(?:(?<=[?&])(?:sig|signature|hmac)|x-(?:amz|goog)-(?:signature|security-token))="
            r"(?P<value>[\w%.~+/=-]{16,}+)"
        ),
    ),
    (
        "password",
        compile_late(
            r"<(?P<tag>[\w:.-]{0,40}(?:pass(?:word|wd|phrase|code)|pwd|secret|apikey|api-key|token))>"
            r"(?P<value>(?![$<{\[])[^<\s]{4,4000})</(?P=tag)>"
        ),
    ),
    (
        "password",  # a .netrc, in one line or in many
        compile_late(
            r"(?:machine\s{1,20}\S{1,100}|\sdefault)\s{1,20}(?:(?:login|account)\s{1,20}\S{1,100}\s{1,20}){0,2}"
            r"password\s{1,20}(?P<value>(?![$<{\[*])\S{1,200})"
        ),
    ),
    (
        "password",  # a .pgpass
        compile_late(
            rf"^[ \t>*-]{{0,8}}{_PGPASS}(?P<value>(?![$<{{\[])\S{{3,200}})[ \t\r]{{0,8}}$",
            re.M,
        ),
    ),
    (
        "password",  # a line of one within others
        compile_late(
            rf"(?<![\w.:/*-]){_PGPASS}(?P<value>(?![$<{{\[])(?=[a-z_-]{{0,60}}[\d!@#$%&?+~^])"
            r"\S{3,200}?)(?=[.,;:)\]\"'`]{0,3}(?:\s|$))"
        ),
    ),
    (
        "password",  # `requests.get(url, auth=("ana", "…"))`
        compile_late(
            r"(?:auth\s?=\s?\(|(?:basicauth|networkcredential|set_basic_auth|passwordcredential|basic_auth)\()\s{0,3}"
            r"[\"'][^\"'\n]{1,80}[\"'],\s{0,3}[\"'](?P<value>(?![$<{\[])[^\"'\n]{3,200})[\"']"
        ),
    ),
    (
        "password",  # `ConvertTo-SecureString "…" -AsPlainText`
        compile_late(
            r"convertto-securestring\s{1,3}(?:-string\s{1,3})?[\"'](?P<value>(?!\$)[^\"'\n]{3,200})"
        ),
    ),
    (
        "password",
        compile_late(
            r"pass(?:in|out|word)?\s{0,2}=?\s{0,2}pass:(?P<value>(?![$<{\[])[^\s\"']{3,200})"
        ),
    ),
)
_TELLS_BOTH = compile_late(  # `login: ana / …`
    r"(?:log ?in(?: with)?|credentials?|creds|zugangsdaten|anmeldung|user(?:name)?/pass(?:word)?)"
    r"(?:\s{0,2}[:=]|\s(?:is|are|with|mit|sind))?\s{1,3}[\"'`]?[\w.@+-]{2,60}\s?[/:|]\s?"
    r"(?P<value>[^\s\"'`,;/]{4,100})(?![/\w])"
)

# -- base64 --------------------------------------------------------------------------------

_ENCODED = compile_late(  # `{"auths": {"ghcr.io": {"auth": "…"}}}`, a registry's file
    r"_?auth\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?P<value>[A-Za-z0-9+/]{6,4000}+={0,2})(?![\w+/=-])"
)
_NAME_AND_PASSWORD = compile_late(r"[^\s:]{1,200}:\S.{0,3000}")
_KEY_ID = compile_late(rf"(?<![A-Za-z0-9]){_AWS_ID}")
_KEY_SECRET = compile_late(
    r"(?<![\w/+=.-])(?=[^a-z\s]{0,39}[a-z])(?=[^A-Z\s]{0,39}[A-Z])(?=[^\d\s]{0,39}\d)"
    r"(?P<value>[A-Za-z0-9/+]{40})(?![\w/+=-]|\.\w)"
)
BESIDE_CHARS = 100  # between an id of AWS and its secret


def _find_encoded(text: str) -> Iterator[SecretSpan]:
    """Yield what a name and a password became; any other word behind `auth` is none."""
    for found in _ENCODED.finditer(text):
        plain = _decode_base64(found["value"])
        if plain is not None and _NAME_AND_PASSWORD.fullmatch(plain):
            yield SecretSpan(*found.span("value"), "password")


def _find_beside_key_ids(text: str) -> Iterator[SecretSpan]:
    """Yield the secrets of AWS: they have no mark of their own, but the ids beside them have."""
    ids = [each.span() for each in _KEY_ID.finditer(text)]
    near = [(start - BESIDE_CHARS, end + BESIDE_CHARS) for start, end in ids]
    for found in _KEY_SECRET.finditer(text) if near else ():
        if is_inside(found.start(), near) and not _is_readable(found["value"]):
            yield SecretSpan(*found.span("value"), "token")


def _is_readable(value: str) -> bool:
    """Whether it is a path, or words in base64: nothing that a machine drew."""
    return is_name(value.strip("/")) or _decode_base64(value) is not None


def _decode_base64(value: str) -> str | None:
    """Return the words that base64 was made of; None if it was not made of any."""
    whole = value.rstrip("=")
    try:
        plain = base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("utf-8")
    except ValueError:
        return None
    return plain if plain.isprintable() else None


# -- commands ------------------------------------------------------------------------------

_COMMANDS = (
    r"curl|wget|https?|xh|mysql(?:dump|admin|import)?|mariadb(?:-dump)?|sshpass|docker|podman|helm"
    r"|oras|skopeo|nerdctl|redis-cli|mongo(?:sh|dump|restore|export)?|cqlsh|sqlcmd|bcp|zip|unzip|7za?"
    r"|rar|unrar|ldap(?:search|modify|add|whoami)|smbclient|htpasswd|lftp|xfreerdp|az|ngrok|vault"
    r"|net user|sqlplus|keytool|jarsigner|echo|printf"
)
_COMMAND = compile_late(rf"(?<![\w./-])(?:{_COMMANDS})(?=\s)")
_LINE = compile_late(rf"(?<![\w./-])(?:{_COMMANDS})\s[^\n]{{1,4000}}+")
_GIVEN = (
    (
        r"curl|wget|http|https|xh",
        r"\s(?:-[ua]\s{0,2}|--(?:proxy-)?user[ =]|--auth[ =])[\"']?[^\s:\"'$]{1,80}:",
    ),
    (r"curl", r"\s(?:-b\s{0,2}|--cookie[ =])[\"']?[\w.-]{1,80}="),
    (r"mysql\w*|mariadb[\w-]*|7za?|rar|unrar", r"\s-p[\"']?"),
    (r"sshpass|docker|podman|helm|oras|skopeo|nerdctl|mongo\w*|cqlsh|az", r"\s-p[ =]?[\"']?"),
    (r"redis-cli", r"\s-a[ =]?[\"']?"),
    (r"sqlcmd|bcp|zip|unzip", r"\s-P[ =]?[\"']?"),
    (r"ldap\w+", r"\s-w[ =]?[\"']?"),
    (r"smbclient", r"\s-U[ =]?[\"']?[^\s%\"'$]{1,80}%"),
    (r"htpasswd", r"\s-\w{0,4}b\w{0,4}\s{1,2}\S{1,200}\s{1,2}\S{1,80}\s{1,2}[\"']?"),
    (r"lftp", r"\s-u\s{0,2}[\"']?[^\s,\"'$]{1,80},"),
    (r"xfreerdp", r"\s/p:[\"']?"),
    (r"ngrok|vault", r"\s(?:(?:add-)?authtoken|login)\s{1,2}(?=\S{0,60}\d)"),
    (r"net user", r"(?<=net user)\s{1,3}[\w.-]{1,40}\s{1,3}(?=\S{0,60}[\d!@#$%])"),
    (r"sqlplus", r"\s[\w.-]{1,40}/(?=[^\s@]{1,60}@)"),
    (r"keytool|jarsigner", r"\s-(?:store|key)pass\s{1,3}[\"']?"),
    (
        r"echo|printf",
        r"(?<=\s)(?:-\w{1,3}\s{1,3})?[\"']?(?:[\w.-]{1,40}:(?=[^\n|]{1,200}\|[^\n|]{0,40}chpasswd))?"
        r"(?=[^\s\"'|]{3,200}[\"']?\s{0,3}\|\s{0,3}(?:sudo\s{1,3})?(?:-\w{1,3}\s{1,3}){0,3}"
        r"(?:chpasswd|-\w{0,3}S\b|passwd --stdin|cryptsetup))",
    ),
)
_GIVEN_TO = tuple(
    (
        compile_late(command),
        compile_late(rf"{flag}(?P<value>(?![$<{{\[*(%]|-\w)[^\s\"'`|]{{3,4000}})"),
    )
    for command, flag in _GIVEN
)
_LOGS_IN = compile_late(r"docker|podman|helm|oras|skopeo|nerdctl|az")  # else `-p` is a port


def find_by_form(text: str, low: str) -> Iterator[SecretSpan]:
    """Yield where something has the form of a secret."""
    for kind, pattern, where in _list_patterns(text, low):
        for found in pattern.finditer(where):
            yield SecretSpan(*found.span("value"), kind)
    yield from _find_logins(text, low)
    yield from _find_encoded(text)
    yield from _find_beside_key_ids(text)
    yield from _find_in_commands(text)


def _list_patterns(text: str, low: str) -> Iterator[tuple[str, re.Pattern[str], str]]:
    for kind, pattern in _AS_WRITTEN:
        yield kind, pattern, text
    for kind, pattern in _IN_SMALL_LETTERS:
        yield kind, pattern, low


def _find_logins(text: str, low: str) -> Iterator[SecretSpan]:
    for found in _TELLS_BOTH.finditer(low):
        value = text[slice(*found.span("value"))]
        if is_mixed(value) and not is_placeholder(value):
            yield SecretSpan(*found.span("value"), "password")


def _find_in_commands(text: str) -> Iterator[SecretSpan]:
    """A line with commands in it is looked at once, however many they are."""
    for line in _LINE.finditer(text):
        for start, end in _find_flag_values(line[0]):
            if not is_placeholder(line[0][start:end]):
                yield SecretSpan(line.start() + start, line.start() + end, "password")


def _find_flag_values(line: str) -> Iterator[tuple[int, int]]:
    first = {each[0]: each.start() for each in reversed(list(_COMMAND.finditer(line)))}
    for command, place in first.items():
        begin = line.find("login", place) if _LOGS_IN.fullmatch(command) else place
        for name, pattern in _GIVEN_TO:
            if begin >= 0 and name.fullmatch(command):
                yield from (found.span("value") for found in pattern.finditer(line, begin))
