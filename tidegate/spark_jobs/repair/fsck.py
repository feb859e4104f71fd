"""Finds inconsistencies of publishes and names the remedy for each. Changes nothing.

It checks that every record of the store can be read and every unfinished step verified; that no
attempt is dead and no staging orphaned; that each table holds what the store says was
published; and that the watermarks agree with the snapshots of the tables. A publish that runs
at the same time can be seen half-done, so a finding about one is checked twice before it is reported.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.model import App, Program
from tidegate.domain.part_name import app_of, whole_name
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.commit.recovery import is_blocked
from tidegate.spark_jobs.commit.state import New, Unfinished, look_up
from tidegate.spark_jobs.commit.step import Effect, Verdict, verify_step
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.errors import SparkJobError
from tidegate.spark_jobs.incremental.lost_rows import lost_rows
from tidegate.spark_jobs.publication.formats import format_of
from tidegate.spark_jobs.publication.table import store_behind
from tidegate.spark_jobs.repair.leftovers import is_theirs
from tidegate.spark_jobs.repair.orphans import find_orphans

COMMITS_COMPARED = 20
"""The number of a table's newest commits that are looked up in the store."""


class Finding(Value, kw_only=True):
    """An inconsistency.

    Attributes:
        kind: a word or two, for example "orphaned staging".
        where: a commit, a dataset or a folder.
        what: the problem.
        remedy: what to do about it.
        cleanable: whether `fsck --clean` removes it.
    """

    kind: str
    where: str
    what: str
    remedy: str = ""
    cleanable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Examined:
    """What `fsck` examines: a project's apps, tables and store.

    Attributes:
        others: the apps of other projects in the store, whose commits and watermarks are theirs to examine.
    """

    apps: Sequence[App]
    warehouse: Warehouse
    store: CommitStepStore
    context: CommitContext
    now: datetime
    others: frozenset[str] = frozenset()

    @property
    def refs(self) -> tuple[DatasetRef, ...]:
        """The datasets that programs write, each once."""
        found = (dataset_ref(a.name, a.datasets[n]) for a in self.apps for p in a.programs.values()
                 for n in p.writes)  # fmt: skip
        return tuple({ref.id: ref for ref in found}.values())


