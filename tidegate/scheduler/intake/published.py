"""Events of published partitions, stored by the publishing process without Dagster.

A publish reports its partitions in one of its steps, which may be repeated after a crash or by
another process. So the id of each event is made of what was published: a second report, or a
report from Dagster's log, changes nothing. The class implements the protocol `Events` of
tidegate/spark_jobs/commit/context.py without importing it.

Recovered publishes: recovery reports that it has finished what a run had promised to publish. The process
that finishes a commit for another run, whether the recovery job, a later run of the dataset or `tidegate
commits recover`, reports its id before it removes the commit. So the report is repeated after a crash, and
folding it twice changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from tidegate.domain.part_name import app_of
from tidegate.domain.published import PartitionFact, escaped_key
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.decision.fold.recovered import recovered_entry
from tidegate.scheduler.decision.fold.run_events import event_of_job
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key, publish_event_id
from tidegate.scheduler.model.job import Job, JobState, LaunchPlan
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.retention import PrunedKind
from tidegate.scheduler.model.work_of_job import work_of_commit
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.tick.clock import effective_at
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.tick import advance_before


def observe_recovered(transaction: EngineTransaction, commit: str, now: datetime) -> None:
    """Fold a finished commit into its job; that of an external run has none."""
    if not _jobs(transaction, commit):
        return
    advance_before(transaction, now)
    for job in _jobs(transaction, commit):
        entry = recovered_entry(job, commit, effective_at(transaction, now, now))
        if entry is not None:
            _fold(transaction, job, entry)


def _fold(transaction: EngineTransaction, job: Job, entry: Entry) -> None:
    if job.state is JobState.LAUNCHED:
        transaction.put_jobs([record(job, entry)])
    else:
        end_jobs(transaction, [(job, entry)])
    transaction.add_journal([entry])


def _jobs(reader: EngineReader, commit: str) -> tuple[Job, ...]:
    return reader.jobs(ids=(work_of_commit(commit).job,))


class PublishedEvents:
    """Reports published partitions to a store.

    Time and arrival of the events are the instant of their first report.
    """

    def __init__(
        self, open_store: Callable[[], Store], clock: Callable[[], datetime], run_id: str | None = None
    ) -> None:
        """Args:
        open_store: opens the store when there is something to report.
        run_id: the reporting run; None for a publish that its own run does not report.
        """
        self._open_store = open_store
        self._clock = clock
        self._run_id = run_id

    def reported(self, commit: str, partitions: Sequence[PartitionFact]) -> bool:
        """Return whether the store has, or has pruned, the events of all these partitions."""
        ids = frozenset(publish_event_id(commit, fact.materialised, fact.key) for fact in partitions)
        with self._open_store().reading() as reader:
            missing = ids - {event.id for event in reader.events(ids=ids, limit=None)}
            return reader.pruned(PrunedKind.EVENT, missing) == missing

    def report(self, commit: str, partitions: Sequence[PartitionFact]) -> None:
        """Store the events of these partitions; events that the store has stay unchanged."""
        now = self._clock()
        with self._open_store().transaction() as transaction:
            datasets = _datasets(transaction, partitions)
            job = next(iter(_jobs(transaction, commit)), None)
            events = [
                published_event(
                    commit, fact, now, self._run_id, datasets.get(fact.materialised, fact.dataset)
                )
                for fact in partitions
            ]
            transaction.add_events([each if job is None else event_of_job(each, job) for each in events])

    def launch_of(self, commit: str) -> LaunchPlan | None:
        """Return what the job of a commit was launched with; None for an external run."""
        with self._open_store().reading() as reader:
            return next((job.launch for job in _jobs(reader, commit)), None)

    def record_finished(self, commit: str) -> None:
        """Fold a commit that another process than its run has finished into its job."""
        with self._open_store().transaction() as transaction:
            observe_recovered(transaction, commit, self._clock())


def _datasets(reader: EngineReader, partitions: Sequence[PartitionFact]) -> Mapping[str, str]:
    """Return the datasets that name the assets of some partitions, by asset.

    What a program publishes is a dataset of its own app. What `TidegateIOManager` publishes may be the asset
    of a dataset under another name.
    """
    apps = {app_of(fact.dataset) for fact in partitions}
    own = {
        f"{each.name}/{name}"
        for each in reader.records(APPS, name=apps)
        for name, dataset in each.app.datasets.items()
        if not dataset.asset
    }
    wanted = {fact.materialised for fact in partitions if fact.asset or fact.dataset not in own}
    if not wanted:
        return {}
    return {
        asset: f"{each.name}/{name}"
        for each in reader.records(APPS)
        for name, dataset in each.app.datasets.items()
        if dataset.asset and (asset := escaped_key(dataset.asset)) in wanted
    }


def published_event(
    commit: str, fact: PartitionFact, at: datetime, run_id: str | None = None, dataset: str = ""
) -> Event:
    """Return the event of one published partition.

    Args:
        dataset: that names its asset, "app/name"; "" for the one that was published.
    """
    return Event(
        id=publish_event_id(commit, fact.materialised, fact.key),
        kind=EventKind.PARTITION,
        key=partition_event_key("", dataset or fact.dataset),
        time=at,
        arrived=at,
        partition=fact.key,
        bytes=fact.bytes,
        rows=fact.rows,
        run_id=run_id,
    )
