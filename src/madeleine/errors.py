"""Everything that can go wrong, sorted by what the caller should do.

    MadeleineError                                          HTTP  exit
    ├─ Rejected      this request can never work as sent    422   2
    │    TooLarge 413 · NoToken 401 · Forbidden, NotAllowed 403 · WrongMethod 405
    ├─ Missing       the named thing is not there           404   3
    ├─ Conflict      it changed, or the name fits several   409   4
    ├─ Unavailable   nothing was changed; try again         503   5
    │    TooMany 429
    └─ Damaged       stored bytes make no sense             500   6

A message says what is so, with the value; the hint is the next thing to type. Exceptions
build both from typed parts, so that the same failure reads the same at every door. A program
decides by `kind`, which each class has of its own, and by the `parts`; never by the message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

PROBLEM_CHARS = 400  # of what is said to be wrong with a file


QUOTED_CHARS = 80  # of a value that a message quotes


def quote(value: object) -> str:
    """Return a value as a message quotes it; a value may be huge."""
    text = repr(value[: QUOTED_CHARS + 1]) if isinstance(value, str) else repr(value)
    return text if len(text) <= QUOTED_CHARS + 2 else f"{text[:QUOTED_CHARS]}…{text[-1]}"


class MemoryChoice:
    """A memory that may have been meant. A message shows the first `chars` of its id.

    It is no dataclass: every command loads this module, and `dataclasses` takes longer than all
    of its help.
    """

    def __init__(
        self, id: str, title: str | None = None, place: str | None = None, chars: int = 36
    ) -> None:
        self.id = id
        self.title = title
        self.place = place
        self.chars = chars

    def __str__(self) -> str:
        title = "" if self.title is None else f" ({self.title})"
        place = "" if self.place is None else f" in {self.place}"
        return f"`{self.id[: self.chars]}`{title}{place}"

    def to_json(self) -> dict[str, object]:
        return {"id": self.id, "title": self.title, "place": self.place}


class MadeleineError(Exception):
    """The root of every error we raise on purpose. Anything else is a bug of ours."""

    code = "error"
    kind = "error"
    """Names the class for programs. It stays when a class or a sentence is renamed."""
    http_status = 500
    exit_code = 1

    def __init__(self, message: str, hint: str = "", **parts: object) -> None:
        """`parts` are the values that the message is made of, for doors that word it themselves."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.parts: Mapping[str, object] = {
            name: str(value) if isinstance(value, Path) else value for name, value in parts.items()
        }


class Rejected(MadeleineError):
    """This request can never work as sent."""

    code = "rejected"
    kind = "rejected"
    http_status = 422
    exit_code = 2


class Missing(MadeleineError):
    """The named thing is not there."""

    code = "missing"
    kind = "missing"
    http_status = 404
    exit_code = 3


class Conflict(MadeleineError):
    """It changed meanwhile, or the name fits several things."""

    code = "conflict"
    kind = "conflict"
    http_status = 409
    exit_code = 4


class Unavailable(MadeleineError):
    """Nothing was changed; the same request may work later."""

    code = "unavailable"
    kind = "unavailable"
    http_status = 503
    exit_code = 5


class Damaged(MadeleineError):
    """Stored bytes make no sense; a person has to look."""

    code = "damaged"
    kind = "damaged"
    http_status = 500
    exit_code = 6


# --- Rejected -----------------------------------------------------------------------------


class InvalidValue(Rejected):
    """A field holds something that can never be accepted."""

    kind = "invalid_value"

    def __init__(
        self, field: str, problem: str, hint: str = "docs/reference says what it takes"
    ) -> None:
        super().__init__(f"`{field}` {problem}", hint, field=field, problem=problem)
        self.field = field


class Excluded(Rejected):
    """What agents and hooks keep nothing of, by the settings."""

    kind = "excluded"

    def __init__(self, setting: str, value: str) -> None:
        super().__init__(
            f"nothing was kept: `{setting}` keeps out {quote(value)}",
            "the user wants it so; do not try again in other words",
            setting=setting,
            value=value,
        )
        self.setting = setting
        self.value = value


class EmptyDraft(Rejected):
    """A draft without any text."""

    kind = "empty_draft"

    def __init__(self) -> None:
        super().__init__("the memory has no text", hint="say in `content` what is to be remembered")


