"""The contract that `madeleine.testing.index_map` spells out, on every engine of ours."""

from madeleine.testing.index_map import *  # noqa: F403  # tests are found by their names
