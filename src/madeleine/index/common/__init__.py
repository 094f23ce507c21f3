"""What the engines of the index share: no SQL, no Cypher, nothing of one database.

times        moments as whole microseconds
rows         memories as rows and back
passages     stems, traits and traces of passages
text         what is indexed for words, in all scripts
stems        words as stems, cut by FTS5's tokenizers
spelling     what a misspelt word may mean
postings     words and bm25, for engines that have none of their own
matrix       vectors in memory: consistent snapshots while a writer appends
neighbours   who is near whom, compared exactly
pools        from candidates to a pool
passage_cache  passages known by number and version
ranking      the order in which the graph is drawn
edges        edges as values
events       the rows that follow from the journal's events
gathering_filters  who takes part in consolidation
port_methods  functions that ask over a connection, as methods of a port
"""
