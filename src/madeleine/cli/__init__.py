"""The command `madeleine`: words in, words out. Nothing else prints.

`main.py` finds the command and turns failures into exit codes, `command_table.py` lists the
commands, `commands/` holds one module for each. A command's module is loaded only when it is run,
so that `madeleine --help` and a hook that calls a small command start at once.
"""
