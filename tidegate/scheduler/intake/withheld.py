"""Which publish a failed run has left withheld: its job fails with F-CHECK, and gets no further attempt.

    the row in the store   counts also where the run died before it could note why it fails
    the note of the run    counts also where a person has ended what is withheld before the end was observed

The row of an earlier attempt does not count for a later one that fails otherwise: each attempt has a fencing
token of its own.
"""

from tidegate.domain.value import Value
from tidegate.scheduler.model.job import FINISHED, Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES, WithheldPublish
from tidegate.scheduler.model.work_of_job import is_work_of
from tidegate.scheduler.store.engine_reader import EngineReader


class LeftWithheld(Value, kw_only=True):
    """What the entry of a run's end says of its withheld publish.

    Attributes:
        token: fencing token of the attempt; 0 where only the note of the run is known.
        text: which checks have failed; "" where the run has said so.
    """

    commit: str
    token: int = 0
    text: str = ""


def withheld_by(reader: EngineReader, job: Job, run_id: str) -> LeftWithheld | None:
    """Return the publish that a run of a job has left withheld; None if it has left none."""
    if job.maintenance is not None or job.recovered or job.state in FINISHED:
        return None
    rows = [each for each in reader.records(WITHHELD_PUBLISHES, job=[job.id]) if is_work_of(job, each.commit)]
    if not rows and not job.raised:
        return None
    history = reader.journal(job=job.id, kinds=(EntryKind.RUN, EntryKind.FAILURE))
    newest = max(rows, key=lambda each: each.token, default=None)
    if newest is not None and newest.token not in _tokens_before(history, run_id):
        return LeftWithheld(commit=newest.commit, token=newest.token, text=_text(newest))
    noted = (
        each.data.get("withheld")
        for each in history
        if (each.kind, each.run_id) == (EntryKind.FAILURE, run_id)
    )
    return next((LeftWithheld(commit=commit) for commit in noted if commit), None)


def _tokens_before(history: tuple[Entry, ...], run_id: str) -> frozenset[int]:
    """Return the tokens of what other runs of the job have left withheld."""
    ends = (each.data for each in history if each.kind is EntryKind.RUN and each.run_id != run_id)
    return frozenset(each["withheld"]["token"] for each in ends if "withheld" in each)


def _text(publish: WithheldPublish) -> str:
    """Return which checks withhold a publish and what they have found, in one line."""
    found = "; ".join(f"check {each.name} of {each.dataset}: {each.found}" for each in publish.failed)
    return f"commit {publish.commit} is withheld: {found}"
