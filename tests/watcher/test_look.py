"""What a look makes of a folder: complete partitions become events, each state of their files once."""

import shutil
from pathlib import Path

import pytest

from tests.watcher.landing import NORTH, SOUTH, Landing
from tidegate.domain.model import PartitionScheme
from tidegate.domain.nearest_key import read_key
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS
from tidegate.watcher import partitions

SOUTHERN = "day=2026-03-09/region=south"


@pytest.fixture
def landing(tmp_path: Path) -> Landing:
    return Landing(tmp_path)


def test_files_that_stay_as_they_are_become_an_event_of_their_partition(landing: Landing) -> None:
    landing.land("a.parquet", "12345")
    landing.land("b.parquet", "4567")
    landing.land("a.parquet", "1234", SOUTHERN)

    assert landing.after() == ()
    assert landing.after(9) == ()
    assert landing.after(1) == (NORTH, SOUTH)
    assert landing.after() == ()
    assert landing.events() == [(NORTH, 9), (SOUTH, 4)]
    with landing.store.reading() as reader:
        assert [job.key for job in reader.jobs()] == ["2026-03-09"]
        assert {event.detail for event in reader.events()} == {"reported by watch"}
        assert [entry.data["by"] for entry in reader.journal() if "dataset" in entry.data] == ["watch"]


def test_a_growing_file_waits_until_it_grows_no_more(landing: Landing) -> None:
    for length in range(1, 6):
        landing.land("a.parquet", "x" * length)
        assert landing.after() == ()

    assert landing.after() == (NORTH,)
    assert landing.events() == [(NORTH, 5)]


def test_a_file_of_the_same_size_that_is_written_again_waits_too(landing: Landing) -> None:
    landing.land("a.parquet", "12345")
    landing.after()
    landing.land("a.parquet", "45678")

    assert landing.after() == ()
    assert landing.after() == (NORTH,)


def test_one_look_never_suffices_however_late_it_is(landing: Landing) -> None:
    landing.land("a.parquet")

    assert landing.after(3600) == ()
    assert landing.after(0) == ()
    assert landing.after(10) == (NORTH,)


def test_late_files_are_another_event_of_all_that_the_partition_has(landing: Landing) -> None:
    landing.land("a.parquet", "12345")
    landing.settled()
    landing.land("b.parquet", "4567")

    assert landing.settled() == (NORTH,)
    assert landing.events() == [(NORTH, 5), (NORTH, 9)]


def test_without_partitions_an_event_has_the_size_of_what_is_new(tmp_path: Path) -> None:
    landing = Landing(tmp_path, dataset="shop/flags")
    landing.land("a.parquet", "12345", ".")
    assert landing.settled() == ("",)
    landing.land("b.parquet", "4567", ".")
    landing.land("a.parquet", "6789", ".")

    assert landing.settled() == ("",)
    assert landing.events() == [("", 5), ("", 8)]


def test_files_that_go_are_no_event_and_none_when_they_come_back(landing: Landing, tmp_path: Path) -> None:
    landing.land("a.parquet")
    landing.land("b.parquet")
    landing.settled()
    shutil.move(landing.root, tmp_path / "away")
    landing.root.mkdir()
    assert landing.settled() == ()
    landing.root.rmdir()
    shutil.move(tmp_path / "away", landing.root)
    assert landing.settled() == ()

    (landing.root / "day=2026-03-09/region=north/a.parquet").unlink()

    assert landing.settled() == ()
    assert landing.events() == [(NORTH, 10)]


def test_a_restarted_watcher_reports_only_what_is_new(landing: Landing) -> None:
    landing.land("a.parquet")
    landing.settled()
    landing.land("a.parquet", folder=SOUTHERN)
    landing.after()
    landing.restarted()

    assert landing.after() == ()
    assert landing.after() == (SOUTH,)
    assert landing.events() == [(NORTH, 5), (SOUTH, 5)]


def test_two_watchers_at_once_make_one_event(landing: Landing) -> None:
    landing.land("a.parquet")
    one, other = landing.look, landing.restarted()
    for _ in range(2):
        landing.clock.let_pass(10)
        one.run(landing.store)
        other.run(landing.store)

    assert landing.events() == [(NORTH, 5)]


def test_what_is_there_at_first_is_ignored_where_the_yaml_says_so(tmp_path: Path) -> None:
    landing = Landing(tmp_path, watch="{existing: ignore}")
    landing.land("a.parquet")
    assert landing.settled() == ()
    landing.land("a.parquet", folder=SOUTHERN)

    assert landing.settled() == (SOUTH,)
    landing.restarted()
    assert landing.settled() == ()


def test_a_failed_first_look_does_not_count_as_the_first(tmp_path: Path) -> None:
    landing = Landing(tmp_path, watch="{existing: ignore}")
    landing.root.rmdir()
    landing.settled()
    landing.land("a.parquet")

    assert landing.settled() == ()
    assert landing.events() == []


def test_a_marker_says_that_a_partition_is_complete_each_time_it_is_written(tmp_path: Path) -> None:
    landing = Landing(tmp_path, watch="{marker: _SUCCESS}")
    landing.land("a.parquet", "12345")
    assert landing.settled() == ()
    landing.land("_SUCCESS", "")
    assert landing.after() == (NORTH,)
    landing.land("b.parquet", "4567")
    assert landing.settled() == ()
    landing.land("_SUCCESS", "")

    assert landing.after(0) == (NORTH,)
    assert landing.after() == ()
    assert landing.events() == [(NORTH, 5), (NORTH, 9)]


