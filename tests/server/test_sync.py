"""The daemon meets other machines by itself."""

from __future__ import annotations

from pathlib import Path

from tests.server.running import eventually, running


def test_daemons_that_share_a_place_come_to_hold_the_same(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    homes = [tmp_path / "one", tmp_path / "other"]
    for home in homes:
        home.mkdir()
        table = f'[sync]\nplace = "{place}"\nevery = 1\n'
        (home / "config.toml").write_text(table, encoding="utf-8")

    with running(homes[0]) as one:
        kept = one.remember("The kettle is in the cellar")
        eventually(lambda: one.ok("GET", "/admin/status")["sync"]["last"], 20)
        one.ok("POST", "/admin/machines", {})
    with running(homes[1]) as other:
        eventually(lambda: other.ask("GET", f"/agent/recall/{kept}").status == 200, 20)
        loops = other.ok("GET", "/admin/status")["daemon"]["loops"]

    assert any(each["name"] == "sync" and not each["problem"] for each in loops)
