"""Withdraws a sequence that cannot be published, because others have changed what it replaces.

    CommitConflict ─► may the work be repeated? ─no─► unknown: a person decides
                            │ yes
                            ▼
      every table refuses the commit ─► the store forgets the sequence ─► its staging is removed
                                                        └─► the next attempt does the work again as "c~2"

The order makes it safe: the sequence remains in the store until no process, not even one that only sleeps,
can publish more of it. A process that dies in between leaves a sequence whose table refuses it; the next one
that tries to finish it goes on here. Appends come last in a sequence (`sequence_of`), so what is
published already is replaced when the work is repeated.
"""

import logging

from tidegate.domain.commit_store import CommitStepStore
from tidegate.spark_jobs.commit.clock import Clock
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.commit.step import CommitStep, Effect, PublishStep, RefusableStep, Verdict
from tidegate.spark_jobs.errors import CommitConflict, CommitUnknown

log = logging.getLogger(__name__)


def withdraw(
    sequence: CommitSequence,
    store: CommitStepStore,
    context: CommitContext,
    owner: str,
    conflict: CommitConflict,
    clock: Clock,
) -> bool:
    """Make the tables refuse the rest of a sequence, and remove it from the store.

    Return False when another process has published all of it meanwhile; the sequence is kept then.

    Raises:
        CommitUnknown: a part of it is published and would be published twice. Nothing was changed.
        OSError: a table could not be made to refuse the commit. The sequence is kept.
    """
    # First, while nothing has changed: a person may decide otherwise.
    _check_repeatable(sequence, context, conflict)
    for step in sequence.steps:
        if isinstance(step, RefusableStep):
            step.refuse(context)
    # Another process may have swapped the last table between the conflict and its refusal: then the sequence
    # can be finished, and it would be wrong to do the work again.
    if all(_is_done(step, context) for step in _publishing(sequence)):
        return False
    # `abandon` takes no sequence that has an owner, not even from the owner.
    store.release(sequence.id, owner)
    if store.abandon(sequence.id, f"withdrawn: {conflict.message}", clock.now()):
        log.warning("commit %s was withdrawn: %s", sequence.id, conflict.message)
        # Only by who has removed it: an owner that has taken it in between comes to the refusals by itself.
        _clean(sequence, context)
    return True


def _check_repeatable(sequence: CommitSequence, context: CommitContext, conflict: CommitConflict) -> None:
    twice = [
        step.describe()
        for step in _publishing(sequence)
        if isinstance(step, PublishStep) and not step.repeatable and _is_done(step, context)
    ]
    if twice:
        raise CommitUnknown(
            f"{conflict.message}; and the work cannot be repeated, because this is published:"
            f" {', '.join(twice)}",
            f"correct that dataset, discard the rest with `tidegate commits abandon {sequence.id}`,"
            " and run the program again",
        ) from conflict


def _clean(sequence: CommitSequence, context: CommitContext) -> None:
    """Remove the staging; `fsck` finds what cannot be removed now."""
    for step in sequence.steps:
        if step.effect is Effect.CLEANS:
            try:
                step.execute(context)
            except OSError as error:
                log.warning("left to `tidegate commits fsck --clean`: %s", error)


def _publishing(sequence: CommitSequence) -> list[CommitStep]:
    return [step for step in sequence.steps if step.effect is Effect.PUBLISHES]


def _is_done(step: CommitStep, context: CommitContext) -> bool:
    return step.verify(context).verdict is Verdict.DONE
