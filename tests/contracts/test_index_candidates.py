"""The contract that `madeleine.testing.index_candidates` spells out, on every engine of ours."""

from madeleine.testing.index_candidates import *  # noqa: F403  # tests are found by their names