def test_a_file_that_is_being_written_holds_its_partition_back(landing: Landing) -> None:
    landing.land("a.parquet")
    landing.land("b.parquet.tmp", folder="day=2026-03-09/region=north")
    empty = landing.land("c.parquet", "", SOUTHERN)
    assert landing.settled() == ()
    (landing.root / "day=2026-03-09/region=north/b.parquet.tmp").rename(
        landing.root / "day=2026-03-09/region=north/b.parquet"
    )
    empty.write_text("PAR1")

    assert landing.settled() == (NORTH, SOUTH)
    landing.land("d.parquet.tmp")
    assert landing.settled() == ()


def test_hidden_files_and_folders_do_not_count(landing: Landing) -> None:
    for name in (".a.parquet", "_a.parquet", "_temporary/0/a.parquet", ".a.parquet.crc"):
        landing.land(name)
    landing.land("a.parquet", folder="_temporary/day=2026-03-09/region=north")

    assert landing.settled() == ()


def test_a_problem_is_noted_with_its_cause_until_it_is_gone(landing: Landing) -> None:
    landing.root.rmdir()
    landing.after()
    landing.after()

    with landing.store.reading() as reader:
        (folder,) = reader.records(WATCHED_FOLDERS, project="")
    assert folder.problem == f"there is no folder {landing.root}"
    assert "path" in folder.remedy
    assert folder.problem_since is not None
    assert landing.said == [f"watch of shop/orders: {folder.problem}"]

    landing.root.mkdir()
    landing.restarted().run(landing.store)
    with landing.store.reading() as reader:
        (folder,) = reader.records(WATCHED_FOLDERS, project="")
    assert (folder.problem, folder.remedy, folder.problem_since) == ("", "", None)


def test_another_path_begins_from_nothing_and_a_change_between_list_and_report_reports_nothing(
    landing: Landing,
) -> None:
    landing.land("a.parquet")
    landing.after()
    landing.deploy("{marker: _SUCCESS}")

    assert landing.after() == ()
    landing.deploy()
    assert landing.after() == (NORTH,)


def test_too_many_files_are_refused_with_a_remedy(landing: Landing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.watcher.partitions.FILES_PER_PARTITION_MAX", 2)
    monkeypatch.setattr("tidegate.watcher.look.FILES_PER_PARTITION_MAX", 2)
    for name in "abc":
        landing.land(f"{name}.parquet")
    landing.land("a.parquet", folder=SOUTHERN)

    assert landing.settled() == ()
    assert "more than 2 files" in landing.said[-1]
    assert landing.events() == [(SOUTH, 5)]

    monkeypatch.setattr("tidegate.watcher.look.FILES_MAX", 3)
    landing.after()
    assert "more than 200,000 files" in landing.said[-1]


def test_a_dataset_that_is_watched_otherwise_by_now_is_neither_begun_nor_noted(landing: Landing) -> None:
    landing.deploy("{marker: _SUCCESS}")
    landing.land("a.parquet")

    assert landing.settled() == ()
    shutil.rmtree(landing.root)
    assert landing.settled() == ()

    with landing.store.reading() as reader:
        assert reader.records(WATCHED_FOLDERS, project="") == ()
    assert landing.events() == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "b.parquet",
            "PAR1 and no end",
            "or was cut: it does not end with PAR1 (partition 2026-03-09|south)",
        ),
        ("b.csv", "a,b", "its dataset has files that end with .parquet (partition 2026-03-09|south)"),
    ],
)
def test_a_file_that_spark_cannot_read_holds_its_partition_back(
    landing: Landing, name: str, content: str, said: str
) -> None:
    landing.land("a.parquet")
    bad = landing.land(name, content, SOUTHERN, whole=False)

    landing.settled()

    assert [key for key, _ in landing.events()] == [NORTH]
    assert f"{SOUTHERN}/{name}' is not a Parquet file" in landing.said[-1]
    assert said in landing.said[-1]
    bad.unlink()
    landing.land("b.parquet", folder=SOUTHERN)
    assert landing.settled() == (SOUTH,)


def test_a_look_reads_the_keys_of_new_folders_only(landing: Landing, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def read_and_count(scheme: PartitionScheme, values: dict[str, str]) -> object:
        read.append("|".join(values.values()))
        return read_key(scheme, values)

    monkeypatch.setattr(partitions, "read_key", read_and_count)
    for folder in ("day=2026-03-09/region=north", SOUTHERN):
        landing.land("a.parquet", "1", folder)
    landing.after()
    assert sorted(read) == [NORTH, SOUTH]

    landing.land("b.parquet", "1", "day=2026-03-08/region=north")
    landing.land("b.parquet", "1", "day=2026-03-08/region=west")
    shutil.rmtree(landing.root / SOUTHERN)
    read.clear()
    landing.after()
    assert sorted(read) == ["2026-03-08|north", "2026-03-08|west"]

    landing.land("a.parquet", "1", SOUTHERN)
    read.clear()
    assert landing.after() == ("2026-03-08|north",)
    # What is in no partition is noted by each look.
    assert sorted(read) == ["2026-03-08|west", SOUTH]
