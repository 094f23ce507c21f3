"""What an agent is about to do, read from what hosts say about their tools."""

from __future__ import annotations

from typing import Any

import pytest

from madeleine.language.deeds import read_deed, read_named_deed

PATHS: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("Edit", {"file_path": "/w/atlas/legacy/pay.py", "new_string": "x = 1"}, ("legacy/pay.py",)),
    ("Write", {"file_path": "/w/atlas/src/a.gen.ts", "content": "x"}, ("src/a.gen.ts",)),
    ("MultiEdit", {"file_path": "/w/atlas/a.py", "edits": [{"new_string": "y"}]}, ("a.py",)),
    ("NotebookEdit", {"notebook_path": "/w/atlas/nb/x.ipynb", "new_source": "1"}, ("nb/x.ipynb",)),
    ("write_file", {"file_path": "/w/atlas/docs/a.md", "content": "x"}, ("docs/a.md",)),
    ("replace", {"file_path": "./docs/a.md", "new_string": "x"}, ("docs/a.md",)),
    ("apply_patch", {"input": "*** Begin Patch\n*** Update File: lib/a.rs\n@@"}, ("lib/a.rs",)),
    ("apply_patch", {"command": "*** Begin Patch\n*** Add File: b/c.go\n+x"}, ("b/c.go",)),
    ("Edit", {"file_path": "/elsewhere/etc/hosts", "new_string": "x"}, ("elsewhere/etc/hosts",)),
    ("Bash", {"command": "rm -rf build/artifacts && cp a/b.txt /tmp/c.txt"},
     ("build/artifacts", "a/b.txt", "tmp/c.txt")),
    ("run_shell_command", {"command": "cat config/prod.yaml"}, ("config/prod.yaml",)),
    ("shell", {"command": ["bash", "-lc", "sed -i s/a/b/ legacy/x.py"]},
     ("s/a/b", "legacy/x.py")),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given", "paths"), PATHS)
def test_paths_are_told_from_the_folder_on(
    tool: str, given: dict[str, Any], paths: tuple[str, ...]
) -> None:
    assert read_deed(tool, given, "/w/atlas").paths == paths


COMMANDS = [
    ("terraform apply -auto-approve", [("terraform", "apply", "-auto-approve")]),
    ("sudo systemctl restart nginx", [("systemctl", "restart", "nginx")]),
    ("FOO=1 BAR=2 uv run pytest", [("uv", "run", "pytest")]),
    ("cd /w && git push --force", [("cd", "/w"), ("git", "push", "--force")]),
    ("/usr/local/bin/kubectl get pods", [("kubectl", "get", "pods")]),
    ("cat a | grep b; ls", [("cat", "a"), ("grep", "b"), ("ls",)]),
    ("make", [("make",)]),
    ("", []),
]


@pytest.mark.parametrize(("line", "commands"), COMMANDS)
def test_a_line_is_cut_into_its_commands(line: str, commands: list[tuple[str, ...]]) -> None:
    assert list(read_named_deed("Bash", line).commands) == commands


LOOKS = [
    "git log --oneline -15",
    "git status",
    "ls -la legacy",
    "kubectl -n stg get pods -l app=x",
    "terraform -chdir=terraform/stg plan",
    "heroku releases -a shop -n 5",
    "grep -rn plan32 docs/ | head",
    "docker ps",
    "clang-format --version",
    "vault kv get -field=url kv/stg/x",
    "npm ls",
]
CHANGES = [
    "git push origin main",
    "terraform apply",
    "kubectl delete pod x",
    "rm -rf x",
    "grep x y > z",
    "sed -i s/a/b/ x",
    "ruff check --fix",
    "git log && git commit -m x",
    "npm install left-pad",
    "heroku run rails db:migrate",
    "psql -c 'drop table x'",
]


@pytest.mark.parametrize("line", LOOKS)
def test_what_only_looks_is_known(line: str) -> None:
    assert read_named_deed("Bash", line).only_looks


@pytest.mark.parametrize("line", CHANGES)
def test_what_changes_something_does_not_only_look(line: str) -> None:
    assert not read_named_deed("Bash", line).only_looks


def test_environments_and_kinds_of_work_are_read_in_commands_and_paths() -> None:
    assert read_named_deed("Bash", "terraform -chdir=tf/prd apply").environments == {"production"}
    assert read_named_deed("Edit", "deploy/staging/a.yaml").environments == {"staging"}
    assert "commit" in read_named_deed("Bash", "git commit -m x").activities
    assert "email" in read_named_deed("send_email", "to: ana@example.org").activities
    assert "migrate" in read_named_deed("Edit", "db/migrate/1_add.rb").activities


@pytest.mark.parametrize("given", [{}, {"file_path": 7}, {"command": None}, {"edits": "no"}])
def test_a_tool_that_is_given_nonsense_is_a_deed_about_nothing(given: dict[str, Any]) -> None:
    deed = read_deed("Edit", given, "/w")

    assert (deed.paths, deed.commands) == ((), ())
