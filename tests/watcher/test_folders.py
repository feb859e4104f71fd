"""What names mean: hostile ones, links, folders that are not partitions."""

import os
from pathlib import Path

import pytest

from tests.watcher.landing import NORTH, Landing


@pytest.fixture
def landing(tmp_path: Path) -> Landing:
    return Landing(tmp_path)


@pytest.mark.parametrize(
    "folder",
    [
        "day=2026-03-09",
        "day=2026-03-09/region=west",
        "day=2025-12-31/region=north",
        "day=..%2F..%2Fetc/region=north",
        "day=2026-03-09%0A/region=north",
        "day=2026-03-09/day=2026-03-09",
        "2026-03-09/north",
        "week=2026-03-09/region=north",
        "day=2026-03-09/region=north/deeper=1",
    ],
)
def test_folders_that_are_not_partitions_are_noted_or_unseen(landing: Landing, folder: str) -> None:
    landing.land("a.parquet", folder=folder)

    assert landing.settled() == ()
    assert landing.events() == []


def test_the_order_of_folders_does_not_matter_and_a_second_folder_of_a_key_is_noted(landing: Landing) -> None:
    landing.land("a.parquet", folder="region=north/day=2026-03-09")
    assert landing.settled() == (NORTH,)
    landing.land("a.parquet")

    landing.settled()
    assert landing.events() == [(NORTH, 5)] or "a second folder" in landing.said[-1]
    assert "a second folder" in landing.said[-1]


def test_links_are_not_followed(landing: Landing, tmp_path: Path) -> None:
    outside = tmp_path / "outside" / "region=north"
    outside.mkdir(parents=True)
    (outside / "secret.parquet").write_text("x")
    (landing.root / "day=2026-03-09").symlink_to(tmp_path / "outside")
    inside = landing.root / "day=2026-03-08" / "region=north"
    inside.mkdir(parents=True)
    (inside / "a.parquet").symlink_to(outside / "secret.parquet")
    (inside / "circle").symlink_to(landing.root)

    assert landing.settled() == ()
    assert len([each for each in landing.said if "is a link" in each]) == 3


@pytest.mark.parametrize(
    "name", [b"a\nb.parquet", b"\xff.parquet", "ä%2F..parquet".encode(), b"$(id).parquet"]
)
def test_names_are_data(landing: Landing, name: bytes) -> None:
    folder = landing.root / "day=2026-03-09" / "region=north"
    folder.mkdir(parents=True)
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("1PAR1")

    assert landing.settled() == (NORTH,)
    landing.restarted()
    assert landing.settled() == ()
    assert landing.events() == [(NORTH, 5)]


def test_other_things_than_files_are_not_seen(landing: Landing) -> None:
    folder = landing.root / "day=2026-03-09" / "region=north"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.parquet")

    assert landing.settled() == ()


def test_a_folder_that_may_not_be_read_fails_the_look(
    landing: Landing, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, scan = landing.land("a.parquet").parent, os.scandir

    def refusing(folder: str) -> object:
        # Root, as which tests may run, reads every folder.
        if folder == str(closed):
            raise PermissionError(13, "Permission denied")
        return scan(folder)

    monkeypatch.setattr(os, "scandir", refusing)

    assert landing.settled() == ()
    assert "cannot be listed" in landing.said[-1]
