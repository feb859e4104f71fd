"""Happenings: which entries of the journal are trouble, and which say that a job is well."""

from typing import Any

import pytest

from tests.worlds.samples import entry, job
from tidegate.scheduler.alerts.happenings import happening_of, is_well
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.alert import AlertKind


@pytest.mark.parametrize(
    ("kind", "data", "well"),
    [
        (EntryKind.RUN, {"status": "succeeded"}, True),
        (EntryKind.RUN, {"status": "failed"}, False),
        (EntryKind.REPORTED, {"status": "successful"}, True),
        (EntryKind.REPORTED, {"status": "failed"}, False),
        (EntryKind.OPERATION, {"ending": "succeeded"}, True),
        (EntryKind.OPERATION, {"ending": "failed"}, False),
        (EntryKind.RECOVERED, {}, True),
        (EntryKind.LATE, {}, False),
    ],
)
def test_what_says_that_a_job_is_well(kind: EntryKind, data: dict[str, Any], well: bool) -> None:
    assert is_well(entry(kind, data=data)) is well


@pytest.mark.parametrize(
    ("kind", "data", "reason", "alert", "because"),
    [
        (EntryKind.REPORTED, {"status": "failed"}, None, AlertKind.FAILED, "F-REPORTED"),
        (EntryKind.OPERATION, {"ending": "failed"}, None, AlertKind.FAILED, "F-RUN"),
        (EntryKind.OPERATION, {"ending": "failed"}, "F-TIMEOUT", AlertKind.FAILED, "F-TIMEOUT"),
        (EntryKind.LATE, {"due": "08:00", "deadline": "08:00"}, "L-DEADLINE", AlertKind.LATE, "L-DEADLINE"),
    ],
)
def test_what_people_hear_of(
    kind: EntryKind, data: dict[str, Any], reason: str | None, alert: AlertKind, because: str
) -> None:
    failed = job("j", state=JobState.FAILED)
    written = entry(kind, job="j", data=data, reason=reason)
    found = happening_of(written, failed, [written])
    assert found is not None
    assert (found.kind, found.reason, found.job) == (alert, because, "j")


def test_a_run_that_is_tried_again_is_no_trouble() -> None:
    run = entry(EntryKind.RUN, job="j", data={"status": "failed"})
    again = entry(EntryKind.RETRY, job="j")
    assert happening_of(run, job("j"), [run, again]) is None
    assert happening_of(run, job("j"), [run, entry(EntryKind.MANUAL, job="j"), again]) is not None
