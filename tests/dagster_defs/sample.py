"""A small app with one of everything that Dagster has to show, and a store in which it is deployed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.location import Location
from tidegate.domain.model import (
    App,
    At,
    CronTrigger,
    Dataset,
    PartitionScheme,
    PartitionsTrigger,
    Program,
    RunTrigger,
    Schedule,
    StaticDimension,
    TimeDimension,
    leaves,
)
from tidegate.scheduler.decision.fires import next_fire
from tidegate.scheduler.model.deployed import APPS, DeployedApp, ScheduleState
from tidegate.scheduler.model.event import SUBSCRIPTIONS, Subscription, listens_to
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse

NOW = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)

DAY = TimeDimension(name="day", cycle="day", start="2023-01-01")
ORIGIN = StaticDimension(name="origin", keys=("EWR", "JFK", "LGA"))
DAILY = PartitionScheme(time=DAY)
DAILY_BY_ORIGIN = PartitionScheme(time=DAY, static=ORIGIN)


def sample_app() -> App:
    """Two external datasets, three programs in a chain, and four schedules."""
    datasets = [
        Dataset(
            name="raw", partitions=DAILY_BY_ORIGIN, path="landing/raw", at=At(file="s.yaml", line=3, column=3)
        ),
        Dataset(name="rates"),
        Dataset(name="clean", partitions=DAILY, description="typed columns"),
        Dataset(name="report"),
    ]
    programs = [
        Program(name="clean", run="sample.clean", reads=("raw", "rates"), writes=("clean",)),
        Program(name="report", run="sample.report", reads=("clean",), writes=("report",)),
        Program(name="notify", run="sample.notify", reads=("report",)),
    ]
    schedules = [
        Schedule(
            name="clean_as_it_comes",
            program="clean",
            trigger=PartitionsTrigger(dataset="raw", complete="day"),
            for_each="day",
            output_partition="key",
            status="active",
            args={"strict": True},
        ),
        Schedule(
            name="clean_pooled",
            program="clean",
            trigger=PartitionsTrigger(dataset="clean"),
            output_partition="manifest",
            status="suspended",
        ),
        Schedule(
            name="report_daily", program="report", trigger=CronTrigger(cron="0 6 1-15 3 *"), status="active"
        ),
        Schedule(
            name="notify_after", program="notify", trigger=RunTrigger(program="report"), status="active"
        ),
    ]
    return App(
        name="flights",
        datasets={dataset.name: dataset for dataset in datasets},
        programs={program.name: program for program in programs},
        schedules={schedule.name: schedule for schedule in schedules},
    )


def deploy(
    store: Store, app: App, at: datetime = NOW - timedelta(days=1), revision: int = 1, project: str = ""
) -> None:
    """Put an app into a store as a deployment would."""
    with store.transaction() as transaction:
        bare = App(name=app.name, timezone=app.timezone, datasets=app.datasets, programs=app.programs)
        transaction.put_records(
            APPS, [DeployedApp(app=bare, revision=revision, deployed_at=at, project=project)]
        )
        for spec in app.schedules.values():
            active = spec.status == "active"
            state = ScheduleState(
                ref=f"{app.name}/{spec.name}",
                spec=spec,
                fingerprint=spec.name,
                status=spec.status,
                active_since=at if active else None,
                fires_after=NOW if active else None,
                deployed_at=at,
            )
            due = next_fire(state, NOW) if active else None
            transaction.put_schedules([ScheduleState(**{**fields(state), "next_fire_at": due})])
            transaction.put_records(
                SUBSCRIPTIONS,
                [
                    Subscription(event_key=event_key, schedule=state.ref, leaf=leaf.path)
                    for leaf in leaves(spec.trigger)
                    for event_key in listens_to(app.name, state.ref, leaf, spec.program)
                ],
            )


def fields(state: ScheduleState) -> dict[str, object]:
    """The fields of a schedule's row by name."""
    return {name: getattr(state, name) for name in state.__struct_fields__}


def sample_store() -> ReferenceStore:
    """A store with the sample app deployed."""
    store = ReferenceStore()
    deploy(store, sample_app())
    return store


def location_of(store: Store, folder: Path = Path("/nowhere"), now: datetime = NOW) -> Location:
    """A code location over a store, with its clock stopped at `now`."""
    commits = MemoryCommitStepStore()
    return Location(
        open_store=lambda: store,
        open_commits=lambda: commits,
        warehouse=Warehouse(path=folder / "warehouse", project=folder),
        clock=lambda: now,
    )
