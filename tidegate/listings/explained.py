"""Why one job waits, or how it ended, as `tidegate why --format json` and the server show it."""

import msgspec

from tidegate.listings.jobs import Job
from tidegate.listings.queries.jobs import public_job
from tidegate.listings.shown_job import JournalLine
from tidegate.scheduler.explain.explanation import Explained, Explanation
from tidegate.scheduler.model import job as engine
from tidegate.scheduler.store.engine_reader import EngineReader


class ShownExplanation(Explained, kw_only=True):
    """Why one job has not run, or how it ended.

    Attributes:
        job: null for a schedule without a waiting job; then the verdicts are those of an empty job.
        failed: the newest job of a schedule without a waiting job, if it failed.
        history: the newest entries of the journal on the job, oldest first.
        run_address: of the page of its run; "" without one.
        scheduler: lines on whether the scheduler is alive; none for the past.
    """

    job: Job | None
    failed: Job | None
    history: tuple[JournalLine, ...]
    run_address: str = ""
    scheduler: tuple[str, ...] = ()


def shown_explanation(explanation: Explanation, reader: EngineReader) -> ShownExplanation:
    """Return an explanation; where its run is shown and what is alive, other servers are asked later.

    Args:
        reader: of the present, which knows how far runs are.
    """
    job, failed = explanation.job, explanation.failed
    return ShownExplanation(
        **{name: getattr(explanation, name) for name in Explained.__struct_fields__},
        job=None if job is None else _public(job, explanation, reader),
        failed=None if failed is None else public_job(failed, reader),
        history=msgspec.convert(explanation.history, tuple[JournalLine, ...], from_attributes=True),
    )


def _public(job: engine.Job, explanation: Explanation, reader: EngineReader) -> Job:
    """Return the explained job; when it waits, the explanation knows its moments."""
    found = public_job(job, reader)
    if not job.waiting or job.maintenance is not None:
        return found
    ends = explanation.discarded_at
    return msgspec.structs.replace(found, next_check_at=explanation.next_check, discarded_at=ends)
