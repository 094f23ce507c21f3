"""One module per command.

Each has `add_arguments(parser)` and `run(arguments, door, say) -> int`, and its docstring's
first line is what `--help` says about it at length. They call operations by name through the
door and put the answer into words; they decide nothing.
"""
