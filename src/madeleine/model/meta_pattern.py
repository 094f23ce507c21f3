"""The summary of a cluster, documented as a MetaMemory: what stands about it beside its text.

It is a memory like others, so these figures stand where a memory says where it comes from: as
the `uri` of its origin. They travel with the file, come back with a rebuild and show in JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode

from madeleine.model.memory import Memory
from madeleine.model.times import format_time
from madeleine.model.words import META_SOURCE, MemoryType

META_PATTERN_LABEL = "MetaPattern"
_SCHEME = f"cluster:{META_PATTERN_LABEL}?"


@dataclass(frozen=True, slots=True)
class MetaPattern:
    """What a summary is of."""

    dominant_type: str
    """The most common type of its members."""
    cluster_size: int
    temporal_span_days: float
    """From the oldest member to the newest."""
    members: str
    """A hash of who they are and what they say: while it is the same, nothing is to be done."""
    text: str
    """A hash of the summary as it was written: when it is another, a person has edited it."""
    rest: str = ""
    """The same of all else that a person may set on it: where it stands, its tags and whom it
    names. Nothing in summaries of earlier releases."""

    @property
    def uri(self) -> str:
        values = {
            "dominant_type": self.dominant_type,
            "cluster_size": self.cluster_size,
            "temporal_span_days": self.temporal_span_days,
            "members": self.members,
            "text": self.text,
            "rest": self.rest,
        }
        return _SCHEME + urlencode(values)


def read_meta_pattern(memory: Memory) -> MetaPattern | None:
    """Return what a memory is a summary of; nothing if it is none, or says nothing about it."""
    uri = memory.origin.uri if memory.origin else None
    if memory.source != META_SOURCE or uri is None or not uri.startswith(_SCHEME):
        return None
    values = {key: each[0] for key, each in parse_qs(uri.removeprefix(_SCHEME)).items()}
    try:
        return MetaPattern(
            MemoryType(values["dominant_type"]).value,
            int(values["cluster_size"]),
            float(values["temporal_span_days"]),
            values["members"],
            values["text"],
            values.get("rest", ""),
        )
    except (KeyError, ValueError):
        return None


def meta_pattern_to_json(memory: Memory) -> dict[str, object] | None:
    """Return the documented properties of a MetaMemory; nothing for any other memory."""
    pattern = read_meta_pattern(memory)
    if pattern is None:
        return None
    return {
        "label": META_PATTERN_LABEL,
        "dominant_type": pattern.dominant_type,
        "cluster_size": pattern.cluster_size,
        "temporal_span_days": pattern.temporal_span_days,
        "created_at": format_time(memory.created),
    }
