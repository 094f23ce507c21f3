"""What a host's hook runs while an agent waits: the standard library's C level, nothing else.

`whisper.py` is a program of its own, run by its path; it knows nothing of the package around it.
"""
