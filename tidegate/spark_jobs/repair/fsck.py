"""Looks for everything about publishes that does not stand as it should, and says what helps.

It changes nothing. What it asks: can every record of the store be read and every unfinished step be
told; is anybody dead; is anything staged for nobody; is each table what the store says was
published; do the watermarks agree with what the tables' own snapshots say of them. A publish that
goes on beside it can be seen half-way, so a finding about one is looked at twice before it is told.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.model import App, Program
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.commit.recovery import is_blocked
from tidegate.spark_jobs.commit.step import CommitStep, Verdict, Verified, unknown
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.errors import SparkJobError
from tidegate.spark_jobs.publication.formats import format_of
from tidegate.spark_jobs.repair.orphans import find_orphans

COMMITS_COMPARED = 20
"""So many of a table's newest commits are looked up in the store."""


class Finding(Value, kw_only=True):
    """Something that is wrong.

    Attributes:
        kind: in a word or two, for example "orphaned staging".
        where: a commit, a dataset, a folder.
        what: what was seen.
        remedy: what to do about it.
        cleanable: `fsck --clean` removes it.
    """

    kind: str
    where: str
    what: str
    remedy: str = ""
    cleanable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Examined:
    """What is looked at: a project's apps, its tables and its store."""

    apps: Sequence[App]
    warehouse: Warehouse
    store: CommitStepStore
    context: CommitContext
    now: datetime

    @property
    def refs(self) -> tuple[DatasetRef, ...]:
        """The datasets that programs write, each once."""
        found = (dataset_ref(a.name, a.datasets[n]) for a in self.apps for p in a.programs.values()
                 for n in p.writes)  # fmt: skip
        return tuple({ref.id: ref for ref in found}.values())


def fsck(examined: Examined, torn: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Everything that is wrong, in the order in which it is asked.

    Args:
        torn: ids of the store's records whose checksum does not fit.
    """
    asked: tuple[Callable[[Examined], Iterator[Finding]], ...] = (
        _sequences,
        _attempts,
        _staging,
        _tables,
        _watermarks,
    )
    found = [
        Finding(
            kind="torn record",
            where=commit,
            what="its checksum does not fit: it was never committed, or the database was damaged",
            remedy="the job's next attempt replaces it; if it was finished before, restore the database",
        )
        for commit in torn
    ]
    for ask in asked:
        found += ask(examined)
    return tuple(found)


def look(step: CommitStep, context: CommitContext) -> Verified:
    """What a step says of itself; that it cannot be asked is an answer too."""
    try:
        return step.verify(context)
    except (SparkJobError, OSError, msgspec.MsgspecError) as error:
        return unknown(f"it cannot be looked at: {error}")


def _sequences(examined: Examined) -> Iterator[Finding]:
    store = examined.store
    for commit in store.list_unfinished():
        body, state = store.get(commit), store.recovery_state(commit)
        if body is None or state is None:
            continue
        show = f"tidegate commits show {commit}"
        try:
            sequence = read_sequence(commit, body)
        except SparkJobError as error:
            yield Finding(kind="unreadable sequence", where=commit, what=error.message, remedy=error.hint)
            continue
        written = ", ".join(sequence.datasets)
        if is_blocked(state):
            said = f"{written}: {state.failures} failed tries; {state.error}"
            yield Finding(kind="blocked", where=commit, what=said, remedy=show)
        for number, step in enumerate(sequence.steps, start=1):
            answer = look(step, examined.context)
            if answer.verdict is Verdict.UNKNOWN and store.exists(commit):
                where = f"{commit}, step {number} ({step.describe()})"
                yield Finding(kind="step that cannot tell", where=where, what=answer.seen, remedy=show)


def _attempts(examined: Examined) -> Iterator[Finding]:
    for attempt in examined.store.attempts():
        if attempt.until <= examined.now:
            yield Finding(
                kind="dead run",
                where=f"commit {attempt.commit}, token {attempt.token}",
                what=f"its lease ran out at {attempt.until:%Y-%m-%d %H:%M:%S}Z, before it published anything",
                remedy="tidegate commits fsck --clean",
                cleanable=True,
            )


def _staging(examined: Examined) -> Iterator[Finding]:
    context = examined.context
    try:
        orphans = find_orphans(examined.refs, examined.warehouse, examined.store, context.spark)
    except (SparkJobError, OSError) as error:
        yield Finding(kind="staging", where=str(examined.warehouse.path), what=str(error))
        return
    for one in orphans:
        yield Finding(
            kind="orphaned staging",
            where=one.place,
            what=f"staged for {one.dataset} under token {one.token}, by a run that can publish no more",
            remedy="tidegate commits fsck --clean",
            cleanable=True,
        )


def _tables(examined: Examined) -> Iterator[Finding]:
    for ref in examined.refs:
        try:
            report = format_of(ref).report(ref, examined.warehouse, examined.context.spark)
        except (SparkJobError, OSError, msgspec.MsgspecError) as error:
            yield Finding(kind="table", where=ref.id, what=f"it cannot be read: {error}")
            continue
        for missing in report.missing:
            yield Finding(
                kind="table",
                where=f"{ref.id} {missing.key}".strip(),
                what=missing.what,
                remedy="restore the folder, or compute the partition anew",
            )
        for commit in report.commits[-COMMITS_COMPARED:]:
            if not _is_known(examined.store, commit):
                yield Finding(
                    kind="table",
                    where=ref.id,
                    what=f"commit {commit} has published into it, and the store does not know it",
                    remedy="let one store alone publish into a table; if the store was lost, this goes by",
                )


def _is_known(store: CommitStepStore, commit: str) -> bool:
    # First the unfinished: what is finished in between is found by the second look.
    return store.exists(commit) or store.result(commit) is not None or store.was_abandoned(commit)


def _watermarks(examined: Examined) -> Iterator[Finding]:
    for app in examined.apps:
        for program in app.programs.values():
            if program.incremental:
                yield from _watermarks_of(examined, app, program)


def _watermarks_of(examined: Examined, app: App, program: Program) -> Iterator[Finding]:
    """Where a snapshot says that its commit has read up to somewhere else than the watermark it has set."""
    told: dict[str, Mapping[str, Any]] = {}
    for name in program.writes:
        ref = dataset_ref(app.name, app.datasets[name])
        told |= format_of(ref).read_positions(ref, examined.context.spark)
    consumer = f"{app.name}/{program.name}"
    for name in program.incremental:
        source = f"{app.name}/{name}"
        for part, mark in sorted(examined.store.watermarks(consumer, source).items()):
            read = told.get(mark.commit, {}).get(source)
            # Of many parts a snapshot tells only a digest.
            if isinstance(read, Mapping) and read.get(part, mark.position) != mark.position:
                yield Finding(
                    kind="watermark",
                    where=f"{consumer} in {source} {part}".strip(),
                    what=f"it stands at {mark.position}, but the snapshot of commit {mark.commit} says that"
                    f" it has read up to {read.get(part)}",
                    remedy=f"compare them, and set it with: tidegate watermarks reset {consumer} {source}",
                )