class TooLarge(Rejected):
    """A draft or a request body over its bound."""

    kind = "too_large"
    http_status = 413

    def __init__(self, what: str, size: int, limit: int, setting: str) -> None:
        super().__init__(
            f"{what} is {size:,} bytes; the limit is {limit:,}",
            hint=f"split it, or raise `{setting}` in config.toml",
            what=what,
            size=size,
            limit=limit,
            setting=setting,
        )


class BadFraming(Rejected):
    """Bytes that are no request, or that another program might take for another one; answered
    with 400."""

    kind = "bad_framing"

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"the request {problem}",
            hint="send it with one length, and lines that end with CR LF",
            problem=problem,
        )


class RequestTooSlow(Rejected):
    """A request that was not sent in time; answered with 408."""

    kind = "request_too_slow"

    def __init__(self) -> None:
        super().__init__("the request did not come in time", hint="send it at once")


class UnknownWord(Rejected):
    """A word from a closed list (type, tier, edge, …) that is not in it."""

    kind = "unknown_word"

    def __init__(self, field: str, word: object, known: list[str]) -> None:
        super().__init__(
            f"unknown {field} {quote(word)}",
            hint=f"one of: {', '.join(known)}",
            field=field,
            word=quote(word),
            known=known,
        )
        self.field = field


class SelfLink(Rejected):
    """A connection from a memory to itself."""

    kind = "self_link"

    def __init__(self, memory_id: str) -> None:
        super().__init__(
            f"`{memory_id}` cannot be connected to itself",
            hint="name two memories",
            memory_id=memory_id,
        )


class NoToken(Rejected):
    """A request over TCP without the right bearer token."""

    kind = "no_token"
    http_status = 401

    def __init__(self) -> None:
        super().__init__(
            "this request carries no valid token",
            hint="send `Authorization: Bearer …` with the token in run/token of the home folder",
        )


class NoPersonsToken(NoToken):
    """A request to a server of several people without a token of any of them, from a client that
    has no home folder of the server's to look into."""

    kind = "no_persons_token"

    def __init__(self) -> None:
        Rejected.__init__(
            self,
            "this request carries no valid token",
            hint="send `Authorization: Bearer …` with a token of yours; who runs the server makes "
            "one by `madeleine token create NAME --person YOU`",
        )


class NoAdminToken(NoToken):
    """A request for the whole memory without the token that is set for that."""

    kind = "no_admin_token"

    def __init__(self) -> None:
        Rejected.__init__(
            self,
            "this request carries no valid admin token",
            hint="send `Authorization: Bearer …` with the one that is set as server.admin_token",
        )


class Forbidden(Rejected):
    """A request that came from where none may come from: a foreign Host or Origin."""

    kind = "forbidden"
    http_status = 403

    def __init__(self, header: str, value: str, named: bool = False) -> None:
        """`named` says that a proxy makes the server known under other names as well."""
        more = ", or a name that the server's `server.names` has" if named else ""
        super().__init__(
            f"{header} {value!r} is not allowed",
            hint=f"use http://127.0.0.1 itself{more}",
            header=header,
            value=value,
            named=named,
        )


class NotAllowed(Rejected):
    """What the caller can see, and may not do."""

    kind = "not_allowed"
    http_status = 403

    def __init__(self, what: str, needed: str, has: str, where: str = "") -> None:
        place = f" in the shared space `{where}`" if where else ""
        super().__init__(
            f"{what} needs the role {needed}; this token has {has}{place}",
            hint="ask an owner or admin for the role",
            what=what,
            needed=needed,
            has=has,
            where=where,
        )


class OnlyAtTheServer(Rejected):
    """A request that names a file of the server's machine, from elsewhere."""

    kind = "only_at_the_server"
    http_status = 403

    def __init__(self, field: str) -> None:
        super().__init__(
            f"`{field}` names a file of the server, which is not yours to name",
            hint="send the text itself",
            field=field,
        )


class OtherSpace(Rejected):
    """A connection, merge or move between a person's own memory and a shared space."""

    kind = "other_space"

    def __init__(self, memory_id: str, place: str) -> None:
        super().__init__(
            f"`{memory_id}` is kept in {place}; nothing leads from one memory into another",
            hint="remember it where you want it, then connect it there",
            memory_id=memory_id,
            place=place,
        )


class WrongMethod(Rejected):
    """A path that is there, asked for in a way it does not answer."""

    kind = "wrong_method"
    http_status = 405

    def __init__(self, method: str, path: str, allowed: list[str]) -> None:
        super().__init__(
            f"{path} does not answer {method}",
            hint=f"use {' or '.join(allowed)}",
            method=method,
            path=path,
            allowed=allowed,
        )
        self.allowed = allowed


