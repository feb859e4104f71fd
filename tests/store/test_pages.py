"""Every store reads long lists a page at a time."""

from typing import Any

import pytest

from tests.worlds.samples import at, entry, job, operation_job, schedule
from tidegate.domain.model import Schedule, SizeTrigger
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.last_launch import Repairs
from tidegate.scheduler.store.answers import JobCount
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.wanted import JobsWanted, SchedulesWanted

FAILED = JobState.FAILED


@pytest.fixture
def jobs(store: Store) -> Store:
    """A store with jobs of two apps, two of which were opened at the same instant."""
    with store.transaction() as transaction:
        transaction.put_jobs(
            [
                job("j1", opened_at=at(1)),
                job("j2", opened_at=at(2), state=FAILED, reason=Reason.F_RUN, ended_at=at(9)),
                job(
                    "j3",
                    opened_at=at(2),
                    schedule="b/s",
                    repairs=Repairs(jobs=("j2",), since=at(2), number=1),
                ),
                job("j4", opened_at=at(3), state=FAILED, reason=Reason.F_LAUNCH, ended_at=at(8)),
            ]
        )
    return store


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (JobsWanted(), ["j4", "j3", "j2", "j1"]),
        (JobsWanted(apps=["a"]), ["j4", "j2", "j1"]),
        (JobsWanted(apps=[]), []),
        (JobsWanted(schedules=["b/s"]), ["j3"]),
        (JobsWanted(states=[FAILED]), ["j4", "j2"]),
        (JobsWanted(reason=Reason.F_RUN), ["j2"]),
        (JobsWanted(states=[FAILED], reason=Reason.F_LAUNCH, apps=["a"]), ["j4"]),
        (JobsWanted(before=(at(2), "j3")), ["j2", "j1"]),
        (JobsWanted(before=(at(2), "j2x"), states=[FAILED]), ["j2"]),
        (JobsWanted(before=(at(1), "j1")), []),
        (JobsWanted(since=at(2)), ["j4", "j3", "j2"]),
        (JobsWanted(since=at(2), before=(at(2), "j3"), states=[FAILED]), ["j2"]),
        (JobsWanted(ended_since=at(8)), ["j4", "j2"]),
        (JobsWanted(ended_since=at(8.1), states=[FAILED]), ["j2"]),
        (JobsWanted(ended_since=at(8), before=(at(3), "j4"), reason=Reason.F_RUN), ["j2"]),
        (JobsWanted(ended_since=at(8), since=at(2.5)), ["j4"]),
        (JobsWanted(repairs=True), ["j3"]),
        (JobsWanted(repairs=True, apps=["a"]), []),
    ],
)
def test_jobs_are_filtered_and_come_newest_first(jobs: Store, wanted: JobsWanted, found: list[str]) -> None:
    with jobs.reading() as reader:
        assert [each.id for each in reader.jobs(**wanted, limit=10)[::-1]] == found
        assert [each.id for each in reader.jobs(**wanted, limit=1)[::-1]] == found[:1]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (JobsWanted(begins="a.s-"), ["a.s-1a2b3c4d9999", "a.s-1a2b3c4de5f6"]),
        (JobsWanted(begins="1a2b"), ["b.s-1a2b3c4de5f6", "a.s-1a2b3c4d9999", "a.s-1a2b3c4de5f6"]),
        (JobsWanted(begins="1a2b3c4de", apps=["a"]), ["a.s-1a2b3c4de5f6"]),
        (JobsWanted(begins="b.s-1a2b3c4de5f6"), ["b.s-1a2b3c4de5f6"]),
        (JobsWanted(begins="2b3c"), []),
        (JobsWanted(begins="j"), ["j4", "j3", "j2", "j1"]),
        (
            JobsWanted(hashes=["1a2b3c4d", "00000000"]),
            ["b.s-1a2b3c4de5f6", "a.s-1a2b3c4d9999", "a.s-1a2b3c4de5f6"],
        ),
        (JobsWanted(hashes=["1a2b"]), []),
        (JobsWanted(hashes=[]), []),
    ],
)
def test_jobs_are_found_by_the_beginning_of_their_id_or_hash(
    jobs: Store, wanted: JobsWanted, found: list[str]
) -> None:
    new = ("a.s-1a2b3c4de5f6", "a.s-1a2b3c4d9999", "b.s-1a2b3c4de5f6")
    with jobs.transaction() as transaction:
        transaction.put_jobs([job(id, f"{id[0]}/s", opened_at=at(5 + place)) for place, id in enumerate(new)])
    with jobs.reading() as reader:
        assert [each.id for each in reader.jobs(**wanted, limit=10)][::-1] == found


