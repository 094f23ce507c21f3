"""The verbs that change memories: the only writers of the vault.

Every change goes one way (`commit`): journal first, files next, index last. Nothing is locked
while a model is being waited for (I6): vectors are made before the lock is taken.
"""
