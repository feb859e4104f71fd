"""`tidegate watch`: what one look sees; nothing is reported by it."""

import pytest

from tests.tidegate.project import Project


@pytest.fixture
def watched(deployed: Project) -> Project:
    """The project, whose orders are watched."""
    deployed.edit("path: landing/orders}", "path: landing/orders, watch: {settle: 5m}}")
    deployed.run("deploy")
    return deployed


def land(project: Project, name: str, day: str = "2026-03-09") -> None:
    file = project.folder / "landing/orders" / f"day={day}" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("123")


def test_without_a_watched_dataset(deployed: Project) -> None:
    assert deployed.run("watch") == "no deployed dataset has `watch`\n"


def test_it_says_what_is_new_what_that_waits_for_and_what_is_left_out(watched: Project) -> None:
    land(watched, "a.parquet")
    land(watched, "b.parquet", "2026-03-10")
    land(watched, "c.parquet.tmp", "2026-03-10")
    land(watched, "a.parquet", "2025-03-10")

    (seen,) = watched.json("watch", "orders")
    assert (seen["dataset"], seen["folder"]) == ("sales/orders", str(watched.folder / "landing/orders"))
    assert seen["new"] == [
        {"key": "2026-03-09", "files": 1, "bytes": 3, "waits_for": "5m without a change"},
        {"key": "2026-03-10", "files": 1, "bytes": 3, "waits_for": "'c.parquet.tmp' is being written"},
    ]
    assert len(seen["notes"]) == 1 and "day=2025-03-10" in seen["notes"][0]
    printed = watched.run("watch")
    assert "0 partitions are known, 2 have something new" in printed
    assert "5m without a change" in printed
    assert "left out: " in printed
    assert watched.json("events", "list") == []


def test_a_folder_that_is_away_fails_with_a_remedy(watched: Project) -> None:
    printed = watched.run("watch", exit_code=1)

    assert f"cannot be looked at: there is no folder {watched.folder}/landing/orders" in printed
    assert "create it" in printed


def test_an_unknown_dataset_is_refused(watched: Project) -> None:
    assert watched.refused("watch", "order").hint == "watched datasets here: sales/orders"