def test_jobs_are_counted_by_app_state_and_reason(jobs: Store) -> None:
    with jobs.transaction() as transaction:
        transaction.put_jobs([job("j5", opened_at=at(4), state=FAILED, reason=Reason.F_RUN)])
    waiting = JobState.PENDING_TRIGGER
    with jobs.reading() as reader:
        assert reader.job_counts([waiting, FAILED]) == (
            JobCount(app="a", state=FAILED, reason=Reason.F_LAUNCH, jobs=1, oldest=at(3)),
            JobCount(app="a", state=FAILED, reason=Reason.F_RUN, jobs=2, oldest=at(2)),
            JobCount(app="a", state=waiting, reason=None, jobs=1, oldest=at(1)),
            JobCount(app="b", state=waiting, reason=None, jobs=1, oldest=at(2)),
        )
        assert reader.job_counts([waiting, FAILED], ended_since=at(8.1)) == (
            JobCount(app="a", state=FAILED, reason=Reason.F_RUN, jobs=1, oldest=at(2)),
        )
        assert reader.job_counts([]) == ()
    with jobs.transaction() as transaction:
        transaction.put_jobs([operation_job("o1", "a/t", "a/nightly", state=FAILED, ended_at=at(9))])
    with jobs.reading() as reader:
        counts = {
            (ended, operations): sum(
                each.jobs for each in reader.job_counts([FAILED], ended, operations=operations)
            )
            for ended in (None, at(8.1))
            for operations in (True, False)
        }
    assert counts == {(None, True): 4, (None, False): 3, (at(8.1), True): 2, (at(8.1), False): 1}


def test_the_newest_job_of_each_schedule_in_each_state_is_found(store: Store) -> None:
    def of(id: str, hours: float, state: JobState, schedule: str = "a/s", **fields: Any) -> Job:
        return job(id, schedule, key=id, opened_at=at(hours), state=state, **fields)

    ended = {"ended_at": at(9)}
    with store.transaction() as transaction:
        transaction.put_jobs(
            [
                of("old", 1, FAILED, **ended),
                of("new", 3, FAILED, **ended),
                of("good", 2, JobState.SUCCEEDED, **ended),
                of("gone", 4, JobState.DISCARDED),
                of("begun", 4, JobState.PENDING_TRIGGER, reason=Reason.W_UPSTREAM),
                of("ahead", 5, JobState.PENDING_TRIGGER, reason=Reason.W_TIME),
                of("theirs", 6, FAILED, "a/t", **ended),
                of("another's", 6, FAILED, "a/u", **ended),
            ]
        )
    with store.reading() as reader:
        found = [(each.schedule, each.state, each.key) for each in reader.newest_jobs(["a/t", "a/s"])]
        assert found == [
            ("a/s", FAILED, "new"),
            ("a/s", JobState.PENDING_TRIGGER, "begun"),
            ("a/s", JobState.SUCCEEDED, "good"),
            ("a/t", FAILED, "theirs"),
        ]
        (theirs,) = reader.newest_jobs(["a/t"])
        assert (theirs.opened_at, theirs.ended_at) == (at(6), at(9))
        assert reader.newest_jobs([]) == ()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (SchedulesWanted(app="a"), ["a/s1", "a/s10", "a/s2"]),
        (SchedulesWanted(app="none"), []),
        (SchedulesWanted(), ["a/s1", "a/s10", "a/s2", "b/s1"]),
        (SchedulesWanted(after="a/s10", kind="cron"), ["b/s1"]),
        (SchedulesWanted(app="a", after="a/s1"), ["a/s10", "a/s2"]),
        (SchedulesWanted(app="a", after="a/s2"), []),
        (SchedulesWanted(app="a", program="p"), ["a/s1", "a/s10"]),
        (SchedulesWanted(app="a", kind="size"), ["a/s2"]),
        (SchedulesWanted(app="a", kind="cron", program="q"), []),
        (SchedulesWanted(app="a", status="suspended"), ["a/s10"]),
        (SchedulesWanted(app="a", status="active", after="a/s1"), ["a/s2"]),
    ],
)
def test_schedules_are_filtered_and_come_by_ref(
    store: Store, wanted: SchedulesWanted, found: list[str]
) -> None:
    data = Schedule(name="s2", program="q", trigger=SizeTrigger(dataset="d", rows=1))
    with store.transaction() as transaction:
        transaction.put_schedules(
            [
                schedule("b/s1"),
                schedule("a/s2", spec=data),
                schedule("a/s10", status="suspended"),
                schedule("a/s1"),
            ]
        )
    with store.reading() as reader:
        assert [each.ref for each in reader.schedules(**wanted, limit=10)] == found
        assert [each.ref for each in reader.schedules(**wanted, limit=1)] == found[:1]


def test_deployments_are_the_entries_of_that_kind_with_their_numbers(store: Store) -> None:
    with store.reading() as reader:
        assert reader.newest_deployment() is None
    with store.transaction() as transaction:
        for number in range(3):
            transaction.add_journal(
                [
                    entry(EntryKind.DEPLOY, at=at(number), data={"number": number}),
                    entry(EntryKind.GAUGE, at=at(number)),
                ]
            )
    with store.reading() as reader:
        second, first = reader.journal_page(kinds=[EntryKind.DEPLOY], limit=2)
        (third,) = reader.journal_page(kinds=[EntryKind.DEPLOY], before=second.number, limit=2)
        assert reader.newest_deployment() == (first.number, at(2))
    assert first.number > second.number
    assert [row.entry.data["number"] for row in (first, second, third)] == [2, 1, 0]
