"""Publishes what is withheld, if its rows are still what was judged; or gives it up.

    kept? ─► recover ─► still as judged? ─► begin: a new token ─► put ─► finish, as any other sequence
      │                      │                                     │
      └─ gone: refused       └─ refused, nothing is changed        └─ another was put meanwhile: look again

The put takes a new token, since the attempt that has staged the rows is closed. The rows keep the token under
which they were staged: it says what their run has read, so a run that began after it, and publishes while a
release works, is not replaced by older rows. What was put since is asked of the store, and looked at again in
the transaction of the put; what other writers have changed is looked at here, and by the step itself.
"""

from collections.abc import Iterator, Mapping

import msgspec

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import PutCommit, Release, WithheldCommit
from tidegate.domain.nearest_key import read_key
from tidegate.domain.part_name import name_of
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK, Clock
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import finish, read_sequence
from tidegate.spark_jobs.commit.lease import AttemptLease, fenced
from tidegate.spark_jobs.commit.outputs import SequenceOutput, outputs_in
from tidegate.spark_jobs.commit.publish import moves_of
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.sequence import CommitSequence, decode_result, encode_sequence
from tidegate.spark_jobs.commit.state import Abandoned, New, Parts, Published, Unfinished, look_up
from tidegate.spark_jobs.commit.step import Effect, Verdict
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.errors import CommitConflict, SparkJobError, WithheldRefused
from tidegate.spark_jobs.publication.formats import format_of
from tidegate.spark_jobs.publication.table import largest_token, prune_table, states_of

TRIES = 10
"""How many times in a row another commit of the same datasets may be put before a release is refused."""


def release_withheld(
    commit: str,
    store: CommitStepStore,
    warehouse: Warehouse,
    context: CommitContext,
    refs: Mapping[str, DatasetRef],
    clock: Clock = SYSTEM_CLOCK,
) -> Parts:
    """Publish a withheld commit, and return its partitions.

    Args:
        store: writes the entry of who does it, in the transaction of the put.
        refs: the deployed datasets, by "app/dataset".

    Raises:
        WithheldRefused: it is not withheld any more, or its rows could be other ones than were judged.
            Nothing is changed; only if others write into its tables in the very moment, it is withdrawn.
        CommitUnknown, CommitFailed, CommitBusy: it is put, and the recovery finishes it.
    """
    for _ in range(TRIES):
        kept = _kept(commit, store)
        sequence = read_sequence(commit, kept.body)
        for because in _declared_otherwise(outputs_in(sequence), refs):
            raise _refused(commit, because)
        mine = {one.dataset: refs[one.dataset] for one in outputs_in(sequence)}
        tables, later = _look(sequence, kept, mine, warehouse, store, context, clock)
        with AttemptLease(
            store, commit, sequence.datasets, at_least=largest_token(tables), clock=clock
        ) as token:
            released = msgspec.structs.replace(sequence, token=token, staged=kept.token)
            answer = store.put_withheld(
                commit, released.datasets, token, encode_sequence(released), moves_of(released), later
            )
            if answer == "stored":
                return _finished(released, mine, warehouse, store, context, clock)
        if answer != "again":
            raise _not_put(commit, answer, store)
    raise _refused(commit, f"other commits of its datasets were put first {TRIES} times in a row")


def abandon_withheld(
    commit: str,
    store: CommitStepStore,
    warehouse: Warehouse,
    context: CommitContext,
    refs: Mapping[str, DatasetRef],
) -> None:
    """Abandon a withheld commit. The next attempt of its work has the same id.

    Args:
        refs: the deployed datasets, by "app/dataset", whose staging is removed now. The recovery removes what
            is left.

    Raises:
        WithheldRefused: it is not withheld any more.
        OSError: its staging could not be removed now.
    """
    kept = _kept(commit, store)
    if not store.abandon_withheld(commit):
        raise _gone(commit, store)
    for ref in (refs[name] for name in kept.datasets if name in refs):
        format_of(ref).discard(ref, warehouse, context.spark, commit=commit, token=kept.token)


def _look(
    sequence: CommitSequence,
    kept: WithheldCommit,
    refs: Mapping[str, DatasetRef],
    warehouse: Warehouse,
    store: CommitStepStore,
    context: CommitContext,
    clock: Clock,
) -> tuple[Mapping[str, TableState], list[str]]:
    """Return the states of the tables, and the commits that were put since.

    Raises:
        WithheldRefused: the rows could be other ones than were judged, or that cannot be known.
    """
    try:
        # As a run that writes these datasets would: what was promised before comes first.
        recover(sequence.datasets, store, context, clock)
        later = store.put_after(kept.datasets, kept.token)
        for because in _changed_since(sequence, refs, later, warehouse, store, context):
            raise _refused(sequence.id, because)
        tables = states_of(refs.values(), warehouse, store, context.spark, sequence.id)
        return tables, [each.commit for each in later]
    except WithheldRefused:
        raise
    except SparkJobError as error:
        raise _not_now(sequence.id, error.message, error.hint) from error
    except OSError as error:
        raise _not_now(sequence.id, str(error), "try again") from error


