"""Run by the Python that has Ormah: writes and reads memories with Ormah's own code.

`write FOLDER` takes a JSON list of nodes from stdin, saves each into FOLDER/nodes, soft-deletes
those with `delete`, and prints their ids. `read FOLDER` prints what Ormah reads there, by id.
"""

import json
import sys
from pathlib import Path

from ormah.models.node import MemoryNode
from ormah.store.file_store import FileStore


def write(store: FileStore) -> list[str]:
    ids = []
    for values in json.load(sys.stdin):
        deleted = values.pop("delete", False)
        node = MemoryNode.model_validate(values)
        store.save(node)
        if deleted:
            store.soft_delete(node.id)
        ids.append(node.id)
    return ids


def read(store: FileStore) -> dict[str, dict[str, object]]:
    return {node.id: node.model_dump(mode="json") for node in store.list_all()}


verb, folder = sys.argv[1:]
found = {"write": write, "read": read}[verb](FileStore(Path(folder) / "nodes"))
sys.stdout.write(json.dumps(found))
