"""Networks that are trained with PyTorch: `pip install torch==2.13.0` beside the dev extra.

Nothing of the product imports this. What ships is weights, each with a card.
"""
