"""Files with Spark stay with the worker that has a session, until the others have nothing else to do."""

import pytest

from tests.workers import choose, needs_spark, scope_of

SPARK = "tests/spark_jobs/iceberg/test_table.py"
LIVE = "tests/dagster_defs/live/test_live.py"
PLAIN = "tests/domain/test_cron.py"


@pytest.mark.parametrize(
    ("file", "expected"),
    [(SPARK, True), ("tests/spark_jobs/maintenance/test_rewrite.py", True), (LIVE, False), (PLAIN, False)],
)
def test_files_that_use_a_session_are_known(file: str, expected: bool) -> None:
    assert needs_spark(file) == expected


@pytest.mark.parametrize(
    ("queue", "has_spark", "some_has_spark", "expected"),
    [
        ([LIVE, SPARK, PLAIN], False, False, SPARK),
        ([LIVE, SPARK, PLAIN], True, True, SPARK),
        ([SPARK, LIVE, PLAIN], False, True, LIVE),
        ([LIVE, PLAIN], True, True, LIVE),
        ([SPARK], False, True, SPARK),
    ],
)
def test_a_worker_takes(queue: list[str], has_spark: bool, some_has_spark: bool, expected: str) -> None:
    assert choose(queue, has_spark, some_has_spark) == expected


def test_a_file_is_taken_whole_and_some_folders_too() -> None:
    assert scope_of(f"{PLAIN}::test_x[a::b]") == PLAIN
    assert scope_of("tests/installed/test_wheel.py::test_x") == "tests/installed"
