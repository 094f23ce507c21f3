"""The contract that `madeleine.testing.index_port` spells out, on every engine of ours."""

from madeleine.testing.index_port import *  # noqa: F403  # tests are found by their names
