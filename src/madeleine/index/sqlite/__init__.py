"""The embedded index: SQLite for rows, words and edges, one numpy matrix for meaning.

schema       the tables, as append-only scripts
files        the index's files on disk: modes, setting aside, swapping
connection   one writer, many readers, and SQLite's errors in our words
filters      a `Filter` as SQL
nodes        memories as rows and back
text         words: how FTS5 is asked, and how common they are
vectors      vectors in the file, and searching the matrix
graph        edges, stored and implied
events       the journal's events and all that follows from them
usage        counters folded from uses
ports        search, graph and log over these
index        the engine: writing, rebuilding, closing

What is no SQL stands in `index/common`, for all engines.
"""

from madeleine.index.sqlite.files import set_aside, swap_index
from madeleine.index.sqlite.index import SqliteIndex

__all__ = ["SqliteIndex", "set_aside", "swap_index"]
