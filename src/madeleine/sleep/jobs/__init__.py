"""The jobs, one module each: a class with a name, a plan, and what to note when it is done."""
