"""Several machines of one person hold the same memories; decision 49."""