class BadBody(Rejected):
    """A request body that cannot be read as JSON."""

    kind = "bad_body"

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"the body {problem}",
            hint="send a JSON object as `Content-Type: application/json`",
            problem=problem,
        )


class NoPeople(Rejected):
    """People, tokens and shared spaces where there is no room for any."""

    kind = "no_people"

    def __init__(self) -> None:
        super().__init__(
            "this home is one person's; others need the memory in a database",
            hint='set `[store] url` and `truth = "database"`: docs/guides/team-server.md',
        )


class BadSetting(Rejected):
    """A setting in config.toml or the environment that cannot be used."""

    kind = "bad_setting"

    def __init__(
        self, name: str, problem: str, hint: str = "see docs/reference/settings.md"
    ) -> None:
        super().__init__(f"setting `{name}` {problem}", hint, name=name, problem=problem)


# --- Missing ------------------------------------------------------------------------------


class NotInFiles(Rejected):
    """Something that is done with files, where the memory is in a database."""

    kind = "not_in_files"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} only where the memory is in files, and this one is in a database",
            hint="restore the database by its own tools; or restore into a home with files, "
            "then `madeleine move` it",
            what=what,
        )


class NoSuchMemory(Missing):
    """No memory has this id or prefix."""

    kind = "no_such_memory"

    def __init__(self, wanted: str, near: Sequence[MemoryChoice] = ()) -> None:
        hint = (
            f"did you mean {', '.join(map(str, near))}?"
            if near
            else "`madeleine list` shows what is there"
        )
        told = [each.to_json() for each in near]
        super().__init__(f"no memory `{wanted}`", hint, wanted=wanted, near=told)
        self.near = near
        self.wanted = wanted


class NotInTrash(Missing):
    """Nothing forgotten has this id."""

    kind = "not_in_trash"

    def __init__(self, wanted: str) -> None:
        super().__init__(
            f"no forgotten memory `{wanted}`",
            hint="`madeleine list --trash` shows the trash",
            wanted=wanted,
        )


class NoSuchChange(Missing):
    """No recorded change or run has this id."""

    kind = "no_such_change"

    def __init__(self, wanted: str) -> None:
        super().__init__(
            f"no change, run or night `{wanted}`",
            hint="what changed nothing left none; `madeleine history ID` names the changes",
            wanted=wanted,
        )


class NoSuchRun(Missing):
    """No run has this id."""

    kind = "no_such_run"

    def __init__(self, wanted: str) -> None:
        super().__init__(
            f"no run `{wanted}`",
            hint="`madeleine sleep status` says when each job ran",
            wanted=wanted,
        )


class NoSuchWhisper(Missing):
    """No whisper has this id, or not any more."""

    kind = "no_such_whisper"

    def __init__(self, whisper_id: str) -> None:
        super().__init__(
            f"no whisper `{whisper_id}`",
            hint="whispers are kept for `whisper.log_days`; leave its id out",
            whisper_id=whisper_id,
        )


class NoSuchProposal(Missing):
    """No proposal has this id."""

    kind = "no_such_proposal"

    def __init__(self, wanted: str) -> None:
        super().__init__(
            f"no proposal `{wanted}`", hint="`madeleine proposals` lists them", wanted=wanted
        )


class NoSuchJob(Missing):
    """A word that stands where a job is named, and names no job."""

    kind = "no_such_job"

    def __init__(self, wanted: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"no job `{wanted}`", hint=f"one of: {', '.join(known)}", wanted=wanted, known=known
        )


class NoSuchTenant(Missing):
    """Nobody of this name has a memory here."""

    kind = "no_such_tenant"

    def __init__(self, wanted: str) -> None:
        super().__init__(f"no tenant `{wanted}`", wanted=wanted)


class NoSuchConnection(Missing):
    """The two memories are not connected that way."""

    kind = "no_such_connection"

    def __init__(self, source: str, target: str, edge: str) -> None:
        super().__init__(
            f"no {f'`{edge}` ' if edge else ''}connection from `{source}` to `{target}`",
            hint=f"`madeleine show {source}` lists its connections",
            source=source,
            target=target,
            edge=edge,
        )


