"""The contract that `madeleine.testing.index_whispers` spells out, on every engine of ours."""

from madeleine.testing.index_whispers import *  # noqa: F403  # tests are found by their names
