"""Withheld publishes of a simulation: `ends: withheld`, and what people do to them.

    a run ends `withheld` ──► its row, and its job fails with F-CHECK
    release               ──► its partitions arrive now, and its job has succeeded
    abandon               ──► the row is gone; its job stays as it is

A row goes by itself as in docs/exactly-once.md: with the next attempt of the same work, or the work after a
rerun, that publishes or is withheld, and with a later run of the same incremental program over the same
partitions. A release is refused where a later run has replaced one of the partitions, or the instance was
paused or is run again.
"""

from collections.abc import Sequence
from datetime import datetime

from tidegate.compiler.scenarios.model.scenario import EndWithheld
from tidegate.domain.commits import CheckVerdict
from tidegate.domain.model import App, Dataset, Program
from tidegate.domain.part_name import whole_name
from tidegate.scheduler.intake.published import observe_recovered
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES, WithheldPublish
from tidegate.scheduler.model.refused import InstanceRefused
from tidegate.scheduler.model.work_of_job import commit_id, is_over, is_work_before, work_of_commit
from tidegate.scheduler.simulation.launcher import SimulatedRun, written
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.tick.load import load_whole_app

MOST = 10_000
"""More withheld publishes than an example has."""

CHECK = "example"
"""The name of the check that fails where an example says `ends: withheld`."""


class SimulatedPublishes:
    """What runs have published and what is withheld of them.

    A later run has a larger number, as real ones have a larger fencing token.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs: dict[str, SimulatedRun] = {}
        self._newest: dict[tuple[str, str], int] = {}

    def end(self, run: SimulatedRun, app: App) -> list[Event]:
        """Take in the end of a run, and return the events of what it has published."""
        if not (run.withheld or run.succeeded):
            return []
        with self._store.transaction() as transaction:
            (job,) = transaction.jobs(ids=(run.job,))
            commit = commit_id(job.id, job.commit)
            self._drop_older(transaction, run, app, commit)
            if run.withheld:
                transaction.put_records(WITHHELD_PUBLISHES, [_row(commit, run, app)])
                self._runs[commit] = run
                return []
        return self._published(run, app)

    def act(self, action: EndWithheld, app: str, now: datetime) -> list[Event]:
        """Release or abandon the newest withheld publish of a schedule, and return the events of it.

        Raises:
            InstanceRefused: there is none, or it can no longer be released.
        """
        with self._store.transaction() as transaction:
            found = withheld_of(transaction, whole_name(app, action.schedule), action.key)
            if not found:
                about = action.schedule if action.key is None else f"{action.schedule}[{action.key}]"
                raise InstanceRefused("E-STATE", f"no publish of {about} is withheld")
            job, row = found[-1]
            run, whole = self._runs[row.commit], load_whole_app(transaction, job.app)
            if action.do == "release" and whole is not None:
                self._refuse(job, row, run, whole)
            transaction.drop_records(WITHHELD_PUBLISHES, [row.commit])
            if action.do == "abandon" or whole is None:
                return []
            observe_recovered(transaction, row.commit, now)
        return self._published(run, whole, now)

    def _published(self, run: SimulatedRun, app: App, released: datetime | None = None) -> list[Event]:
        for name in _writes(run, app):
            for key in _keys(run, app, name):
                place = (f"{app.name}/{name}", key)
                self._newest[place] = max(run.number, self._newest.get(place, 0))
        return written(run, app, released)

    def _refuse(self, job: Job, row: WithheldPublish, run: SimulatedRun, app: App) -> None:
        again = "abandon it, and run the job again"
        if is_over(work_of_commit(row.commit), job.commit, job.state):
            raise InstanceRefused(
                "E-STATE", f"{row.commit}: its instance was paused or is run again: {again}"
            )
        for name in _writes(run, app):
            mode, ref = app.datasets[name].write_mode(), f"{app.name}/{name}"
            if mode in ("append", "merge"):
                continue  # an example does not say which keys the rows have
            later = [key for (of, key), number in self._newest.items() if of == ref and number > run.number]
            replaced = later if mode == "full" else [key for key in _keys(run, app, name) if key in later]
            if replaced:
                where = f"{name} {replaced[0]}".strip()
                message = f"{row.commit}: a later run has published {where}: {again}"
                raise InstanceRefused("E-STATE", message)

    def _drop_older(self, transaction: EngineTransaction, run: SimulatedRun, app: App, commit: str) -> None:
        """Drop what this publish, or withheld publish, takes the place of."""
        program = app.programs.get(run.launch.program)
        gone = [
            row.commit
            for row in transaction.due_records(WITHHELD_PUBLISHES, None, MOST)
            if is_work_before(row.commit, commit)
            or (program is not None and self._reads_again(row.commit, run, program))
        ]
        transaction.drop_records(WITHHELD_PUBLISHES, gone)

    def _reads_again(self, commit: str, run: SimulatedRun, program: Program) -> bool:
        """Return whether a run of an incremental program has read the rows of a withheld publish again."""
        before = self._runs.get(commit)
        if not program.incremental or before is None or before.program != run.program:
            return False
        keys, others = {*run.launch.partitions}, {*before.launch.partitions}
        return not (keys and others) or not keys.isdisjoint(others)


def withheld_of(reader: EngineReader, ref: str, key: str | None) -> list[tuple[Job, WithheldPublish]]:
    """Return the withheld publishes of a schedule ("app/name"), oldest first.

    Args:
        key: of the job, or the scheduled time of the instance; None for any.
    """
    rows = sorted(reader.due_records(WITHHELD_PUBLISHES, None, MOST), key=lambda row: row.token)
    jobs = {job.id: job for job in reader.jobs(ids=[row.job for row in rows])} if rows else {}
    found = [(jobs[row.job], row) for row in rows if row.job in jobs]
    return [(job, row) for job, row in found if job.schedule == ref and key in (None, job.key)]


def _row(commit: str, run: SimulatedRun, app: App) -> WithheldPublish:
    datasets = tuple(f"{app.name}/{name}" for name in _writes(run, app))
    verdicts = tuple(
        CheckVerdict(
            dataset=dataset, name=CHECK, kind="rows", severity="block", passed=False, found="ends: withheld"
        )
        for dataset in datasets
    )
    return WithheldPublish(
        commit=commit,
        token=run.number,
        datasets=datasets,
        verdicts=verdicts,
        at=run.ends_at,
        job=run.job,
    )


def _writes(run: SimulatedRun, app: App) -> Sequence[str]:
    program = app.programs.get(run.launch.program)
    return () if program is None else program.writes


def _keys(run: SimulatedRun, app: App, name: str) -> Sequence[str]:
    dataset: Dataset = app.datasets[name]
    return ("",) if dataset.partitions is None else run.launch.partitions
