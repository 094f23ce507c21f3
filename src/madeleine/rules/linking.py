"""Which neighbours a new memory is linked to."""

from __future__ import annotations


def link_strength(similarity: float, same_space: bool, penalty: float) -> float:
    """Return the similarity that counts for linking: less across spaces, never below 0."""
    return max(0.0, similarity if same_space else similarity - penalty)
