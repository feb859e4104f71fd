"""The reference tables of the demo read all three files, whenever the minute of their cron comes."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.worlds.samples import job
from tidegate.demo.run import REFERENCE, reads_what_landed
from tidegate.scheduler.model.job import JobState

pytestmark = pytest.mark.dagster

LANDED = datetime(2026, 11, 26, 5, 30, 59, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("state", "launched_at", "reads"),
    [
        (
            JobState.SUCCEEDED,
            LANDED - SECOND,
            False,
        ),  # its cron fired between the files of planes and airports
        (JobState.LAUNCHED, LANDED - SECOND, False),
        (JobState.PENDING_LAUNCH, None, True),
        (JobState.LAUNCHED, LANDED + SECOND, True),
        (JobState.SUCCEEDED, LANDED + SECOND, True),
        (JobState.DISCARDED, None, False),
    ],
)
def test_a_job_counts_if_it_begins_after_the_last_file(
    state: JobState, launched_at: datetime | None, reads: bool
) -> None:
    assert reads_what_landed([job("1", REFERENCE, state=state, launched_at=launched_at)], LANDED) is reads


def test_without_a_job_nothing_is_read() -> None:
    assert not reads_what_landed([], LANDED)
