"""How the weights of recall are learned: from invented and permissively licensed stores only.

`python -m bench.training.train_recall` makes the stores, asks the product itself for the features
of every question, fits the weights and writes them to a file. The same seed gives the same file.
"""