class NoSuchPerson(Missing):
    """Nobody has this name."""

    kind = "no_such_person"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no person `{name}`", hint="`madeleine person list` names them", name=name
        )


class NoSuchToken(Missing):
    """No token has this id or name."""

    kind = "no_such_token"

    def __init__(self, wanted: str) -> None:
        super().__init__(
            f"no token `{wanted}`", hint="`madeleine token list` shows them", wanted=wanted
        )


class NoSuchSpace(Missing):
    """No shared space of the caller's has this name."""

    kind = "no_such_space"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no shared space `{name}`", hint="`madeleine space list` shows them", name=name
        )


class SpaceIsEmpty(Missing):
    """No memory is in a space of this name."""

    kind = "space_is_empty"

    def __init__(self, space: str) -> None:
        super().__init__(
            f"there is no memory in `{space}`", hint="`madeleine space list`", space=space
        )


class SpaceTaken(Rejected):
    """A space is to be called as another one is called already."""

    kind = "space_taken"

    def __init__(self, old: str, new: str) -> None:
        super().__init__(
            f"there are memories in `{new}` already",
            hint=f"`madeleine space merge {old} {new}` makes one of both",
            space=new,
        )


class NoSuchRoute(Missing):
    """No route has this path and method."""

    kind = "no_such_route"

    def __init__(self, method: str, path: str) -> None:
        super().__init__(
            f"no route {method} {path}", hint="see /openapi.json", method=method, path=path
        )


class NoFile(Missing):
    """A file named in a request is not there."""

    kind = "no_file"

    def __init__(self, path: Path) -> None:
        super().__init__(f"no file {path}", hint="check the path", path=path)


# --- Conflict -----------------------------------------------------------------------------


class AmbiguousId(Conflict):
    """An id prefix that fits several memories."""

    kind = "ambiguous_id"

    def __init__(self, wanted: str, candidates: Sequence[MemoryChoice]) -> None:
        super().__init__(
            f"`{wanted}` fits {len(candidates)} memories",
            hint=f"one of: {', '.join(map(str, candidates))}",
            wanted=wanted,
            candidates=[each.to_json() for each in candidates],
        )


class AmbiguousChange(Conflict):
    """The beginning of a change's id that fits several changes."""

    kind = "ambiguous_change"

    def __init__(self, wanted: str, candidates: list[str]) -> None:
        super().__init__(
            f"`{wanted}` fits {len(candidates)} changes",
            hint=f"one of: {', '.join(candidates)}",
            wanted=wanted,
            candidates=candidates,
        )


class FileChanged(Conflict):
    """The file is not the one the change was made for."""

    kind = "file_changed"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} changed since it was read",
            hint="look at it again, then repeat the change",
            path=path,
        )


class EditedSince(Conflict):
    """A memory that was changed, or went, after the change that is to be undone; it is named by
    its file only where nobody knows what it is called."""

    kind = "edited_since"

    def __init__(self, path: str, title: str | None = None, gone: bool = False) -> None:
        what = path if title is None else f"“{title}”"
        super().__init__(
            f"{what} was {'forgotten or merged' if gone else 'changed'} since; "
            "undoing would overwrite that",
            hint="nothing was changed; undo the newer change first, or edit the memory yourself",
            path=path,
            title=title,
            gone=gone,
        )


class ScoredSince(Conflict):
    """A run that gave only scores, all of which newer ones have replaced."""

    kind = "scored_since"

    def __init__(self) -> None:
        super().__init__(
            "what this run scored was scored anew since",
            hint="nothing was changed; undo the newer run first",
        )


class AlreadyDone(Conflict):
    """The change was undone, decided or carried out before."""

    kind = "already_done"

    def __init__(self, what: str, state: str) -> None:
        super().__init__(
            f"{what} is already {state}", hint="nothing was changed", what=what, state=state
        )


class AlreadyUndone(AlreadyDone):
    """The change was taken back before, here or elsewhere."""

    kind = "already_undone"

    def __init__(self, state: str) -> None:
        super().__init__("this", state)


class NothingChanged(Conflict):
    """A night left nothing that could be taken back."""

    kind = "nothing_changed"

    def __init__(self, night: str) -> None:
        super().__init__(
            f"the night `{night[:8]}` changed nothing", hint="nothing is to be undone", night=night
        )


class BeingDecided(Conflict):
    """Somebody else decides the proposal at this moment."""

    kind = "being_decided"

    def __init__(self) -> None:
        super().__init__(
            "this proposal was just decided in another window, or by somebody else",
            hint="nothing was changed by you; look in a moment how it stands",
        )


