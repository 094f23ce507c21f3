"""The contract that `madeleine.testing.index_insights` spells out, on every engine of ours."""

from madeleine.testing.index_insights import *  # noqa: F403  # tests are found by their names
