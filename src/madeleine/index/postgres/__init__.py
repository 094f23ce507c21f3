"""The index in PostgreSQL with pgvector: the same port for many machines.

filters      a `Filter` as SQL
nodes        memories as rows and back
words        postings, bm25, stems
passages     what is kept of each passage
vector_search  vectors: graph walks and exact comparison
pool         the candidates of a question in one statement
graph        edges, stored and implied
events       the journal's events and all that follows from them
ports        search, graph and log over these
index        the engine: writing, rebuilding, closing

Connections, tables and tenants are in the room `database`. What is no SQL, such as how a text is
cut into words and which rows follow from an event, is the same for all engines and stands in
`index/common`.
"""

from madeleine.index.postgres.index import PostgresIndex

__all__ = ["PostgresIndex"]