def _finished(
    sequence: CommitSequence,
    refs: Mapping[str, DatasetRef],
    warehouse: Warehouse,
    store: CommitStepStore,
    context: CommitContext,
    clock: Clock,
) -> Parts:
    try:
        parts = finish(sequence, store, context, clock)
    except CommitConflict as conflict:
        raise WithheldRefused(
            f"commit {sequence.id} was withdrawn as it was released: {conflict.message}",
            "nothing was published; run the job again",
        ) from conflict
    for ref in refs.values():
        prune_table(ref, warehouse, store)
    return parts


def _kept(commit: str, store: CommitStepStore) -> WithheldCommit:
    kept = store.withheld(commit)
    if kept is None:
        raise _gone(commit, store)
    return kept


# --- why it cannot be released ----------------------------------------------------------


def _declared_otherwise(outputs: tuple[SequenceOutput, ...], refs: Mapping[str, DatasetRef]) -> Iterator[str]:
    """Yield what a deployment has changed of the datasets since the rows were staged."""
    for one in outputs:
        ref = refs.get(one.dataset)
        if ref is None:
            yield f"{one.dataset} is not deployed any more"
            continue
        for part in one.parts:
            has = part.key == "" if ref.scheme is None else read_key(ref.scheme, part.key) == part.key
            if not has:
                which = part.key or "the whole table"
                yield f"{one.dataset} has other partitions now, and {which} is none of them"
                break


def _changed_since(
    sequence: CommitSequence,
    refs: Mapping[str, DatasetRef],
    later: tuple[PutCommit, ...],
    warehouse: Warehouse,
    store: CommitStepStore,
    context: CommitContext,
) -> Iterator[str]:
    """Yield what others have changed since the rows were staged; the cheap questions come first."""
    outputs = outputs_in(sequence)
    for one in outputs:
        yield from _overwritten(one, later)
    for step in sequence.steps:
        if isinstance(step, SetWatermark):
            yield from _moved(step, store)
    for one in outputs:
        ref = refs[one.dataset]
        because = format_of(ref).unfit(one.step, ref, warehouse, context.spark)
        yield from () if because is None else (because,)
    for step in sequence.steps:
        if step.effect in (Effect.PREPARES, Effect.PUBLISHES):
            found = step.verify(context)
            if found.verdict is not Verdict.NOT_DONE:
                yield found.reason or f"this is done already: {step.describe()}"
    for one in outputs:
        conflict = one.step.conflict(context)
        yield from () if conflict is None else (conflict.message,)


def _overwritten(output: SequenceOutput, later: tuple[PutCommit, ...]) -> Iterator[str]:
    """Yield each later commit with a partition that the output would replace."""
    mode = getattr(output.step, "mode", "merge")
    if mode not in ("overwrite_partitions", "full"):
        # An append replaces nothing, and the keys of a merge are compared by its step.
        return
    replaced = {part.key for part in output.parts}
    for put in later:
        if output.dataset not in put.datasets:
            continue
        found = (
            read_sequence(put.commit, put.body).result if put.result is None else decode_result(put.result)
        )
        keys = [part.key for part in found if part.dataset == name_of(output.dataset)]
        faster = [key for key in keys if mode == "full" or key in replaced]
        if faster:
            where = f", partition {faster[0]}," if faster[0] else ""
            yield f"commit {put.commit} has published {output.dataset}{where} since"


def _moved(step: SetWatermark, store: CommitStepStore) -> Iterator[str]:
    mark = store.watermarks(step.consumer, step.source, step.part).get(step.part)
    if (0 if mark is None else mark.number) != step.number - 1:
        by = "a person has reset" if mark is None else f"commit {mark.commit} has moved"
        part = f", part {step.part}" if step.part else ""
        yield f"{by} the watermark of {step.consumer} in {step.source}{part} since"


def _not_put(commit: str, answer: Release, store: CommitStepStore) -> SparkJobError:
    match answer:
        case "over":
            return _refused(commit, "the instance that it is the work of was paused, or is run again")
        case "moved":
            return _refused(commit, "another commit has moved, or is about to move, a watermark of it")
        case "fenced":
            return fenced(commit)
        case _:
            return _gone(commit, store)


def _gone(commit: str, store: CommitStepStore) -> WithheldRefused:
    match look_up(commit, store):
        case Unfinished():
            state = "it was released, or the next attempt of its work has put it, and it is being finished"
        case Published():
            state = "it was released, or the next attempt of its work has published it"
        case Abandoned():
            state = "it was put, and abandoned"
        case New():
            state = "it was abandoned or replaced meanwhile, or never withheld"
    return WithheldRefused(
        f"commit {commit} is not withheld: {state}", "list them with: tidegate commits list"
    )


def _refused(commit: str, because: str) -> WithheldRefused:
    return WithheldRefused(
        f"commit {commit} cannot be released, since its rows are not what was judged: {because}",
        f"nothing was changed; abandon it with `tidegate commits abandon {commit}`, and run the job again",
    )


def _not_now(commit: str, message: str, hint: str) -> WithheldRefused:
    return WithheldRefused(f"commit {commit} cannot be released now: {message}", hint)
