"""A project in the middle of its work, relative to an instant.

Jobs have failed, are late, run, are queued, wait and are held; data has landed on the last days; windows,
fires and deadlines come.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from tests.server.board.seeded import TOKEN, store_of
from tests.server.process import ServerProcess
from tests.server.serving import NS
from tests.worlds.by import CLI
from tests.worlds.samples import operation_job
from tidegate.scheduler.commands.tokens import create_token
from tidegate.scheduler.model.event import Event, EventKind
from tidegate.scheduler.model.instance import Instance, instance_resource
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.token import Role, token_hash
from tidegate.scheduler.model.run import Run, RunStatus
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

ZONE = "America/New_York"
APP = "flights"
DATED = {"partitions": {"cycle": "day", "start": "2013-01-01"}}

SPEC: dict[str, Any] = {
    "app": APP,
    "timezone": ZONE,
    "datasets": dict.fromkeys(("raw_flights", "weather", "clean_flights", "delays"), DATED),
    "programs": {
        "clean": {"run": "programs.clean", "reads": ["raw_flights"], "writes": ["clean_flights"]},
        "join": {"run": "programs.join", "reads": ["clean_flights", "weather"], "writes": ["delays"]},
        "refresh": {"run": "programs.refresh"},
        "totals": {"run": "programs.totals"},
    },
    "schedules": {
        "clean_flights_daily": {
            "program": "clean",
            "for_each": "day",
            "trigger": {"partitions": {"dataset": "raw_flights"}},
            "constraints": [{"concurrency": {"max": 2}}],
            "status": "active",
        },
        "delays_by_weather_nightly": {
            "program": "join",
            "for_each": "day",
            "trigger": {
                "all": [{"partitions": {"dataset": "clean_flights"}}, {"partitions": {"dataset": "weather"}}],
                "wait_at_most": "4h",
            },
            "constraints": [{"window": {"from": "22:00", "to": "06:00"}}],
            "status": "active",
        },
        "refresh_reference_nightly": {
            "program": "refresh",
            "trigger": {"cron": "30 5 * * *"},
            "deadline": "07:00",
            "status": "active",
        },
        "carrier_report": {
            "program": "refresh",
            "for_each": "day",
            "trigger": {"partitions": {"dataset": "delays"}},
            "on_suspend": "hold",
            "status": "suspended",
        },
        "by_hour": {"program": "refresh", "trigger": {"cron": "10 * * * *"}, "status": "active"},
    },
    "tasks": {
        "flights_complete": {"type": "external", "cycle": "day", "at": {"time": "01:00"}, "status": "active"},
        "daily_totals": {
            "program": "totals",
            "cycle": "day",
            "at": {"time": "03:00"},
            "depends_on": [{"task": "flights_complete"}],
            "deadline": "07:00",
            "status": "active",
        },
    },
}


@contextmanager
def night(project: Path, *, ticks: bool = True) -> Iterator[ServerProcess]:
    """A server of the project, at this instant.

    Args:
        ticks: whether the engine has ticked a moment ago; else an hour ago.
    """
    (project / "tidegate.toml").write_text("")
    (project / "schedules").mkdir()
    server = ServerProcess(project, "--no-host")
    try:
        with server.client() as client:
            answer = client.put(f"{NS}/apps/{APP}", json={"spec": SPEC})
            assert answer.status_code == 200, answer.text
        store, now = store_of(project), datetime.now(UTC)
        fill(store, now, now if ticks else now - timedelta(hours=1))
        with store.transaction() as transaction:
            create_token(transaction, "person", Role.ADMIN, None, token_hash(TOKEN), now, CLI)
        store.close()
        yield server
    finally:
        server.end()


def fill(store: Store, now: datetime, ticked: datetime) -> None:
    """Write the jobs, their runs and the events, after a last tick."""
    tick(store, ticked)
    made = [*_cleaned(now), *_joined(now), *_others(now), *_hourly(now)]
    with store.transaction() as transaction:
        transaction.put_jobs([job for job, _ in made])
        transaction.put_runs([run for _, runs in made for run in runs])
        landed = [*_landed(now)]
        transaction.add_events(landed)
        transaction.mark_routed([each.id for each in landed])
        for n, reason in enumerate((Reason.M_WINDOW, Reason.M_WINDOW, Reason.M_HEALTH)):
            waits = {"state": JobState.PENDING_CONSTRAINT, "reason": reason, "opened_at": now}
            transaction.put_jobs([operation_job(f"o{n}", "flights/delays", "flights/nightly", **waits)])
        transaction.put_jobs(_late(now))
        # Fires of before it was deployed never happened.
        states = transaction.schedules(refs=[f"{APP}/by_hour"])
        since = now - timedelta(days=2)
        transaction.put_schedules([msgspec.structs.replace(each, active_since=since) for each in states])


Made = tuple[Job, list[Run]]


def _job(name: str, key: str, opened: datetime, **fields: Any) -> Job:
    return Job(
        id=f"{APP}.{name}-{key or format(opened, '%H%M')}",
        schedule=f"{APP}/{name}",
        key=key,
        opened_at=opened,
        **fields,
    )


def _made(job: Job, *attempts: tuple[RunStatus, datetime, datetime | None]) -> Made:
    """A job with its runs: each its status, its start, and its end."""
    runs = [
        Run(
            run_id=f"{job.id}:{n}",
            program=f"{APP}/clean",
            job=job.id,
            attempt=n,
            status=status,
            seen_at=start,
            started_at=None if status is RunStatus.QUEUED else start,
            ended_at=end,
        )
        for n, (status, start, end) in enumerate(attempts, 1)
    ]
    last = runs[-1]
    ended = last.ended_at if job.state in (JobState.SUCCEEDED, JobState.FAILED) else None
    return (
        msgspec.structs.replace(
            job, run_id=last.run_id, launched_at=attempts[-1][1], ended_at=ended, attempt=len(runs)
        ),
        runs,
    )


def _cleaned(now: datetime) -> Iterator[Made]:
    for n in range(1, 7):
        start = now - timedelta(minutes=110 * n)
        job = _job(
            "clean_flights_daily",
            f"2013-12-{20 - n}",
            start - timedelta(minutes=25),
            state=JobState.SUCCEEDED,
        )
        yield _made(job, (RunStatus.SUCCEEDED, start, start + timedelta(minutes=14 + n)))
    runs = _job("clean_flights_daily", "2013-12-20", now - timedelta(minutes=58), state=JobState.LAUNCHED)
    yield _made(runs, (RunStatus.STARTED, now - timedelta(minutes=11), None))
    queued = _job("clean_flights_daily", "2013-12-21", now - timedelta(minutes=30), state=JobState.LAUNCHED)
    yield _made(queued, (RunStatus.QUEUED, now - timedelta(minutes=6), None))
    for n in (22, 23):
        full = {"state": JobState.PENDING_CONSTRAINT, "reason": Reason.W_CONCURRENCY}
        opened = now - timedelta(minutes=n)
        yield (
            _job("clean_flights_daily", f"2013-12-{n}", opened, blocked_on="program:flights/clean", **full),
            [],
        )


def _joined(now: datetime) -> Iterator[Made]:
    failed = _job(
        "delays_by_weather_nightly",
        "2013-12-18",
        now - timedelta(minutes=330),
        state=JobState.FAILED,
        reason=Reason.F_RUN,
        detail="clean_weather of 2013-12-18 has no column visib (programs/join.py:41)",
    )
    yield _made(
        failed,
        (RunStatus.FAILED, now - timedelta(minutes=151), now - timedelta(minutes=142)),
        (RunStatus.FAILED, now - timedelta(minutes=51), now - timedelta(minutes=42)),
    )
    for n in (16, 17):
        start = now - timedelta(minutes=60 * (27 - n))
        done = _job(
            "delays_by_weather_nightly",
            f"2013-12-{n}",
            start - timedelta(minutes=5),
            state=JobState.SUCCEEDED,
        )
        yield _made(done, (RunStatus.SUCCEEDED, start, start + timedelta(minutes=38)))
    ready = {"state": JobState.PENDING_CONSTRAINT, "reason": Reason.W_WINDOW}
    for n in (19, 20):
        opened = now - timedelta(minutes=30 * n)
        yield (
            _job(
                "delays_by_weather_nightly",
                f"2013-12-{n}",
                opened,
                satisfied_at=opened,
                **ready,
            ),
            [],
        )
    first = now - timedelta(minutes=100)
    yield (
        _job(
            "delays_by_weather_nightly",
            "2013-12-21",
            first,
            reason=Reason.W_TRIGGER,
            first_event_at=first,
            next_check_at=first + timedelta(hours=4),
        ),
        [],
    )


def _others(now: datetime) -> Iterator[Made]:
    failed = _job(
        "refresh_reference_nightly",
        "",
        now - timedelta(minutes=245),
        state=JobState.FAILED,
        reason=Reason.F_RUN,
        detail="landing/planes/planes.parquet: the file ends after 4,096 bytes",
    )
    yield _made(failed, (RunStatus.FAILED, now - timedelta(minutes=244), now - timedelta(minutes=242)))
    held = {"state": JobState.PENDING_CONSTRAINT, "reason": Reason.W_HELD}
    since = now - timedelta(hours=3)
    yield _job("carrier_report", "2013-12-17", since, satisfied_at=since, held_at=since, **held), []


def _late(now: datetime) -> list[Job]:
    """The totals of yesterday, which are late, as their flights are not reported."""
    day = now - timedelta(days=1)
    instance = Instance(
        key=f"{day:%Y-%m-%d}",
        scheduled=day,
        start=now - timedelta(hours=5),
        business=day - timedelta(days=1),
        business_date=f"{day - timedelta(days=1):%Y-%m-%d}",
    )
    awaited = _job("flights_complete", instance.key, day, instance=instance, reason=Reason.W_REPORT)
    awaited = msgspec.structs.replace(awaited, id=f"{APP}.flights_complete-00000000000f")
    return [
        awaited,
        _job(
            "daily_totals",
            instance.key,
            day,
            instance=instance,
            reason=Reason.W_UPSTREAM,
            blocked_on=instance_resource(awaited.id),
            late_at=now - timedelta(minutes=92),
        ),
    ]


def _hourly(now: datetime) -> Iterator[Made]:
    for n in range(1, 15):
        start = now.replace(minute=10, second=0, microsecond=0) - timedelta(hours=n)
        done = _job("by_hour", "", start, state=JobState.SUCCEEDED)
        job = msgspec.structs.replace(done, id=f"{done.id}-{n}")
        yield _made(job, (RunStatus.SUCCEEDED, start, start + timedelta(minutes=5 + n % 4)))


def _landed(now: datetime) -> Iterator[Event]:
    for n in range(1, 9):
        at = now - timedelta(days=n) + timedelta(hours=2, minutes=5 * n)
        yield Event(
            id=f"landed-{n}",
            kind=EventKind.PARTITION,
            key="partition:flights/raw_flights",
            time=at,
            arrived=at,
            partition=f"2013-12-{20 - n:02}",
        )
