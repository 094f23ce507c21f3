"""Lets pip install a clone whose other packages no index has.

`pyproject.toml` names the packages of `packages/` by version, and so does every wheel and sdist
that is built to be handed on. While pip installs this tree (`pip install .`, `pip install -e .`)
it finds them by their paths instead. uv does the same by `[tool.uv.sources]`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

# pip sets it while it builds what it installs; hatchling recognises pip by it as well.
# `python -m build` and other builders do not set it.
PIP_INSTALLS = "PIP_BUILD_TRACKER"


def find_packages(root: Path) -> dict[str, str]:
    """Return the packages of a clone: the URL of each one's folder, by the package's name.

    A folder's name has no hyphen: pip takes `name-version` for an archive, keeps the wheel it
    once built of it, and would install that old one after every later pull.
    """
    return {
        tomllib.loads(project.read_text(encoding="utf-8"))["project"]["name"]: (
            project.parent.resolve().as_uri()
        )
        for project in root.glob("packages/*/pyproject.toml")
    }


def name_by_path(requirements: Iterable[str], packages: Mapping[str, str]) -> list[str]:
    """Return the requirements, with the URL instead of a version for those in `packages`."""
    named = []
    for requirement in map(Requirement, requirements):
        if requirement.name in packages:
            requirement.specifier = SpecifierSet()
            requirement.url = packages[requirement.name]
        named.append(str(requirement))
    return named


class ClonedPackages(MetadataHookInterface):
    """Rewrites the requirements while pip installs a clone, and at no other time."""

    def update(self, metadata: dict[str, Any]) -> None:
        if PIP_INSTALLS not in os.environ:  # noqa: TID251  # not the program
            return
        packages = find_packages(Path(self.root))
        metadata["dependencies"] = name_by_path(metadata["dependencies"], packages)
        for extra, requirements in metadata["optional-dependencies"].items():
            metadata["optional-dependencies"][extra] = name_by_path(requirements, packages)