class OutdatedProposal(Conflict):
    """A proposal about memories that say something else by now."""

    kind = "outdated_proposal"

    def __init__(self, proposal_id: str, memory_id: str) -> None:
        super().__init__(
            f"`{memory_id[:8]}` changed since proposal `{proposal_id[:8]}` was made",
            hint=f"`madeleine proposals reject {proposal_id[:8]}`; what still holds comes again",
            proposal_id=proposal_id,
            memory_id=memory_id,
        )
        self.memory_id = memory_id


class KeyReused(Conflict):
    """An idempotency key that was used for another text."""

    kind = "key_reused"

    def __init__(self, key: str, memory_id: str) -> None:
        super().__init__(
            f"idempotency key {key!r} belongs to another text, memory `{memory_id}`",
            hint="use a new key for a new memory",
            key=key,
            memory_id=memory_id,
        )


class IdTaken(Conflict):
    """A draft that asks for an id another memory already has."""

    kind = "id_taken"

    def __init__(self, memory_id: str) -> None:
        super().__init__(
            f"`{memory_id}` already exists with another text",
            hint="leave `id` out, or revise it",
            memory_id=memory_id,
        )


class NameTaken(Conflict):
    """A person, token or shared space that is there already."""

    kind = "name_taken"

    def __init__(self, what: str, name: str) -> None:
        super().__init__(
            f"{what} `{name}` is there already", hint="choose another name", what=what, name=name
        )


class StillKept(Conflict):
    """Memories lie under a name that is given anew: they may be somebody else's."""

    kind = "still_kept"

    def __init__(self, name: str, count: int, again: str, erase: str) -> None:
        super().__init__(
            f"memories are kept under the name `{name}`: {count:,}",
            hint=f"`madeleine {again} --keep` hands them over; "
            f"`madeleine {erase} --erase`, before, removes them for good",
            name=name,
            count=count,
            again=again,
            erase=erase,
        )


class PlaceTaken(Conflict):
    """Something is where a new file should go: an export, a backup."""

    kind = "place_taken"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is there already", hint="name another place, or move it away", path=path
        )


class TruthInDatabase(Conflict):
    """A home with files that would fill the index of a memory which is in the database."""

    kind = "truth_in_database"

    def __init__(self, place: str) -> None:
        super().__init__(
            f"{place}: its memories are in the database, and this home keeps its own in files",
            hint='set `truth = "database"` beside `store.url`, or name another `store.tenant`',
            place=place,
        )


class IndexOfAnother(Conflict):
    """A home that would fill the index which follows another's files."""

    kind = "index_of_another"

    def __init__(self, place: str) -> None:
        super().__init__(
            f"{place}: the index there follows the files of another home",
            hint="name another `store.tenant`; or, if this home is to have it, `madeleine rebuild` "
            "makes it anew from this home's files",
            place=place,
        )


class IndexOfFiles(Conflict):
    """A memory in the database whose index follows the files of some home."""

    kind = "index_of_files"

    def __init__(self, place: str) -> None:
        super().__init__(
            f"{place}: the index there follows the files of a home, and no memory is in the "
            "database",
            hint="`madeleine move` brings files in, with `store.truth` at files until then; or "
            "name another `store.tenant`; `madeleine rebuild` begins the index anew",
            place=place,
        )


# --- Unavailable --------------------------------------------------------------------------


class HomeBusy(Unavailable):
    """Another process has this home open."""

    kind = "home_busy"

    def __init__(self, home: Path, pid: int | None) -> None:
        who = f"process {pid}" if pid else "another process"
        super().__init__(
            f"{home} is open in {who}",
            hint="wait for it, or `madeleine stop` the daemon",
            home=home,
            pid=pid,
        )


class DaemonDown(Unavailable):
    """A command needs the daemon and it does not answer."""

    kind = "daemon_down"

    def __init__(self, where: str) -> None:
        super().__init__(
            f"no daemon answers at {where}", hint="`madeleine serve` starts it", where=where
        )


class CannotListen(Unavailable):
    """The daemon's address is taken or cannot be used."""

    kind = "cannot_listen"

    def __init__(self, host: str, port: int, problem: str) -> None:
        super().__init__(
            f"cannot listen on {host}:{port}: {problem}",
            hint=f"end what uses port {port}, or choose another with `madeleine serve --port`",
            host=host,
            port=port,
            problem=problem,
        )


