"""AutoMem as a system of Everyday, where one is running.

AutoMem is a server over FalkorDB and Qdrant that somebody has started; it is named by `--address`
or `AUTOMEM_API_URL`, its token by `AUTOMEM_API_TOKEN`. A store is written under a tag of its own,
every question is asked within that tag, and what was written is deleted by it afterwards, so what
else the server holds is neither found nor changed.

AutoMem does not whisper: its agents recall. As for the simple systems, the best three that score
high enough are taken for a whisper, and the threshold is fitted on the stores for training.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from _everyday_http import HttpDoor, NoAnswer, NotMeasurable, Query, Refused
from _everyday_set import EverydayMemory, EverydayStore
from _everyday_systems import MOST_RECALLED, MOST_WHISPERED, Asked, ScoredId, Whispered

ADDRESS = "http://127.0.0.1:8001"
LOOKED_AT = 30  # for a whisper: those of other spaces fall away
VECTOR_SECONDS = 300.0  # it makes vectors after it has answered
TYPES = {"decision": "Decision", "preference": "Preference"}
"""Types of ours that are types of its own; it classifies the others itself."""


@dataclass(frozen=True, slots=True)
class AutoMemSystem:
    """An AutoMem that runs somewhere."""

    door: HttpDoor
    threshold: float | None = None
    """The score from which on a memory is whispered; none until it was fitted."""

    @contextmanager
    def opened(self, store: EverydayStore) -> Iterator[Asked]:
        tag = f"everyday-{store.name}"
        self._ask("DELETE", "/memory/by-tag", query={"tags": tag})  # of a run that was cut off
        try:
            yield AutoMemAsked(self, tag, self._remember(store, tag), _spaces(store))
        finally:
            self._ask("DELETE", "/memory/by-tag", query={"tags": tag})

    def recall(self, text: str, tag: str, limit: int) -> list[ScoredId]:
        """Return what it finds within a tag, best first, by its own ids."""
        query: Query = {"query": text, "limit": limit, "tags": tag, "tag_match": "exact"}
        found = self._ask("GET", "/recall", query=query)["results"]
        return [ScoredId(str(each["id"]), float(each["final_score"])) for each in found]

    def _remember(self, store: EverydayStore, tag: str) -> dict[str, str]:
        """Write the memories of a store; return the set's ids by its own, once all have vectors."""
        vectors = self._vectors()
        drafts = [_draft(each, tag) for each in store.memories]
        written = self._ask("POST", "/memory/batch", {"memories": drafts})["memory_ids"]
        deadline = time.monotonic() + VECTOR_SECONDS
        while (made := self._vectors() - vectors) < len(drafts):
            if time.monotonic() > deadline:
                raise NotMeasurable(
                    f"AutoMem made {made} vectors of {len(drafts)} within {VECTOR_SECONDS:.0f} s: "
                    "look at its log, and whether its embedding provider works"
                )
            time.sleep(0.1)
        return {str(key): memory.id for key, memory in zip(written, store.memories, strict=True)}

    def _vectors(self) -> int:
        health = self._ask("GET", "/health")
        if health["qdrant"] != "connected" or health["vector_count"] is None:
            raise NotMeasurable(
                f"AutoMem at {self.door.address} runs without Qdrant, so it has no vectors: "
                "start Qdrant beside it"
            )
        return int(health["vector_count"])

    def _ask(
        self, method: str, path: str, body: object = None, query: Query | None = None
    ) -> dict[str, Any]:
        try:
            return self.door.ask(method, path, body, query)
        except NoAnswer as error:
            raise NotMeasurable(
                f"AutoMem does not answer ({error}): start it (`docker compose up` in its "
                "checkout), or name where it is by --address or AUTOMEM_API_URL"
            ) from error
        except Refused as error:
            if error.status != 401:
                raise
            raise NotMeasurable(
                f"AutoMem at {self.door.address} wants a token: set AUTOMEM_API_TOKEN"
            ) from error


@dataclass(frozen=True, slots=True)
class AutoMemAsked:
    """An AutoMem that holds one store under a tag."""

    system: AutoMemSystem
    tag: str
    names: Mapping[str, str]
    spaces: Mapping[str, str | None]

    def whisper(self, text: str, space: str | None, session: Sequence[str] = ()) -> Whispered:
        least = float("-inf") if self.system.threshold is None else self.system.threshold
        near = [
            each
            for each in self._found(text, LOOKED_AT)
            if each.score >= least and (space is None or self.spaces.get(each.id) in (None, space))
        ]
        return Whispered(tuple(near[:MOST_WHISPERED]))

    def act(self, tool: str, target: str, space: str | None) -> Whispered:
        return self.whisper(f"{tool}: {target}", space)

    def recall(self, text: str, space: str | None) -> list[ScoredId]:
        return self._found(text, MOST_RECALLED)

    def _found(self, text: str, limit: int) -> list[ScoredId]:
        found = self.system.recall(text, self.tag, limit)
        return [ScoredId(self.names.get(each.id, each.id), each.score) for each in found]


def find_automem(environment: Mapping[str, str], address: str | None) -> AutoMemSystem:
    """Return the AutoMem at an address, or where the environment says."""
    token = environment.get("AUTOMEM_API_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return AutoMemSystem(
        HttpDoor(address or environment.get("AUTOMEM_API_URL") or ADDRESS, headers)
    )


def _draft(memory: EverydayMemory, tag: str) -> dict[str, object]:
    own = [*memory.tags, *([memory.space] if memory.space else [])]
    known = TYPES.get(memory.type)
    return {
        "content": memory.content,
        "timestamp": memory.created,
        "tags": [tag, *own],
        **({"type": known} if known else {}),
    }


def _spaces(store: EverydayStore) -> dict[str, str | None]:
    return {each.id: each.space for each in store.memories}
