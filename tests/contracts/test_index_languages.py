"""The contract that `madeleine.testing.index_languages` spells out, on every engine of ours."""

from madeleine.testing.index_languages import *  # noqa: F403  # tests are found by their names
