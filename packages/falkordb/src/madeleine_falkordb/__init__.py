"""The index in FalkorDB: memories, arrows, words and vectors as one graph.

encoding     how values travel
connection   questions, whose turn it is to write, and FalkorDB's errors in our words
schema       what stands in the graph, and its head
statement    a write as one query
writing      what one write needs
filters      a `Filter` as Cypher
nodes        memories as nodes and back
words        words that memories hold, bm25
passages     passages, conversations, speakers
vectors      vectors by their numbers, in the graph or apart from it
vector_search  searching by meaning
pool         the candidates of a question
graph        arrows, stored and implied
events       the journal's events and all that follows from them
usage        how memories were used
standing     what the jobs go by
gathering    who takes part in what consolidation finds
whispers     what was whispered
ports        search, graph and log over these
index        the engine: writing, rebuilding, closing
engine       how it is found and opened
vector_store  what an engine for vectors alone must do
qdrant       such an engine

What needs no server, such as how a text is cut into words and which rows follow from an event,
is the same for all engines and stands in `madeleine.index.common`.
"""

from madeleine_falkordb.engine import FalkorEngine
from madeleine_falkordb.index import FalkorIndex

ENGINE = FalkorEngine()
"""What the entry points of the package name."""

__all__ = ["ENGINE", "FalkorEngine", "FalkorIndex"]
