"""By which rules an index was filled from texts; one that was filled by others is filled anew.

Words and triggers are derived when a memory is written, and stand in the index. So an index says
whose rules they are: it is emptied when these are others, and the start after that fills it.
"""

from __future__ import annotations

from madeleine.language.triggers import TRIGGER_RULES
from madeleine.language.word_stems import ANALYSER

INDEX_RULES = f"{ANALYSER}.{TRIGGER_RULES}"
