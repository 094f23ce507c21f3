"""The hooks of the hosts: the host's own JSON in, the host's own JSON out.

A person waits while this runs, so the worst answer is silence (I5): what is malformed, machine-made
or a repetition gets none, and neither does what takes too long. What goes wrong is logged once for
each host and kind of problem, and counted in `status`. The deadline is the client's: it counts from
when the hook began to run, and the client says when it is. A whisper that misses it is left to
finish, and is noted as not given, so that its memories may be told later; one whose turn comes
after its deadline is not begun. What was sent counts as said once the client confirms that it
printed it, which is a request of its own (`delivery_receipts.py`).

`run/hook` is where the thin client (`hooks/whisper.py`) finds us.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from madeleine.api.answer_texts import render_session_whispers
from madeleine.api.call import OperationCall
from madeleine.api.contract.responses import BriefAnswer, DeedAnswer, WhisperAnswer
from madeleine.api.endpoint import Endpoint
from madeleine.api.home_paths import run_folder, socket_path
from madeleine.api.moment_operations import brief_session, speak_of_deed
from madeleine.api.performing import perform_for
from madeleine.api.reach import CallerReach
from madeleine.api.recall_operations import whisper_to_prompt
from madeleine.bootstrap import HomeContext
from madeleine.errors import MadeleineError, Unavailable
from madeleine.ingest.transcripts import IntakeStop, Transcript, ingest_transcript
from madeleine.language.deeds import is_file_tool, is_shell_tool
from madeleine.model.cause import HookProblem, MissingModel, WhisperSilence
from madeleine.model.codec import Json
from madeleine.model.people import Role
from madeleine.server.delivery_receipts import DeliveryReceipts, SentWhisper
from madeleine.server.guard import Scope, read_header
from madeleine.server.hook_hosts import (
    DEED_EVENTS,
    ENDING_EVENTS,
    PROMPT_EVENTS,
    SHORTENING_EVENTS,
    START_EVENTS,
    SUBAGENT_EVENTS,
    TURN_END_EVENTS,
    BadHook,
    HookCall,
    cut_to_context,
    fits_context,
    read_hook_call,
    read_start,
    render_reply,
    render_request,
    render_word,
)
from madeleine.server.keep_requests import KeepRequests
from madeleine.server.logs import render_traceback
from madeleine.server.prompt_history import PromptArrival, PromptHistory
from madeleine.server.sockets import write_private_file
from madeleine.whisper.brief import SessionStart
from madeleine.whisper.brief_text import render_statement
from madeleine.whisper.deed import is_guard
from madeleine.whisper.delivery import Loss, mark_undelivered
from madeleine.whisper.pausing import is_paused, read_pauses
from madeleine.whisper.prompts import find_machine_author, strip_host_text
from madeleine.whisper.rendering import NOTE
from madeleine.whisper.report import count_in_session
from madeleine.write.agent_writes import find_excluded
from madeleine.write.branches import find_working_space
from madeleine.write.find_space import find_space

INJECT_ROUTE = Endpoint(
    "hook_inject", "POST", "/hook/inject", "a host's prompt hook, in the host's JSON", Role.READER
)
STORE_ROUTE = Endpoint(
    "hook_store",
    "POST",
    "/hook/store",
    "take in what is new in a session's transcript",
    Role.WRITER,
)
DELIVERED_ROUTE = Endpoint(
    "hook_delivered",
    "POST",
    "/hook/delivered",
    "a hook has printed the whisper of this id",
    Role.READER,
)
UNDELIVERED_ROUTE = Endpoint(
    "hook_undelivered",
    "POST",
    "/hook/undelivered",
    "a hook could not print this whisper",
    Role.READER,
)
STATUSLINE_ROUTE = Endpoint(
    "hook_statusline",
    "POST",
    "/hook/statusline",
    "a line on what was whispered in a session, for a host's status line",
    Role.READER,
)
HOOK_ROUTES = (INJECT_ROUTE, STORE_ROUTE, STATUSLINE_ROUTE, DELIVERED_ROUTE, UNDELIVERED_ROUTE)

MAX_BODY_BYTES = 8_388_608  # the client sends half of that at most
HOOK_THREADS = 32  # apart from the requests'; most wait for a turn (`whisper.capacity`)
MAX_PROMPT_CHARS = 100_000  # of a prompt; what follows was pasted and asks nothing
MAX_CLOCK_DISTANCE_SECONDS = 60.0  # a deadline further away than that was told by another clock
MAX_PROBLEMS = 100  # different ones that are told; more would only fill the log
ASKED_CHARS = 240  # of a memory, for whoever is asked before a deed
REQUEST_MINUTES = 24 * 60  # an agent may work for long before its turn ends
NUDGE_TEXT = (
    f"{NOTE}: what was decided, learned or preferred in this session is kept for later sessions "
    "only where `remember` was used for it."
)

log = logging.getLogger("madeleine.hooks")


class HookTerms(NamedTuple):
    """Until when a client waits, by the monotonic clock that all processes of a machine share, and
    whether it confirms what it printed."""

    due: float
    confirms: bool = False


class HookReply(NamedTuple):
    """What the host is to read, nothing for silence; and the whisper in it, if there is one."""

    body: bytes = b""
    sent: SentWhisper | None = None


SILENT_REPLY = HookReply()


HookAct = Callable[[str, bytes, "HookTurn", CallerReach], HookReply]


class HookTurn:
    """One call that a host waits for until `due`: it is answered or given up, never both."""

    def __init__(self, due: float) -> None:
        self.due = due
        self._lock = threading.Lock()
        self._over = False

    @property
    def left(self) -> float:
        """The seconds that are left; less than none when it is too late."""
        return self.due - time.monotonic()

    def end(self) -> bool:
        """Whether it was for the caller to end it; of two who try, one is told so."""
        with self._lock:
            mine, self._over = not self._over, True
            return mine


class HookService:
    """The hooks of one daemon."""

    def __init__(self, context: HomeContext) -> None:
        self.context = context
        """That of who sits at the server."""
        self._config = context.settings.whisper
        self._turns = PromptHistory(self._config.dedupe_seconds)
        self._moments = PromptHistory(self._config.dedupe_seconds)
        """Starts of sessions: no prompts, and not counted as such."""
        self._requests = KeepRequests()
        self.receipts = DeliveryReceipts(self._count_outcome)
        """Whispers, of hooks or not, and whether anybody got them."""
        self._threads = ThreadPoolExecutor(HOOK_THREADS, thread_name_prefix="hook")
        self._storing = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._ending = threading.Event()
        self._counting = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._known_problems: set[tuple[str, str, str]] = set()
        self._waiting: set[str] = set()

    def close(self) -> None:
        """Finish what is under way and leave the rest: a transcript's cursor waits for it."""
        self._ending.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._storing.shutdown(wait=True, cancel_futures=True)
        self.receipts.close()

    def to_json(self) -> Json:
        """Return what hooks asked and got since the daemon began."""
        with self._counting:
            return {
                **dict(sorted(self._counts.items())),
                "problems": [
                    f"{words}: {problem}" for words, problem, _ in sorted(self._known_problems)
                ],
                "problem_kinds": [kind for _, _, kind in sorted(self._known_problems)],
            }

    def write_directions(self, address: Mapping[str, object]) -> None:
        """Write down for the clients how to reach us, and how to start us as we were started."""
        host, port = address.get("host"), address.get("wanted_port")
        home, server = self.context.home, self.context.settings.server
        command = [sys.executable, "-P", "-m", "madeleine.server", "--home", os.fspath(home)]
        command += ["--host", str(host)] if host not in (None, server.host) else []
        command += ["--port", str(port)] if port not in (None, server.port) else []
        command += ["--or-any-port"]  # a hook needs the socket only
        words = [str(self._config.deadline_ms), os.fspath(socket_path(home)), *command]
        write_private_file(run_folder(home) / "hook", "\0".join(words))

    # -- answering -------------------------------------------------------------------------

    def read_terms(self, scope: Scope) -> HookTerms:
        """Return until when a client waits. One that does not say so, or has another clock, waits
        from now on for as long as the settings say."""
        now, most = time.monotonic(), self._config.deadline_ms / 1000
        try:
            due = float(read_header(scope, b"madeleine-due"))
        except ValueError:
            due = math.inf
        if not abs(due - now) <= MAX_CLOCK_DISTANCE_SECONDS:
            due = now + most
        return HookTerms(min(due, now + most), bool(read_header(scope, b"madeleine-receipt")))

    async def resolve_in_time(self, finding: Awaitable[CallerReach], scope: Scope) -> CallerReach:
        """Resolve the caller within the time that a host waits; any error is silence to it."""
        try:
            left = self.read_terms(scope).due - time.monotonic()
            return await asyncio.wait_for(finding, max(left, 0.0))
        except TimeoutError as error:
            problem = "it could not be found out in time who asks"
            self._tell("any host", problem, Unavailable.kind)
            raise Unavailable(problem, hint="see whether the database answers") from error

    def confirm(self, query: Mapping[str, object], reach: CallerReach) -> None:
        """Take a client's word that it printed a whisper."""
        self.receipts.take(reach, str(query.get("whisper", "")))

    def disown(self, query: Mapping[str, object], reach: CallerReach) -> None:
        """Take a client's word that it could not print a whisper."""
        self.receipts.disown(reach, str(query.get("whisper", "")))

    async def answer(
        self,
        route: Endpoint,
        query: Mapping[str, object],
        body: bytes,
        reach: CallerReach,
        terms: HookTerms | None = None,
        is_gone: Callable[[], Awaitable[bool]] | None = None,
    ) -> HookReply:
        """Return what the host is to read, in time. `is_gone` says whether whoever asked has hung
        up: then nobody gets it."""
        terms = terms or HookTerms(time.monotonic() + self._config.deadline_ms / 1000)
        turn = HookTurn(terms.due)
        words = str(query.get("host") or "claude")
        act = self._find_act(route)
        asked = (words, body, turn, reach)
        work = asyncio.get_running_loop().run_in_executor(self._threads, act, *asked)
        done, _ = await asyncio.wait([work], timeout=max(turn.left, 0))
        if done or not turn.end():  # else it is answered just now, and only has to be rendered
            reply = await work
            await self._hand_over(reply, terms, is_gone)
            return reply
        work.add_done_callback(self._log_failure)
        self._count("late")
        self._tell(words, "a whisper missed its deadline", HookProblem.LATE_WHISPER)
        return SILENT_REPLY

    def _find_act(self, route: Endpoint) -> HookAct:
        if route is STATUSLINE_ROUTE:
            return self._tell_status
        return self._inject if route is INJECT_ROUTE else self._store_transcript

    async def _hand_over(
        self,
        reply: HookReply,
        terms: HookTerms,
        is_gone: Callable[[], Awaitable[bool]] | None,
    ) -> None:
        """See to it that it becomes known whether anybody gets the whisper in a reply."""
        if reply.sent is None:
            return
        gone = is_gone is not None and await is_gone()
        if terms.confirms and not gone:
            self.receipts.expect(reply.sent)
        else:
            await self.receipts.hand_over(reply.sent, gone)

    def _count_outcome(self, sent: SentWhisper, delivered: bool) -> None:
        """Count what became of a hook's whisper; one that nobody got may be asked for again."""
        if sent.arrival is None:
            return
        self._count("whispers" if delivered else "undelivered")
        if not delivered:
            self._turns.forget(sent.arrival)
            self._moments.forget(sent.arrival)
            self._forget_deeds(sent.arrival.session, sent.reach)
            self._tell(
                sent.arrival.entry, "a whisper was not delivered", HookProblem.UNDELIVERED_WHISPER
            )

    def _log_failure(self, work: asyncio.Future[HookReply] | Future[None]) -> None:
        """Nobody waits for this work any more; a bug in it must be seen all the same."""
        if not work.cancelled() and (error := work.exception()) is not None:
            self._count("failures")
            log.error("work that nobody waited for met a bug: %s", render_traceback(error))

    def _inject(self, words: str, body: bytes, turn: HookTurn, reach: CallerReach) -> HookReply:
        if turn.left <= 0:
            return SILENT_REPLY
        try:
            call = read_hook_call(words, body)
            if call.event in START_EVENTS or call.event in SUBAGENT_EVENTS:
                return self._brief(call, turn, reach)
            if call.event in DEED_EVENTS:
                return self._speak(call, turn, reach)
            if call.event in SHORTENING_EVENTS:
                self._note_shortened(call, reach)
                return SILENT_REPLY
            if call.event in TURN_END_EVENTS:
                return self._request_keeping(call, turn, reach)
            prompt = self._find_typed_prompt(call)
            return SILENT_REPLY if prompt is None else self._whisper(call, prompt, turn, reach)
        except BadHook as bad:
            self._tell(words, bad.message, bad.kind)
        except MadeleineError as error:
            self._tell(words, f"no whisper: {type(error).__name__}", error.kind)
        return SILENT_REPLY

    def _find_typed_prompt(self, call: HookCall) -> str | None:
        """Return what a person typed; nothing where no person did."""
        if call.event is not None and call.event not in PROMPT_EVENTS:
            raise BadHook(f"is about `{call.event[:50]}`, at which nothing is said")
        if call.prompt is None:
            raise BadHook("has no `prompt`")
        prompt = call.prompt[:MAX_PROMPT_CHARS]
        if call.skip or find_machine_author(prompt):
            self._count("machine_made")
            return None
        return strip_host_text(prompt) or None

    def _whisper(
        self, call: HookCall, prompt: str, turn: HookTurn, reach: CallerReach
    ) -> HookReply:
        arrival = _build_arrival(call, prompt, reach)
        self.receipts.settle_overdue(arrival, turn.left)
        number = self._turns.arrive(arrival, time.monotonic())
        if number is None:
            self._count("repeated")
            return SILENT_REPLY
        self._count("prompts")
        if _is_due(number, self._config.out_interval):
            self._store_later(call, reach)
        answer = self._ask_pipeline(call, prompt, turn, reach)
        self._count_effort(answer)
        if not turn.end():
            return self._give_up(answer.whisper_id, arrival, turn, reach)
        text = self._cut_if_too_long(call, answer.text)
        rendered = render_reply(call, self._with_nudge(text, number))
        if not answer.injected:
            self._count("whispers" if text else "silent")
            return HookReply(rendered)
        return HookReply(rendered, SentWhisper(answer.whisper_id, reach, arrival, turn.due))

    def _count_effort(self, answer: WhisperAnswer) -> None:
        """Count a prompt that came among too many."""
        if answer.without_model is MissingModel.BUSY:
            self._count("by_words")
        if answer.silence_parts is not None and (
            answer.silence_parts["kind"] == WhisperSilence.TOO_BUSY
        ):
            self._count("turned_away")

    def _give_up(
        self, whisper_id: str, arrival: PromptArrival, turn: HookTurn, reach: CallerReach
    ) -> HookReply:
        """Note that an answer came too late; nobody got it, and it may be asked for again."""
        log.info("a whisper came %d ms after its deadline", -turn.left * 1000)
        context = reach.context
        context.stores.executor.wait()  # its log is written behind the answer
        mark_undelivered(context.stores, context.whisperer.sessions, whisper_id, Loss.LATE)
        self._turns.forget(arrival)
        return SILENT_REPLY

    def _brief(self, call: HookCall, turn: HookTurn, reach: CallerReach) -> HookReply:
        """Answer the start of a session, or of a sub-agent."""
        about = f"[{read_start(call)} {call.agent_id} of {call.host.agent}]"
        arrival = _build_arrival(call, about, reach)
        if self._moments.arrive(arrival, time.monotonic()) is None:
            self._count("repeated")
            return SILENT_REPLY
        answer = self._ask_for_brief(call, turn, reach)
        if not turn.end():
            self._moments.forget(arrival)
            return self._give_up(answer.brief_id, arrival, turn, reach)
        self._count("briefs" if answer.text else "silent")
        rendered = render_reply(call, self._cut_if_too_long(call, answer.text))
        if not answer.items:
            return HookReply(rendered)
        return HookReply(rendered, SentWhisper(answer.brief_id, reach, arrival, turn.due))

    def _speak(self, call: HookCall, turn: HookTurn, reach: CallerReach) -> HookReply:
        """Answer a deed: what an agent is about to do, or what of it failed."""
        if call.tool is None or not (is_file_tool(call.tool) or is_shell_tool(call.tool)):
            return SILENT_REPLY  # a host without matchers tells of reading too
        self._count("deeds")
        answer = self._ask_for_word(call, turn, reach)
        if not answer.text:
            return SILENT_REPLY
        arrival = _build_arrival(call, f"[{call.event} {answer.whisper_id}]", reach)
        if not turn.end():
            self._forget_deeds(call.conversation, reach)
            return self._give_up(answer.whisper_id, arrival, turn, reach)
        rendered = render_word(call, self._cut_if_too_long(call, answer.text), _word_asked(answer))
        return HookReply(rendered, SentWhisper(answer.whisper_id, reach, arrival, turn.due))

    def _ask_for_word(self, call: HookCall, turn: HookTurn, reach: CallerReach) -> DeedAnswer:
        given = {
            "tool": call.tool,
            "input": dict(call.given),
            "error": call.error or ("it failed" if call.event == "PostToolUseFailure" else None),
            "space": find_working_space(reach.context.stores, call.folder, reach.is_local),
            "cwd": call.folder,
            "session_id": call.conversation,
        }
        asked = OperationCall(
            body={name: each for name, each in given.items() if each},
            by=f"agent:{call.host.agent}",
            due=turn.due,
            awaits_receipt=True,
        )
        return perform_for(reach, speak_of_deed, asked)

    def _note_shortened(self, call: HookCall, reach: CallerReach) -> None:
        """Forget what was told: the host shortens what its agent has before it."""
        if call.session:
            reach.context.whisperer.sessions.shortened(call.session)
            self._forget_deeds(call.session, reach)

    def _forget_deeds(self, conversation: str | None, reach: CallerReach) -> None:
        if conversation is not None:
            reach.context.whisperer.deeds.forget(conversation)

    def _ask_for_brief(self, call: HookCall, turn: HookTurn, reach: CallerReach) -> BriefAnswer:
        start = read_start(call)
        task = None
        if start is SessionStart.SUBAGENT:
            task = self._find_task(call, reach)
        given = {
            "space": find_working_space(reach.context.stores, call.folder, reach.is_local),
            "cwd": call.folder,
            "session_id": call.conversation,
            "start": start.value,
            "task": task,
        }
        asked = OperationCall(
            query={name: each for name, each in given.items() if each},
            by=f"agent:{call.host.agent}",
            due=turn.due,
            awaits_receipt=True,
        )
        return perform_for(reach, brief_session, asked)

    def _find_task(self, call: HookCall, reach: CallerReach) -> str | None:
        """Return what a sub-agent is to do: hosts mostly say only of which kind it is, and what
        the person typed last is what it works for."""
        context = reach.context
        recent = context.whisperer.sessions.recent(
            call.session, context.stores.clock.now(), self._config.session_gap_minutes
        )
        typed = recent.prompts[-1].text if recent.prompts else None
        return "\n".join(each for each in (call.task, typed) if each) or None

    def _ask_pipeline(
        self, call: HookCall, prompt: str, turn: HookTurn, reach: CallerReach
    ) -> WhisperAnswer:
        """Return what the pipeline whispers: the one place where hooks meet it."""
        space = find_working_space(reach.context.stores, call.folder, reach.is_local)
        given = {"session_id": call.session, "cwd": call.folder, "space": space}
        body = {"prompt": prompt, **{name: each for name, each in given.items() if each}}
        asked = OperationCall(
            body=body, by=f"agent:{call.host.agent}", due=turn.due, awaits_receipt=True
        )
        return perform_for(reach, whisper_to_prompt, asked)

    def _cut_if_too_long(self, call: HookCall, text: str) -> str:
        if fits_context(text):
            return text
        self._tell(
            call.entry, "a whisper was longer than hosts take, and was cut", HookProblem.CUT_WHISPER
        )
        return cut_to_context(text)

    def _with_nudge(self, text: str, number: int) -> str:
        if not _is_due(number, self._config.nudge_interval):
            return text
        both = f"{text}\n\n{NUDGE_TEXT}" if text else NUDGE_TEXT
        return both if fits_context(both) else text

    def _tell_status(
        self, words: str, body: bytes, turn: HookTurn, reach: CallerReach
    ) -> HookReply:
        """Return what was whispered in a session, on one line."""
        try:
            call = read_hook_call(words, body)
        except BadHook as bad:
            self._tell(words, bad.message, bad.kind)
            return SILENT_REPLY
        if call.session is None or not turn.end():
            return SILENT_REPLY
        found = count_in_session(reach.context.stores, call.session)
        return HookReply(render_session_whispers(found).encode())

    # -- storing ---------------------------------------------------------------------------

    def _store_transcript(
        self, words: str, body: bytes, turn: HookTurn, reach: CallerReach
    ) -> HookReply:
        try:
            call = read_hook_call(words, body)
            if call.event in SHORTENING_EVENTS:
                self._note_shortened(call, reach)
            if call.transcript is None:
                raise BadHook("has no `transcript_path`")
        except BadHook as bad:
            self._tell(words, bad.message, bad.kind)
        except MadeleineError as error:
            self._tell(words, f"nothing was stored: {type(error).__name__}", error.kind)
        else:
            self._store_later(call, reach)
            if call.event in TURN_END_EVENTS:
                return self._request_keeping(call, turn, reach)
        return SILENT_REPLY

    def _request_keeping(self, call: HookCall, turn: HookTurn, reach: CallerReach) -> HookReply:
        """Ask an agent to keep what is worth it before its turn is over, where that is wanted."""
        context, session = reach.context, call.session
        if context.settings.ingest.extractor != "agent" or session is None or call.agent_id:
            return SILENT_REPLY
        if find_excluded(context.stores.config.exclude, folder=call.folder) is not None:
            return SILENT_REPLY
        if call.is_continued or is_paused(read_pauses(context.stores, session)):
            return SILENT_REPLY
        typed = context.whisperer.sessions.recent(
            session, context.stores.clock.now(), REQUEST_MINUTES
        )
        number = self._turns.count(_name_session(session, reach))
        text = self._requests.find_request(
            _name_session(session, reach), number, [each.text for each in typed.prompts]
        )
        rendered = render_request(call, text)
        if not rendered or not turn.end():
            return SILENT_REPLY
        self._count("keep_requests")
        return HookReply(rendered)

    def _store_later(self, call: HookCall, reach: CallerReach) -> None:
        """Take in a transcript in the background; one that waits already is not queued twice.
        A path that comes from elsewhere means nothing here, and must not be looked at."""
        path = call.transcript
        if path is None or call.skip or "/subagents/" in path or not reach.is_local:
            return
        with self._counting:
            if path in self._waiting or self._ending.is_set():
                return
            self._waiting.add(path)
        self._storing.submit(self._take_in, call, path).add_done_callback(self._log_failure)

    def _take_in(self, call: HookCall, path: str) -> None:
        with self._counting:
            self._waiting.discard(path)
        space = find_space(self.context.stores, call.folder).space
        ended = call.event in ENDING_EVENTS
        transcript = Transcript(Path(path), call.host.agent, call.session, space, ended)
        try:
            done = ingest_transcript(
                self.context.intake, transcript, lambda: not self._ending.is_set()
            )
        except MadeleineError as error:
            problem = f"a transcript was not taken in: {error.message}"
            self._tell(call.entry, problem, error.kind)
            return
        self._count("stores")
        self._count("kept", len(done.kept))
        kind = done.stopped_kind
        if kind not in (None, IntakeStop.ELSEWHERE) and not self._ending.is_set():
            self._tell(call.entry, f"a transcript waits: {done.stopped}", str(kind))

    # -- telling ---------------------------------------------------------------------------

    def _count(self, what: str, times: int = 1) -> None:
        with self._counting:
            self._counts[what] += times

    def _tell(self, words: str, problem: str, kind: str) -> None:
        """Log a problem once: a hook that is wired wrongly meets it with every prompt."""
        with self._counting:
            self._counts["failures"] += 1
            if (words, problem, kind) in self._known_problems or len(
                self._known_problems
            ) >= MAX_PROBLEMS:
                return
            self._known_problems.add((words, problem, kind))
        log.warning("hook of %s: %s", words[:50], problem)


def _word_asked(answer: DeedAnswer) -> str | None:
    """Return what a person reads who is asked before a deed; nothing if nobody is."""
    if not answer.asks:
        return None
    guards = (each.memory for each in answer.injected if is_guard(each.memory))
    said = (f"{render_statement(each, ASKED_CHARS)} (id: {each.short_id})" for each in guards)
    return f"Madeleine: {'; '.join(said)}"


def _build_arrival(call: HookCall, prompt: str, reach: CallerReach) -> PromptArrival:
    """Return a prompt as it arrives. Those of two people are never repetitions."""
    who = _name_caller(reach)
    conversation = call.conversation
    session = _name_session(conversation, reach) if conversation else who or None
    folder = None if call.folder is None else f"{who}{call.folder}"
    return PromptArrival(prompt, session, folder, call.entry, call.host.once_a_turn)


def _name_caller(reach: CallerReach) -> str:
    return "" if reach.caller is None else f"{reach.caller.person} "


def _name_session(session: str, reach: CallerReach) -> str:
    return f"{_name_caller(reach)}{session}"


def _is_due(number: int, interval: int) -> bool:
    return interval > 0 and number % interval == 0
