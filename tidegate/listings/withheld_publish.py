"""A withheld publish in full: whose work it is, what each check has found, and keys of rows that break it."""

from datetime import datetime

from tidegate.domain.commits import CheckVerdict
from tidegate.domain.value import Value
from tidegate.scheduler.explain.withheld import withheld_output
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.engine_rows import record


class ShownWithheld(Value, kw_only=True):
    """A publish that failed checks withhold: readers see nothing of it until a person releases it.

    Attributes:
        commit: its id.
        job: whose work it is; "" for a run that is of no job.
        schedule: of that job, "app/name"; "" without one.
        key: of that job.
        token: fencing token of the run that has staged its rows.
        datasets: that it would write, "app/name".
        since: when it was withheld.
        verdicts: of all checks of its outputs: those that block first, then those that warn, then the others.
        text: for people: all of that in one line.
    """

    commit: str
    job: str
    schedule: str
    key: str
    token: int
    datasets: tuple[str, ...]
    since: datetime
    verdicts: tuple[CheckVerdict, ...]
    text: str


def shown_withheld(reader: EngineReader, commit: str) -> ShownWithheld | None:
    """Return a withheld publish; None if the commit is not withheld."""
    found = record(reader, WITHHELD_PUBLISHES, commit=commit)
    if found is None:
        return None
    job: Job | None = next(iter(reader.jobs(ids=(found.job,))), None)
    output = withheld_output(found, job)
    return ShownWithheld(
        commit=commit,
        job=output.job,
        schedule=output.schedule,
        key=output.key,
        token=found.token,
        datasets=found.datasets,
        since=found.at,
        verdicts=tuple(sorted(found.verdicts, key=lambda each: (not each.blocks, each.passed))),
        text=output.text,
    )
