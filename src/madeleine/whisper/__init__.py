"""The unasked recall: a few memories before the agent answers, and silence otherwise."""
