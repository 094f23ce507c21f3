"""The four tasks of the consolidation engine."""
