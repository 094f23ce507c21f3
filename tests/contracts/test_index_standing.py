"""The contract that `madeleine.testing.index_standing` spells out, on every engine of ours."""

from madeleine.testing.index_standing import *  # noqa: F403  # tests are found by their names
