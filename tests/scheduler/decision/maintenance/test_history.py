"""What the runs on a table come to: rows of failures and of runs without change, and the rate."""

from functools import reduce

import pytest

from tests.worlds.operations import EXPIRE, REWRITE, run
from tests.worlds.world import at
from tidegate.scheduler.decision.maintenance.history import after_run
from tidegate.scheduler.model.maintenance import Ending, OperationHistory, TableHistory

LETTERS = {
    "s": (Ending.SUCCEEDED, True),
    "0": (Ending.SUCCEEDED, False),
    "f": (Ending.FAILED, False),
    "c": (Ending.CONFLICT, True),
    "y": (Ending.STOPPED, True),
}


def history(letters, operation=REWRITE, before=None):
    """One run an hour, from one o'clock on: s changed, 0 did not, f failed, c lost a race, y made room."""
    runs = [
        run(LETTERS[letter][0], f"{hour:02}:00", operation=operation, changed=LETTERS[letter][1])
        for hour, letter in enumerate(letters, start=1)
    ]
    return reduce(after_run, runs, before or TableHistory())


@pytest.mark.parametrize(
    ("letters", "failures", "failed_start"),
    [
        ("", 0, None),
        ("f", 1, "01:00"),
        ("fff", 3, "03:00"),
        ("ffcf", 3, "04:00"),
        ("ffyc", 2, "02:00"),
        ("fffs", 0, None),
        ("fff0", 0, None),
        ("fsf", 1, "03:00"),
    ],
)
def test_a_row_of_failures_passes_over_conflicts_and_stops(letters, failures, failed_start):
    own = history(letters).of(REWRITE)
    assert own.failures == failures
    assert own.failed_start == (None if failed_start is None else at(failed_start))


@pytest.mark.parametrize(
    ("letters", "zero_changes", "zero_start"),
    [
        ("", 0, None),
        ("00", 2, "02:00"),
        ("0f0", 2, "03:00"),
        ("00f", 2, "02:00"),
        ("00c0y", 3, "04:00"),
        ("00s", 0, None),
        ("00s0", 1, "04:00"),
    ],
)
def test_a_row_of_runs_without_change_passes_over_failures_too(letters, zero_changes, zero_start):
    own = history(letters).of(REWRITE)
    assert own.zero_changes == zero_changes
    assert own.zero_start == (None if zero_start is None else at(zero_start))


@pytest.mark.parametrize(
    ("letters", "succeeded_at"), [("", None), ("f", None), ("sf", "01:30"), ("s0cf", "02:30")]
)
def test_the_last_success_is_the_end_of_its_run(letters, succeeded_at):
    own = history(letters).of(REWRITE)
    assert own.succeeded_at == (None if succeeded_at is None else at(succeeded_at))


def test_each_operation_has_its_own_rows_and_the_table_one_of_all():
    both = history("fs", EXPIRE, history("ff"))
    assert (both.of(REWRITE).failures, both.of(EXPIRE).failures, both.failures) == (2, 0, 0)
    more = history("f", EXPIRE, history("ff"))
    assert (more.of(REWRITE).failures, more.of(EXPIRE).failures, more.failures) == (2, 1, 3)
    assert more.recent == (True, True, True)


def test_the_rate_is_of_the_last_ten_runs_that_succeeded_or_failed():
    assert history("fcysf").recent == (True, False, True)
    assert history("ffff" + "s" * 7).recent == (True,) * 3 + (False,) * 7
    assert history("ffff" + "c" * 7).recent == (True,) * 4


def test_runs_from_before_the_table_was_gone_count_no_more():
    came_back = TableHistory(since=at("02:00"))
    assert history("f", before=came_back) == came_back
    later = history("ff", before=came_back)
    assert (later.recent, later.failures, later.since) == ((True,), 1, at("02:00"))
    assert later.of(EXPIRE) == OperationHistory()
