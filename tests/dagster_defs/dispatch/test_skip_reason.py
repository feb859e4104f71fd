"""The skip reason tells whole jobs, those that only a constraint holds back first, and no more than fits."""

from tests.doubles.reference.store import ReferenceStore
from tests.worlds.samples import at, job, operation_job
from tidegate.dagster_defs.dispatch.skip_reason import (
    TEXT_CHARACTERS,
    WAITING_JOBS_MAX,
    skip_reason,
    waiting_jobs,
)
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason


def trigger(id: str, **fields: object) -> Job:
    return job(id, state=JobState.PENDING_TRIGGER, reason=Reason.W_TRIGGER, **fields)


def held(id: str, **fields: object) -> Job:
    return job(id, state=JobState.PENDING_CONSTRAINT, reason=Reason.W_WINDOW, **fields)


def test_nothing_waits() -> None:
    assert skip_reason([]) == "no waiting jobs"


def test_jobs_held_back_by_a_constraint_come_first_whatever_their_time() -> None:
    text = skip_reason([trigger("1", key="2026-03-09"), held("2", schedule="a/t", next_check_at=at(30))])

    assert text == (
        "2 waiting: a/t: W-WINDOW the launch window is closed;"
        " a/s[2026-03-09]: W-TRIGGER the trigger is not satisfied yet"
    )


def test_operations_on_tables_do_not_hide_the_jobs_of_schedules() -> None:
    store = ReferenceStore()
    operations = [
        operation_job(f"o{n}", state=JobState.PENDING_CONSTRAINT, reason=Reason.M_WINDOW, opened_at=at(9))
        for n in range(3 * WAITING_JOBS_MAX)
    ]
    with store.transaction() as transaction:
        transaction.put_jobs([trigger("1"), *operations])
    with store.reading() as reader:
        waiting = waiting_jobs(reader, None)
    text = skip_reason(waiting)

    assert text.startswith("more than 20 waiting: a/s: W-TRIGGER")
    assert "M-WINDOW" in text


def test_a_job_is_told_whole_or_not_at_all() -> None:
    text = skip_reason([trigger(str(n), key="k" * 100) for n in range(WAITING_JOBS_MAX)])

    shown, _, rest = text.partition("; and others")
    assert shown.startswith(f"{WAITING_JOBS_MAX} waiting: ") and shown.endswith("not satisfied yet")
    assert rest == ": see `tidegate jobs list`"
    assert len(shown) <= TEXT_CHARACTERS + len(f"{WAITING_JOBS_MAX} waiting: ")


def test_more_jobs_than_are_looked_at_are_not_counted_wrongly() -> None:
    text = skip_reason([trigger(str(n)) for n in range(WAITING_JOBS_MAX + 1)])

    assert text.startswith("more than 20 waiting: ") and text.endswith("see `tidegate jobs list`")


def test_a_very_long_key_is_told_all_the_same() -> None:
    assert "k" * 2000 in skip_reason([trigger("1", key="k" * 2000)])
