"""Whether a prompt can want anything, by the weights of the model that has read it."""

from __future__ import annotations

import numpy as np

from madeleine.whisper.memory_need import estimate_need, shipped_need_heads


def test_each_of_our_models_has_weights_of_its_own() -> None:
    heads = shipped_need_heads()

    assert len(heads) == 2
    for model, head in heads.items():
        wanted = head.vector / np.linalg.norm(head.vector)
        assert estimate_need("where is it?", wanted, model) > estimate_need(
            "where is it?", -wanted, model
        )


def test_nothing_is_said_for_any_other_model() -> None:
    vector = np.ones(384, np.float32) / 384**0.5

    assert estimate_need("where is it?", vector, "a model of somebody else") == 0
    assert estimate_need("where is it?", None, next(iter(shipped_need_heads()))) == 0