class MindDown(Unavailable):
    """A model or its server does not answer."""

    kind = "mind_down"

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(
            f"{name}: {problem}",
            hint="`madeleine status` shows which model is set",
            name=name,
            problem=problem,
        )


class StoreUnwritable(Unavailable):
    """The disk refused a write: read-only, full, or no permission."""

    kind = "store_unwritable"

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"cannot write {path}: {problem}",
            hint="free some space or make the folder writable, then try again",
            path=path,
            problem=problem,
        )


class DatabaseDown(Unavailable):
    """The database does not answer, does not let us in, or has no room."""

    kind = "database_down"

    def __init__(self, place: str, problem: str, hint: str = "") -> None:
        super().__init__(
            f"{place}: {problem}",
            hint or "see that it runs, then try again",
            place=place,
            problem=problem,
        )


class SettingsTaken(Conflict):
    """A person has a file of their own under the name of one that is wholly ours."""

    kind = "settings_taken"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is a file of your own, and setup needs that name",
            hint="give it another name, or name only the other agents; nothing was changed",
            path=path,
        )


class SettingsLocked(Unavailable):
    """A settings file of a coding agent may not be read or written."""

    kind = "settings_locked"

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"cannot change {path}: {problem}",
            hint="make it writable, or name only the other agents; nothing was changed",
            path=path,
            problem=problem,
        )


class UnderWay(Unavailable):
    """Work of which there can be one at a time."""

    kind = "under_way"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is under way already", hint="wait until it is over", what=what)


class LeaseLost(Unavailable):
    """Another server has taken over what this one was doing; nothing of it is kept."""

    kind = "lease_lost"

    def __init__(self, work: str) -> None:
        super().__init__(f"another server has taken over `{work}`", work=work)


class TooMany(Unavailable):
    """More requests at once than the daemon takes."""

    kind = "too_many"
    http_status = 429

    def __init__(self) -> None:
        super().__init__("too many requests at once", hint="wait a moment and try again")


# --- Damaged ------------------------------------------------------------------------------


class FileUnreadable(Damaged):
    """A memory file is present but does not parse."""

    kind = "file_unreadable"

    def __init__(self, path: str, line: int, problem: str) -> None:
        if len(problem) > PROBLEM_CHARS:  # it may quote a value, and a value may be huge
            problem = f"{problem[:PROBLEM_CHARS]}…"
        super().__init__(
            f"{path}:{line}: {problem}",
            hint="fix it, then `madeleine reconcile`",
            path=path,
            line=line,
            problem=problem,
        )
        self.path = path
        self.line = line
        self.problem = problem


class JournalTorn(Damaged):
    """A journal line that is not a whole JSON object."""

    kind = "journal_torn"

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(
            f"{path}:{line}: {problem}",
            hint="the line was skipped; nothing else is",
            path=path,
            line=line,
            problem=problem,
        )
        self.path = path
        self.line = line
        self.problem = problem


class IndexCorrupt(Damaged):
    """The derived index cannot be read."""

    kind = "index_corrupt"

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"{path}: {problem}",
            hint="`madeleine rebuild` makes it anew; nothing is lost",
            path=path,
            problem=problem,
        )


class IndexTooNew(Damaged):
    """The index was written by a newer release."""

    kind = "index_too_new"

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema {found}; this release knows {known}",
            hint="upgrade madeleine, or `madeleine rebuild` to make an index of this release",
            path=path,
            found=found,
            known=known,
        )


class DatabaseUnfit(Damaged):
    """The database lacks what the index needs, or was written by a newer release."""

    kind = "database_unfit"

    def __init__(self, place: str, problem: str, hint: str = "") -> None:
        super().__init__(
            f"{place} {problem}",
            hint or "upgrade the older of the two",
            place=place,
            problem=problem,
        )


class SettingsUnreadable(Damaged):
    """A settings file of a coding agent does not parse, or is not of the shape it must have."""

    kind = "settings_unreadable"

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(
            f"{path}:{line}: {problem}",
            hint="mend that line, then try again; nothing was changed",
            path=path,
            line=line,
            problem=problem,
        )
        self.path = path
        self.line = line
        self.problem = problem


ERROR_BASES: tuple[type[MadeleineError], ...] = (
    Rejected,
    Missing,
    Conflict,
    Unavailable,
    Damaged,
)
