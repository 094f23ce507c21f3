"""The asked recall: a query in, ranked memories out, each with its reasons."""
