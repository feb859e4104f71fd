"""The cause of a failure in Spark: the innermost one with a message, its file and its partition."""

import pytest

from tidegate.spark_jobs.java.cause import innermost_cause, partition_key

JOB = (
    "An error occurred while calling o73.parquet.\n: org.apache.spark.SparkException: Job aborted due to"
    " stage failure: Task 0 in stage 3.0 failed 1 times, most recent: Lost task 0.0 in stage 3.0 (TID 3)"
    " (host executor driver): {0}\n\tat org.apache.spark.X(X.scala:1)\nDriver stacktrace:\n\tat x.Y(Y.java:2)"
    "\n"
)
WRITE = "org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to file:/w/t."
AWAIT = "org.apache.spark.SparkException: Exception thrown in awaitResult: "
CUT = (
    "java.lang.RuntimeException: file:/l/temps/city=new%20york/hour=2026-11-20-05%3A00/a b.parquet is not a"
    " Parquet file. Expected magic number at tail, but found [-108, 1, 20, 0]"
)
CUT_SHOWN = (
    "java.lang.RuntimeException: file:/l/temps/city=new york/hour=2026-11-20-05:00/a b.parquet is not a"
    " Parquet file. Expected magic number at tail, but found [-108, 1, 20, 0]"
    " (partition new york|2026-11-20-05:00)"
)
UPGRADE = (
    "[INCONSISTENT_BEHAVIOR] You may get a different result due to the upgrading to Spark >= 3.0\n"
    "org.apache.spark.SparkUpgradeException: upgrading to Spark\n\tat x.Y(Y.java:2)\n"
)
DATE = "java.time.ParseException: Text 'x' at index 0"
BELOW = "\n\tat x.Z(Z.java:3)\n\t... 9 more\n"
COLUMN = (
    "org.apache.spark.SparkException: Parquet column cannot be converted in file"
    " file:///l/day=2026-11-20/p-0.c000.snappy.parquet. Column: [id], Expected: bigint, Found: BINARY."
)


def caused(outer: str, *inner: str) -> str:
    return JOB.format(outer) + "".join(f"Caused by: {each}{BELOW}" for each in inner)


ROWS = [
    ("a cut file that is read", caused(CUT, CUT), CUT_SHOWN),
    ("within a write", caused(WRITE, WRITE, CUT), CUT_SHOWN),
    ("within a footer that is awaited", caused(AWAIT, AWAIT, CUT), CUT_SHOWN),
    ("the outer one alone names it", caused(CUT), CUT_SHOWN),
    ("a folder that Spark has escaped again", caused(CUT.replace("%", "%25")), CUT_SHOWN),
    (
        "the file of the cause around",
        caused(WRITE, WRITE, COLUMN, "x.NotSupported: column: [id], physicalType: BINARY"),
        "x.NotSupported: column: [id], physicalType: BINARY, in"
        " file:///l/day=2026-11-20/p-0.c000.snappy.parquet"
        " (partition 2026-11-20)",
    ),
    ("a cause without a message", caused(WRITE, WRITE, COLUMN, "java.io.EOFException"), None),
    ("no message at all", caused("java.lang.NullPointerException", "java.lang.NullPointerException"), None),
    (
        "a date in another format",
        UPGRADE + f"Caused by: {DATE}\n",
        None,
    ),
]
SHOWN = {
    "a cause without a message": COLUMN + " (partition 2026-11-20)",
    "no message at all": "java.lang.NullPointerException",
    "a date in another format": DATE,
}


@pytest.mark.parametrize(("sentence", "text", "cause"), ROWS, ids=[row[0] for row in ROWS])
def test_the_innermost_cause(sentence, text, cause):
    found = innermost_cause(text)
    assert found == SHOWN.get(sentence, cause)
    for frame in ("Job aborted", "TASK_WRITE_FAILED", "awaitResult", "upgrading to Spark"):
        assert frame not in found


def test_a_text_without_causes():
    assert innermost_cause("[UNRESOLVED_COLUMN] A column `x` cannot be resolved.") is None


@pytest.mark.parametrize(
    ("file", "key"),
    [("/l/day=2026-11-20/a.parquet", "2026-11-20"), ("/l/b=2/a=1/f.parquet", "1|2"), ("/l/f.parquet", "")],
)
def test_the_key_is_in_the_order_of_the_dimensions(file, key):
    assert partition_key(file) == key
