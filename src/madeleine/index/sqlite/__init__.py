"""The embedded index: SQLite for rows, words and edges, one numpy matrix for meaning.

schema       the tables, as append-only scripts
files        the index's files on disk: modes, setting aside, swapping
connection   one writer, many readers, and SQLite's errors in our words
filters      a `Filter` as SQL
nodes        memories as rows and back
text         words, and what stands in for words in scripts without spaces
matrix       vectors in memory: consistent snapshots while a writer appends
vectors      vectors in the file, and searching the matrix
graph        edges, stored and implied
events       the journal's events and all that follows from them
usage        counters folded from uses
index        the port's face over these
"""

from madeleine.index.sqlite.files import set_aside, swap
from madeleine.index.sqlite.index import SqliteIndex

__all__ = ["SqliteIndex", "set_aside", "swap"]
