"""Publishes the staged output of a run: puts its commit sequence and finishes it.

    put ──► stored ──► finish              from here on the publish will be finished
     ├────► known ───► finish that one     another attempt of the same commit was first
     ├────► withheld ► an error            a check failed: the rows stay staged until a person decides
     └────► fenced, over, moved ──► an error; nothing is published, now or later

`finish` executes the steps of a sequence; `recovery` finishes the sequences that dead processes left.
Neither needs Spark unless a step does.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import CheckVerdict, Put, WatermarkMove
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK, Clock
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import abandoned, finish, read_sequence
from tidegate.spark_jobs.commit.lease import fenced
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_sequence
from tidegate.spark_jobs.commit.state import (
    Abandoned,
    New,
    Parts,
    Published,
    Unfinished,
    commits_of,
    is_put,
    is_withheld,
    look_up,
)
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.errors import CommitConflict, PublishWithheld, RunOver

log = logging.getLogger(__name__)


def publish(
    sequence: CommitSequence,
    store: CommitStepStore,
    context: CommitContext,
    clock: Clock = SYSTEM_CLOCK,
    verdicts: Sequence[CheckVerdict] = (),
) -> Parts:
    """Publish the staged output of a run.

    Return the result of the sequence that was published under this id: this one, or that of an
    earlier attempt of the same commit.

    Args:
        verdicts: of all checks of the outputs.

    Raises:
        PublishWithheld: a check failed. Nothing is published until a person releases it.
        CommitConflict: another run has moved, or is about to move, a watermark that this one has read.
            Nothing of this sequence is published, now or later.
        CommitFenced: the lease of this attempt expired. Nothing is published, now or later.
        RunOver: the job of this run was stopped, or is run again. Nothing is published, now or later.
        CommitUnknown, CommitFailed, CommitBusy: see `finish`.
    """
    withheld = any(each.blocks for each in verdicts)
    match _put(sequence, store, verdicts, clock.now() if verdicts else None):
        case "stored" if withheld:
            raise PublishWithheld(sequence.id, verdicts)
        case "stored":
            return finish(sequence, store, context, clock)
        case "fenced":
            raise fenced(sequence.id)
        case "over":
            raise _over(sequence)
        case "moved":
            raise _conflict(sequence)
        case "known":
            log.warning("another attempt has put commit %s; this one publishes nothing", sequence.id)
            state = state_of(sequence.id, store, context, clock)
            # Under a later id it was done again, after an abandonment, without what this attempt has staged.
            if isinstance(state, Published) and state.commit == sequence.id:
                return state.parts
            raise abandoned(sequence.id)


def state_of(
    commit: str, store: CommitStepStore, context: CommitContext, clock: Clock = SYSTEM_CLOCK
) -> New | Published:
    """Return what has become of the work of a commit, having finished what was put of it.

    Whether an unfinished commit is published its tables have to be asked: its steps do that in `context`. Ask
    at the beginning of an attempt, and again only where another attempt may have been faster.

    Raises:
        CommitUnknown, CommitFailed, CommitBusy, CommitConflict: see `finish`.
    """
    before: dict[str, Parts] = {}
    for current in commits_of(commit):
        match look_up(current, store):
            case Abandoned() as state:
                # The work goes on under the next id, which must not publish these outputs once more.
                before |= state.outputs
            case Unfinished() as state:
                # A put is a promise: a process that needs the answer keeps it first (docs/exactly-once.md).
                parts = finish(read_sequence(current, state.body), store, context, clock)
                return Published(commit=current, parts=parts, before=before)
            case New() | Published() as state:
                return replace(state, before=before)
            case state:
                assert_never(state)
    raise AssertionError("the ids of a work do not end")


def moves_of(sequence: CommitSequence) -> list[WatermarkMove]:
    """Return the moves of watermarks, which the store compares with its own."""
    return [
        (step.consumer, step.source, step.part, step.number)
        for step in sequence.steps
        if isinstance(step, SetWatermark)
    ]


def _put(
    sequence: CommitSequence,
    store: CommitStepStore,
    verdicts: Sequence[CheckVerdict],
    judged_at: datetime | None,
) -> Put:
    """Put a sequence, or withhold it.

    Args:
        judged_at: now, if there are checks.
    """
    body, moves = encode_sequence(sequence), moves_of(sequence)
    try:
        if judged_at is None or not any(each.blocks for each in verdicts):
            return store.put(sequence.id, sequence.datasets, sequence.token, body, moves, verdicts, judged_at)
        return store.withhold(
            sequence.id, sequence.datasets, sequence.token, body, moves, verdicts, judged_at
        )
    except Exception:
        # Perhaps only the response was lost. Once the attempt is closed, the content of the store is final.
        store.end(sequence.token)
        if is_withheld(sequence.id, sequence.token, store):
            return "stored"
        if is_put(sequence.id, store):
            log.warning("commit %s was stored, although the store's response was lost", sequence.id)
            return "known"
        raise


def _over(sequence: CommitSequence) -> RunOver:
    return RunOver(
        f"commit {sequence.id}: the instance that this run works for was paused or is run again, so its"
        " attempt is over",
        "nothing was published; if it is paused, resume it",
    )


def _conflict(sequence: CommitSequence) -> CommitConflict:
    steps = [step for step in sequence.steps if isinstance(step, SetWatermark)]
    read = sorted({f"{step.source}, as {step.consumer}" for step in steps})
    return CommitConflict(
        f"commit {sequence.id}: another run has read the new rows of {'; '.join(read)} meanwhile",
        "nothing was published; run it again",
    )
