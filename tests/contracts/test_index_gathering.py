"""The contract that `madeleine.testing.index_gathering` spells out, on every engine of ours."""

from madeleine.testing.index_gathering import *  # noqa: F403  # tests are found by their names
