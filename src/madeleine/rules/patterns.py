"""Which summary belongs to which cluster, from one run to the next.

A cluster is what its members are; a summary is the same one as long as it sums up mostly the
same memories. So of all pairs of a cluster and a summary that share more than half of the
smaller one, those belong together that share most.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

DIGEST_BYTES = 16


def belonging(found: Sequence[Collection[str]], known: Sequence[Collection[str]]) -> dict[int, int]:
    """Return for clusters, by their places, the summaries that belong to them."""
    holders: dict[str, list[int]] = defaultdict(list)
    for at, members in enumerate(known):
        for each in members:
            holders[each].append(at)
    shared = Counter(
        (place, at) for place, each in enumerate(found) for one in each for at in holders[one]
    )
    same: dict[int, int] = {}
    taken: set[int] = set()
    for (place, at), count in sorted(shared.items(), key=lambda each: (-each[1], each[0])):
        enough = 2 * count > min(len(found[place]), len(known[at]))
        if enough and place not in same and at not in taken:
            same[place] = at
            taken.add(at)
    return same


def members_digest(members: Iterable[tuple[str, bytes]]) -> str:
    """Return a hash of who the members are and what each says, in whatever order they come."""
    whole = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for memory_id, said in sorted(members):
        whole.update(memory_id.encode())
        whole.update(said)
    return whole.hexdigest()
