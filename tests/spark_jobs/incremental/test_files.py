"""New files among those that are landed: which are read, and what is remembered of them."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spark_jobs.staging import DAILY
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.increment import IncrementalRead
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.parquet import new_rows as incremental_files
from tidegate.spark_jobs.parquet.new_rows import NewFiles, check_unchanged, new_files
from tidegate.spark_jobs.programs.params import Params

D22, D23 = "2013-12-22", "2013-12-23"
LANDED = DatasetRef(app="test", name="landed", scheme=DAILY, path="landing/landed")


class Feed:
    """A folder in which files are landed, and a program that reads what is new of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "landing" / "landed"
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.positions: dict[str, str] = {}

    def land(self, key: str, name: str, content: str = "x", modified: int = 1_000) -> Path:
        file = self.root / f"day={key}" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        os.utime(file, (modified, modified))
        return file

    def asked(self, *keys: str, ref: DatasetRef = LANDED, reported: tuple[str, ...] = ()) -> IncrementalRead:
        return IncrementalRead(
            consumer="test/load",
            ref=ref,
            warehouse=self.warehouse,
            params=Params(),
            positions=self.positions,
            selects=lambda key: not keys or key in keys,
            reported=reported,
        )

    def read(self, *keys: str) -> list[str]:
        """Reads what is new and commits it. Gives the names of the files, with the day before them."""
        new = new_files(self.asked(*keys))
        self.positions |= new.positions
        return names(new)


def names(new: NewFiles) -> list[str]:
    return sorted("/".join(path.split("/")[-2:]).removeprefix("day=") for path in new.paths)


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    return Feed(tmp_path)


def test_a_file_is_read_once(feed: Feed) -> None:
    feed.land(D22, "a.parquet")
    assert feed.read() == [f"{D22}/a.parquet"]
    feed.land(D22, "b.parquet")
    feed.land(D23, "a.parquet")
    assert feed.read() == [f"{D22}/b.parquet", f"{D23}/a.parquet"]
    assert feed.read() == []


def test_a_reported_partition_needs_files_until_it_has_been_read(feed: Feed) -> None:
    with pytest.raises(SourceError, match=f"partition {D22} was reported, but there are no files in .*{D22}"):
        new_files(feed.asked(D22, reported=(D22,)))
    allowing = msgspec.structs.replace(LANDED, allow_empty=True)
    assert new_files(feed.asked(D22, reported=(D22,), ref=allowing)).paths == {}
    file = feed.land(D22, "a.parquet")
    feed.read()
    file.unlink()
    assert new_files(feed.asked(D22, reported=(D22,))).paths == {}


def test_a_late_file_with_an_older_date_is_read(feed: Feed) -> None:
    feed.land(D22, "a.parquet", modified=2_000)
    feed.read()
    feed.land(D22, "late.parquet", modified=1_000)
    assert feed.read() == [f"{D22}/late.parquet"]


@pytest.mark.parametrize(
    ("content", "modified"), [("xx", 1_000), ("y", 1_001)], ids=["another size", "another time"]
)
def test_a_file_that_is_landed_anew_is_new(feed: Feed, content: str, modified: int) -> None:
    feed.land(D22, "a.parquet")
    feed.read()
    feed.land(D22, "a.parquet", content, modified)
    assert feed.read() == [f"{D22}/a.parquet"]
    assert feed.read() == []


def test_only_the_partitions_of_the_run_are_read_and_each_has_its_own_watermark(feed: Feed) -> None:
    feed.land(D22, "a.parquet")
    feed.land(D23, "a.parquet")
    assert feed.read(D22) == [f"{D22}/a.parquet"]
    assert list(feed.positions) == [D22]
    assert feed.read() == [f"{D23}/a.parquet"]


@pytest.mark.parametrize("name", [".a.parquet", "_a.parquet", "_SUCCESS"])
def test_what_is_being_landed_is_not_seen(feed: Feed, name: str) -> None:
    feed.land(D22, "whole.parquet")
    feed.land(D22, name)
    assert feed.read() == [f"{D22}/whole.parquet"]