def fsck(examined: Examined, torn: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Return all findings, in the order of the checks.

    Args:
        torn: ids of the store's records whose checksum does not match.
    """
    checks: tuple[Callable[[Examined], Iterator[Finding]], ...] = (
        _sequences,
        _withheld,
        _attempts,
        _staging,
        _tables,
        _watermarks,
        _unused_watermarks,
    )
    found = [
        Finding(
            kind="torn record",
            where=commit,
            what="its checksum does not match: it was never committed, or the database is damaged",
            remedy="the job's next attempt replaces it; if it was already finished, restore the database",
        )
        for commit in torn
    ]
    for check in checks:
        found += check(examined)
    return tuple(found)


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
        if is_theirs(sequence.datasets, examined.others):
            continue
        written = ", ".join(sequence.datasets)
        if is_blocked(state):
            what = f"{written}: {state.failures} failed tries; {state.error}"
            yield Finding(kind="blocked", where=commit, what=what, remedy=show)
        for number, step in enumerate(sequence.steps, start=1):
            answer = verify_step(step, examined.context)
            if answer.verdict is Verdict.UNKNOWN and isinstance(look_up(commit, store), Unfinished):
                where = f"{commit}, step {number} ({step.describe()})"
                yield Finding(kind="step that cannot tell", where=where, what=answer.reason, remedy=show)


def _withheld(examined: Examined) -> Iterator[Finding]:
    """Find withheld commits that can never be released, since what they have staged is lost."""
    for kept in examined.store.list_withheld():
        if is_theirs(kept.datasets, examined.others):
            continue
        try:
            steps = read_sequence(kept.commit, kept.body).steps
        except SparkJobError as error:
            yield Finding(kind="withheld", where=kept.commit, what=error.message, remedy=error.hint)
            continue
        for step in (each for each in steps if each.effect in (Effect.PREPARES, Effect.PUBLISHES)):
            answer = verify_step(step, examined.context)
            if answer.verdict is Verdict.UNKNOWN and examined.store.withheld(kept.commit) == kept:
                yield Finding(
                    kind="withheld",
                    where=f"{kept.commit} ({step.describe()})",
                    what=f"it cannot be released: {answer.reason}",
                    remedy=f"tidegate commits abandon {kept.commit}, and run the job again",
                )


def _attempts(examined: Examined) -> Iterator[Finding]:
    for attempt in examined.store.attempts():
        if attempt.until <= examined.now and not is_theirs(attempt.datasets, examined.others):
            yield Finding(
                kind="dead run",
                where=f"commit {attempt.commit}, token {attempt.token}",
                what=f"its lease expired at {attempt.until:%Y-%m-%d %H:%M:%S}Z, before it published anything",
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
            what=f"staged for {one.dataset or 'an unknown dataset'} under token {one.token}, "
            "by a run that can no longer publish",
            remedy="tidegate commits fsck --clean",
            cleanable=True,
        )


def _tables(examined: Examined) -> Iterator[Finding]:
    for ref in examined.refs:
        try:
            token = format_of(ref).state(ref, examined.warehouse, examined.context.spark).token
            report = format_of(ref).report(ref, examined.warehouse, examined.context.spark)
            gone = format_of(ref).withdrawn(
                ref, examined.warehouse, report.commits[-1:], examined.context.spark
            )
        except (SparkJobError, OSError, msgspec.MsgspecError) as error:
            yield _unreadable(ref.id, error)
            continue
        for what in report.strays:
            yield Finding(
                kind="table",
                where=ref.id,
                what=what,
                remedy="move the file away, or restore the lost versions from a backup",
            )
        for missing in report.missing:
            yield Finding(
                kind="table",
                where=f"{ref.id} {missing.key}".strip(),
                what=missing.what,
                remedy="restore it, or compute the partition again",
            )
        for what in gone.values():
            yield Finding(kind="rollback", where=ref.id, what=what, remedy="docs/exactly-once.md, Rollback")
        if report.outdated and not examined.store.list_unfinished(ref.id):
            yield Finding(
                kind="view",
                where=ref.id,
                what=report.outdated,
                remedy="tidegate commits fsck --clean, or the next publish",
                cleanable=True,
            )
        yield from _unknown_commits(examined, ref, report.commits[-COMMITS_COMPARED:], token)


def _unreadable(where: str, error: Exception) -> Finding:
    if isinstance(error, SparkJobError):
        return Finding(
            kind="table", where=where, what=f"it cannot be read: {error.message}", remedy=error.hint
        )
    return Finding(kind="table", where=where, what=f"it cannot be read: {error}")


def _unknown_commits(
    examined: Examined, ref: DatasetRef, commits: Sequence[str], token: int
) -> Iterator[Finding]:
    """Find publishes of which the store knows nothing, and a token that the store has not given."""
    given = examined.store.last_token()
    behind = store_behind(ref, token, given) if token > given else None
    remedy = (
        "publish into a table from one store only; if the store was lost or restored from a backup, compare "
        f"tables and watermarks, and then accept the table with: tidegate commits adopt {ref.id}"
    )
    unknown = [commit for commit in commits if isinstance(look_up(commit, examined.store), New)]
    for commit in unknown:
        yield Finding(
            kind="table",
            where=ref.id,
            what=f"commit {commit} has published into it, but the store has no record of that commit",
            remedy=remedy if behind is None else behind.hint,
        )
    if behind is not None and not unknown:
        yield Finding(kind="store", where=ref.id, what=behind.message, remedy=behind.hint)


def _watermarks(examined: Examined) -> Iterator[Finding]:
    for app in examined.apps:
        for program in app.programs.values():
            if program.incremental:
                try:
                    yield from _watermarks_of(examined, app, program)
                except (SparkJobError, OSError, msgspec.MsgspecError) as error:
                    yield _unreadable(f"the outputs of {app.name}/{program.name}", error)


def _unused_watermarks(examined: Examined) -> Iterator[Finding]:
    """Find watermarks that no deployed program uses: left behind by a rename or a removal."""
    used = {
        (f"{app.name}/{program.name}", source if "/" in source else f"{app.name}/{source}")
        for app in examined.apps
        for program in app.programs.values()
        for source in program.incremental
    }
    for consumer, source in examined.store.followers():
        if (consumer, source) not in used and app_of(consumer) not in examined.others:
            yield Finding(
                kind="unused watermarks",
                where=f"{consumer} in {source}",
                what="no deployed program of this name reads this dataset incrementally",
                remedy="after a rename, deploy the old name again and then the new one with `renamed_from`;"
                f" otherwise: tidegate watermarks forget {consumer} {source}",
            )


def _watermarks_of(examined: Examined, app: App, program: Program) -> Iterator[Finding]:
    """Find watermarks whose rows are gone, or whose commit recorded another position than it has set."""
    consumer = f"{app.name}/{program.name}"
    sources = [whole_name(app.name, name) for name in program.incremental]
    marks = {source: examined.store.watermarks(consumer, source) for source in sources}
    refs = [dataset_ref(app.name, app.datasets[name]) for name in program.writes]
    recorded: dict[str, Mapping[str, Any]] = {}
    for ref in refs:
        recorded |= format_of(ref).read_positions(ref, examined.context.spark)
    for one in lost_rows(
        examined.store, examined.warehouse, examined.context.spark,
        consumer=consumer, sources=sources, outputs=refs,
    ):  # fmt: skip
        yield Finding(kind="watermark", where=one.where, what=one.fact, remedy=one.remedy)
    for source, parts in marks.items():
        for part, mark in sorted(parts.items()):
            read = recorded.get(mark.commit, {}).get(source)
            # For many parts a snapshot holds only a digest.
            if isinstance(read, Mapping) and read.get(part, mark.position) != mark.position:
                yield Finding(
                    kind="watermark",
                    where=f"{consumer} in {source} {part}".strip(),
                    what=f"it is at {mark.position}, but the snapshot of commit {mark.commit} says that"
                    f" the commit has read up to {read.get(part)}",
                    remedy=f"compare them, and set it with: tidegate watermarks reset {consumer} {source}",
                )
