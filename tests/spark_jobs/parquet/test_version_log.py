"""What each write mode makes of a table, and whose rows stay when runs overtake each other."""

import msgspec
import pytest

from tidegate.domain.model import WriteMode
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.version_log import TableVersion

COLUMNS = '{"fields":[{"metadata":{},"name":"a","nullable":true,"type":"integer"}],"type":"struct"}'


def entry(name: str, token: int, rows: int = 1) -> PartitionEntry:
    """One folder of a commit; one of no rows has none."""
    path = f"data/{name}" if rows else None
    return PartitionEntry(
        path=path, commit=name, token=token, rows=rows, bytes=rows * 10, files=int(rows > 0)
    )


def after(*publishes: tuple[WriteMode, int, dict[str, int]]) -> TableVersion:
    """The table after some publishes: write mode, token, and the rows of each partition."""
    version = TableVersion()
    for number, (mode, token, rows) in enumerate(publishes, start=1):
        entries = {key: entry(f"c{number}", token, count) for key, count in rows.items()}
        version = version.with_commit(
            commit=f"c{number}", schema=COLUMNS, token=token, partitions=entries, mode=mode
        )
    return version


def folders(version: TableVersion) -> dict[str, list[str]]:
    """The commits whose folders make up each partition that has rows."""
    found = {key: [f.removeprefix("data/") for f in e.folders] for key, e in version.partitions.items()}
    return {key: names for key, names in found.items() if names}


ADD, REPLACE, FULL = "append", "overwrite_partitions", "full"


@pytest.mark.parametrize(
    ("publishes", "expected"),
    [
        ([(ADD, 1, {"x": 1}), (ADD, 2, {"x": 1, "y": 1})], {"x": ["c1", "c2"], "y": ["c2"]}),
        ([(ADD, 1, {"x": 1}), (ADD, 2, {"x": 0, "y": 0})], {"x": ["c1"]}),
        ([(ADD, 2, {"x": 1}), (ADD, 1, {"x": 1})], {"x": ["c1", "c2"]}),
        ([(ADD, 1, {"x": 0}), (ADD, 2, {"x": 1})], {"x": ["c2"]}),
        ([(REPLACE, 1, {"x": 1, "y": 1}), (REPLACE, 2, {"x": 1})], {"x": ["c2"], "y": ["c1"]}),
        ([(REPLACE, 1, {"x": 1, "y": 1}), (REPLACE, 2, {"x": 0})], {"y": ["c1"]}),
        ([(REPLACE, 2, {"x": 1}), (REPLACE, 1, {"x": 1, "y": 1})], {"x": ["c1"], "y": ["c2"]}),
        ([(REPLACE, 2, {"x": 0}), (REPLACE, 1, {"x": 1})], {}),
        ([(ADD, 2, {"x": 1}), (REPLACE, 1, {"x": 1})], {"x": ["c1"]}),
        ([(REPLACE, 2, {"x": 0}), (ADD, 1, {"x": 1}), (REPLACE, 1, {"x": 1})], {"x": ["c2"]}),
        ([(REPLACE, 1, {"x": 1, "y": 1}), (FULL, 2, {"y": 1, "z": 1})], {"y": ["c2"], "z": ["c2"]}),
        ([(REPLACE, 1, {"x": 1}), (FULL, 2, {"x": 0})], {}),
        ([(FULL, 2, {"x": 1}), (REPLACE, 1, {"x": 1, "y": 1})], {"x": ["c1"]}),
        ([(FULL, 2, {"x": 1}), (ADD, 1, {"y": 1})], {"x": ["c1"], "y": ["c2"]}),
        ([(FULL, 2, {"x": 1}), (FULL, 1, {"x": 1, "y": 1})], {"x": ["c1"]}),
        (
            [(REPLACE, 2, {"x": 1, "y": 1}), (FULL, 1, {"x": 1, "z": 1})],
            {"x": ["c1"], "y": ["c1"], "z": ["c2"]},
        ),
        ([(ADD, 1, {"x": 1}), (ADD, 3, {"y": 1}), (FULL, 2, {"z": 1})], {"y": ["c2"], "z": ["c3"]}),
    ],
    ids=[
        "appending keeps what is there",
        "nothing adds nothing",
        "appending is in no order",
        "appending to an empty partition",
        "only the run's partitions are replaced",
        "no rows clear a partition",
        "an older run replaces nothing newer, and the rest",
        "nor what a newer one has cleared",
        "nor what a newer one has appended to",
        "appending makes nothing older",
        "full takes the other partitions away",
        "full of nothing clears the table",
        "what full has taken away stays away",
        "appending goes on after full",
        "an older full does nothing",
        "an older full keeps what is newer",
        "full takes away what was appended before",
    ],
)
def test_whose_rows_stand(
    publishes: list[tuple[WriteMode, int, dict[str, int]]], expected: dict[str, list[str]]
) -> None:
    version = after(*publishes)
    assert folders(version) == expected
    assert version.recent == tuple(f"c{number}" for number in range(1, len(publishes) + 1))


def test_an_appended_partition_counts_all_its_rows() -> None:
    (found,) = after((ADD, 7, {"x": 2}), (ADD, 3, {"x": 5})).partitions.values()
    assert (found.rows, found.bytes, found.files, found.token, found.commit) == (7, 70, 2, 7, "c2")


def test_the_largest_token_is_remembered_by_what_it_has_written_or_cleared() -> None:
    assert TableVersion().top_token() == 0
    assert after((ADD, 7, {"x": 1}), (ADD, 3, {"x": 1})).top_token() == 7
    assert after((REPLACE, 3, {"x": 1}), (FULL, 7, {}), (ADD, 5, {"x": 1})).top_token() == 7


def test_a_log_from_before_there_was_append_is_read() -> None:
    old = {"number": 3, "commit": "c", "schema": COLUMNS, "recent": ["c"], "partitions": {
        "x": {"path": "data/c", "commit": "c", "token": 3, "rows": 1, "bytes": 10, "files": 1},
        "y": {"path": None, "commit": "c", "token": 3, "rows": 0, "bytes": 0, "files": 0},
    }}  # fmt: skip
    version = msgspec.json.decode(msgspec.json.encode(old), type=TableVersion)
    assert folders(version) == {"x": ["c"]}
    assert (version.partitions["y"].folders, version.floor, version.top_token()) == ((), 0, 3)


def test_a_table_without_appends_is_written_as_before() -> None:
    text = msgspec.json.encode(after((REPLACE, 1, {"x": 1}))).decode()
    assert "more" not in text and "floor" not in text
