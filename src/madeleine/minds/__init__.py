"""Models behind small Protocols. Heavy packages load only when a model is used."""
