"""Moving out: memories as JSON lines, as a zip of their files, or as an Obsidian vault.

Pages of memories come from `pages.read_page`, in the order of their ids, and are written as they
come: no export holds the whole store. The same memories give the same bytes every time.
"""
