"""Who takes part in what consolidation finds by itself, in terms of filters."""

from __future__ import annotations

from madeleine.model.query import Filter
from madeleine.model.words import Tier

DRAW_FACTOR = 4  # looked up for each that is wanted, at first; more, when most of them fall through
CURRENT_FILTER = Filter()
OFFERED_FILTER = Filter(tiers=tuple(tier for tier in Tier if tier is not Tier.ARCHIVAL))
