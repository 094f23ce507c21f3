"""The soak: many operations by several clients against a real daemon that is killed again
and again. `run` leads it, `client` does the operations, `model` says what must be there, and
`checks` looks after every restart whether it is.
"""