def test_a_file_that_was_removed_is_no_error_and_is_known_when_it_comes_back(feed: Feed) -> None:
    file = feed.land(D22, "a.parquet")
    feed.land(D22, "b.parquet")
    feed.read()
    file.unlink()
    feed.land(D22, "c.parquet")
    assert feed.read() == [f"{D22}/c.parquet"]
    feed.land(D22, "a.parquet")
    assert feed.read() == []


def test_of_the_removed_files_the_newest_are_remembered(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental_files, "REMEMBERED_GONE", 1)
    for name, modified in (("old.parquet", 1_000), ("new.parquet", 2_000)):
        feed.land(D22, name, modified=modified)
    feed.read()
    for file in feed.root.rglob("*.parquet"):
        file.unlink()
    feed.land(D22, "other.parquet", modified=3_000)
    feed.read()
    feed.land(D22, "old.parquet", modified=1_000)
    feed.land(D22, "new.parquet", modified=2_000)
    assert feed.read() == [f"{D22}/old.parquet"]


def test_a_partition_with_too_many_files_is_refused(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental_files, "MAX_FILES", 1)
    feed.land(D22, "a.parquet")
    feed.land(D22, "b.parquet")
    with pytest.raises(SourceError, match="has 2 files in its partition 2013-12-22") as caught:
        feed.read()
    assert "move files away once they have been read" in caught.value.hint


def test_a_name_that_cannot_be_written_down_is_told(feed: Feed) -> None:
    feed.land(D22, os.fsdecode(b"caf\xe9.parquet"))
    with pytest.raises(SourceError, match="a file whose name is not UTF-8"):
        feed.read()


def test_a_file_that_changes_while_it_is_read_stops_the_publish(feed: Feed) -> None:
    feed.land(D22, "a.parquet")
    asked = feed.asked()
    new = new_files(asked)
    check_unchanged(asked, new)
    feed.land(D22, "b.parquet")
    check_unchanged(asked, new)

    feed.land(D22, "a.parquet", modified=1_001)

    with pytest.raises(
        SourceError, match=r"was landed again while it was read: .*/a.parquet; nothing was published"
    ):
        check_unchanged(asked, new)


def test_a_file_that_vanishes_during_the_read_has_changed(feed: Feed) -> None:
    file = feed.land(D22, "a.parquet")
    asked = feed.asked()
    new = new_files(asked)
    file.unlink()
    with pytest.raises(
        SourceError, match=r"lost files while it was read: .*/a.parquet; nothing was published"
    ):
        check_unchanged(asked, new)


def test_a_watermark_of_another_kind_is_told(feed: Feed) -> None:
    feed.land(D22, "a.parquet")
    feed.positions[D22] = '{"snapshot": 7}'
    with pytest.raises(
        SourceError, match="the watermark of test/load in test/landed, part 2013-12-22"
    ) as caught:
        feed.read()
    assert "tidegate watermarks reset test/load test/landed --part '2013-12-22' --to ''" in caught.value.hint


def test_what_a_program_publishes_is_not_landed(feed: Feed) -> None:
    with pytest.raises(SourceError, match="test/made is published by a program"):
        new_files(feed.asked(ref=DatasetRef(app="test", name="made")))


Landing = tuple[str, str, int]
LANDINGS = st.lists(
    st.tuples(st.sampled_from([D22, D23]), st.sampled_from("abc"), st.integers(1, 3)), max_size=12
)


@pytest.mark.endurance
@given(landings=LANDINGS, cuts=st.sets(st.integers(0, 12)), repeats=st.sets(st.integers(0, 12)))
def test_however_landings_are_cut_each_state_of_a_file_that_is_met_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, landings: list[Landing], cuts: set[int], repeats: set[int]
) -> None:
    feed = Feed(tmp_path_factory.mktemp("feed"))
    read: list[tuple[str, str]] = []
    met: list[tuple[str, str]] = []
    now: dict[str, int] = {}
    seen: Mapping[str, int] = {}
    for number, (key, name, modified) in enumerate([*landings, (D22, "z", 9)]):
        feed.land(key, name, modified=modified)
        now[f"{key}/{name}"] = modified
        if number in cuts:
            if number in repeats:
                new_files(feed.asked())  # a run that died before its commit
            read += [(file, str(now[file])) for file in feed.read()]
            met += [(file, str(stamp)) for file, stamp in now.items() if seen.get(file) != stamp]
            seen = dict(now)
    assert sorted(read) == sorted(met)
