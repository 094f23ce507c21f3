"""Procedures that were used and worked, as Agent Skills."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from madeleine.ingest.exporting.skills import (
    AgentSkill,
    SkillState,
    compare_skill,
    find_skills,
    write_skill,
)
from madeleine.model.memory import Memory
from madeleine.model.revision import Revision
from madeleine.model.words import MemoryType
from madeleine.whisper.learning import give_feedback
from madeleine.write.revise import retire, revise
from madeleine.write.stores import Stores
from tests.fakes import keep

RELEASE = "Bump the version in version.py, then tag it. Push the tag last."


def procedure(stores: Stores, text: str = RELEASE, signals: str = "+", **fields: object) -> Memory:
    """Keep a procedure of which somebody said so often that it helped (+) or not (-)."""
    memory = keep(stores, text, type=MemoryType.PROCEDURE, **fields)
    for each in signals:
        give_feedback(stores, memory.id, 1 if each == "+" else -1, "explicit", None)
    return memory


def names(stores: Stores, least: int = 1) -> list[str]:
    return [each.name for each in find_skills(stores, least)]


def front_matter(skill: AgentSkill) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load(skill.text.split("---\n")[1])
    return found


def fields_of(skill: AgentSkill) -> dict[str, object]:
    return {"name": skill.name, "text": skill.text}


def test_only_what_worked_more_often_than_not_is_a_skill(stores: Stores) -> None:
    procedure(stores, "Worked twice", "++-", title="Worked twice")
    procedure(stores, "Worked once", "+", title="Worked once")
    procedure(stores, "Never used", "", title="Never used")
    procedure(stores, "Worked as often as not", "+-", title="As often as not")
    gone = procedure(stores, "Is no longer true", "++", title="Gone")
    retire(stores, gone.id)
    fact = keep(stores, "Just a fact")
    give_feedback(stores, fact.id, 1, "explicit", None)

    assert names(stores) == ["worked-twice", "worked-once"]
    assert names(stores, least=2) == ["worked-twice"]


def test_a_skill_says_what_it_does_when_it_is_of_use_and_where_it_comes_from(
    stores: Stores,
) -> None:
    title = "Release: a new “version” of Émile"
    memory = procedure(stores, title=title, triggers=("git tag", "changelog"), space="atlas")

    [skill] = find_skills(stores)

    head = front_matter(skill)
    assert skill.name == head["name"] == "release-a-new-version-of-emile"
    assert head["description"] == (
        f"{title}. Bump the version in version.py, then tag it. In the project atlas. "
        "Use it for: git tag, changelog."
    )
    assert dict(head["metadata"])["madeleine-memory"] == memory.id  # type: ignore[call-overload]
    assert skill.text.endswith(f"---\n\n# {title}\n\n{RELEASE}\n")


@pytest.mark.parametrize("title", ["x" * 290, "部署する", "...", "--- yaml: {a: [b", "a\u2028b"])
def test_names_and_descriptions_are_what_the_format_takes(stores: Stores, title: str) -> None:
    procedure(stores, f"{title}. " + "and so on " * 400, title=title)

    [skill] = find_skills(stores)

    head = front_matter(skill)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(head["name"]))
    assert len(str(head["name"])) <= 64
    assert 0 < len(str(head["description"])) <= 1_024
    assert "\n" not in str(head["description"])


def test_two_of_one_title_have_names_of_their_own(stores: Stores) -> None:
    procedure(stores, "One way", title="Deploy")
    other = procedure(stores, "Another way", title="Deploy")

    assert names(stores) == ["deploy", f"deploy-{other.short_id}"]


def test_no_secret_becomes_an_instruction(stores: Stores) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    procedure(stores, f"Log in with {token} and deploy.", title="Deploy")

    assert token not in find_skills(stores)[0].text


def test_a_skill_is_written_and_found_again(stores: Stores, tmp_path: Path) -> None:
    memory = procedure(stores, title="Release")
    [skill] = find_skills(stores)
    assert compare_skill(tmp_path, fields_of(skill)) is SkillState.NEW

    path = write_skill(tmp_path, fields_of(skill))

    assert path == tmp_path / "release" / "SKILL.md"
    assert list(path.parent.iterdir()) == [path]
    assert compare_skill(tmp_path, fields_of(skill)) is SkillState.UNCHANGED
    revise(stores, memory.id, Revision({"content": "Push the tag first."}))
    [changed] = find_skills(stores)
    assert compare_skill(tmp_path, fields_of(changed)) is SkillState.CHANGED


def test_what_somebody_edited_or_wrote_is_left_alone(stores: Stores, tmp_path: Path) -> None:
    memory = procedure(stores, title="Release")
    [skill] = find_skills(stores)
    path = write_skill(tmp_path, fields_of(skill))
    path.write_text(f"{skill.text}\nAnd drink tea.\n", encoding="utf-8")
    assert compare_skill(tmp_path, fields_of(skill)) is SkillState.EDITED
    revise(stores, memory.id, Revision({"content": "Push the tag first."}))
    [changed] = find_skills(stores)
    assert compare_skill(tmp_path, fields_of(changed)) is SkillState.EDITED

    path.write_text("---\nname: release\n---\nMine.\n", encoding="utf-8")
    assert compare_skill(tmp_path, fields_of(skill)) is SkillState.FOREIGN
    path.unlink()
    assert compare_skill(tmp_path, fields_of(skill)) is SkillState.FOREIGN
