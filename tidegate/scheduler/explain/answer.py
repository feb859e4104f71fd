"""The answer: what a job waits for or came to, as two sentences, each with its moment.

    says  ──► what is missing now                       "Waits for 1 more new partition of raw"
    then  ──► what happens if nothing else comes        "Without that, its trigger is met" at an instant

They are made of the explanation that `tidegate why` prints, so the two cannot disagree. An instant is kept
beside its sentence: each face writes it in its own way. Pure.
"""

from datetime import datetime

from tidegate.domain.value import Value
from tidegate.domain.wording import capitalized, plural
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.unblock import Missing, missing_of
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason

TIME = "time"
"""What is missing where time alone is."""

LOOKED_AT = "It is looked at next"

CAUSED_BY = "Caused by: "
"""How the causes of an error begin, the deepest one last."""


class Sentence(Value, kw_only=True):
    """A sentence, without its end.

    Attributes:
        at: the instant that ends it; None for a sentence that is whole.
    """

    text: str
    at: datetime | None = None


class Answer(Value, kw_only=True):
    """What an explanation comes to.

    Attributes:
        then: what happens otherwise; None where nothing does.
        code: the reason of the job; None without one.
        error: of a failed job, what its run has said beside the first sentence; "" for nothing more.
    """

    says: Sentence
    then: Sentence | None = None
    code: Reason | None = None
    error: str = ""


def answer(explanation: Explanation) -> Answer:
    """Return the answer that an explanation gives."""
    job = explanation.job
    if job is None:
        return Answer(says=_sentence(explanation.headline), then=_next_job(explanation))
    if job.state is JobState.FAILED:
        return _failed(job)
    if not job.waiting or explanation.trigger is None:
        return Answer(says=_outcome(explanation, job), code=job.reason)
    return Answer(says=_waits(explanation, job), then=_otherwise(explanation), code=job.reason)


def deepest_cause(error: str) -> str:
    """Return the line of an error that says what went wrong first: the last cause, or else its first line."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    causes = [line.removeprefix(CAUSED_BY) for line in lines if line.startswith(CAUSED_BY)]
    return (causes or lines[:1] or [""])[-1]


def _outcome(explanation: Explanation, job: Job) -> Sentence:
    """Return what a job that does not wait came to, or is doing."""
    because = "" if job.reason is None else f": {job.reason.summary}"
    match job.state:
        case JobState.LAUNCHED:
            # The end of the headline says how far a run is that does not work yet.
            how_far = explanation.headline.rpartition("; ")[2]
            waits = how_far.startswith(("queued", "starting"))
            return Sentence(
                text=f"Its run is {how_far}, since" if waits else "It runs since", at=job.launched_at
            )
        case JobState.SUCCEEDED:
            nothing = explanation.headline.endswith("it published 0 rows")
            return Sentence(
                text=f"It succeeded{', and published 0 rows' if nothing else ''}", at=job.ended_at
            )
        case JobState.DISCARDED:
            return Sentence(text=f"It was discarded{because}", at=job.ended_at)
        case JobState.PAUSED:
            return Sentence(text="It is paused until a person resumes it")
        case _:
            return _sentence(explanation.headline.partition(": ")[2] or explanation.headline)


def _failed(job: Job) -> Answer:
    cause = deepest_cause(job.detail)
    summary = "" if job.reason is None else job.reason.summary
    said = Sentence(text=cause or capitalized(summary) or "It failed")
    return Answer(says=said, code=job.reason, error="" if job.detail.strip() == cause else job.detail)


def _next_job(explanation: Explanation) -> Sentence | None:
    """Return when time alone opens the next job of a schedule without one."""
    if explanation.next_check is None:
        return None
    return Sentence(text=LOOKED_AT, at=explanation.next_check)


def _waits(explanation: Explanation, job: Job) -> Sentence:
    if explanation.roots:
        root = explanation.roots[0]
        of = "" if root.job == job.id else f"Waits for {root.task} of {root.key}: "
        return Sentence(text=capitalized(f"{of}{root.what}"), at=root.by)
    unmet = [each for each in explanation.constraints if not each.met]
    of_trigger = explanation.missing[: len(explanation.missing) - len(unmet)]
    if of_trigger:
        # That time alone may be enough is said by what happens otherwise.
        return _of_trigger(tuple(each for each in of_trigger if each.by is None) or of_trigger)
    if not unmet:
        return _sentence(explanation.headline)
    first = missing_of(unmet[0])
    others = "" if len(unmet) == 1 else f", and {plural(len(unmet) - 1, 'more condition')}"
    if unmet[0].kind == "window":
        return Sentence(text=f"Ready{others}. It starts when the window opens", at=first.by)
    if first.what == TIME:
        because = job.reason.summary if job.reason is not None else f"its {first.kind} is not over"
        return Sentence(text=f"Ready, but {because}{others}. It goes on", at=first.by)
    return Sentence(text=f"Ready, but it waits for {first.what}{others}", at=first.by)


def _of_trigger(missing: tuple[Missing, ...]) -> Sentence:
    first = missing[0]
    if len(missing) > 1:
        more = plural(len(missing) - 1, "more condition")
        return Sentence(text=f"Waits for {first.what}, and {more}")
    if first.what.partition(",")[0] == TIME:
        return Sentence(text="Waits for its time", at=first.by)
    return Sentence(text=f"Waits for {first.what}")


def _otherwise(explanation: Explanation) -> Sentence | None:
    trigger = explanation.trigger
    if trigger is not None and not trigger.met and trigger.holds_at is not None:
        return Sentence(text="Without that, its trigger is met", at=trigger.holds_at)
    if explanation.discarded_at is not None:
        return Sentence(text="If that does not come, it is discarded", at=explanation.discarded_at)
    if explanation.can_run_at is not None and explanation.can_run_at > explanation.at:
        return Sentence(text="It can start at the earliest", at=explanation.can_run_at)
    return Sentence(text="It waits without end") if explanation.never_discarded else None


def _sentence(text: str) -> Sentence:
    return Sentence(text=capitalized(text))
