"""One commit in full, whatever became of it: as a value for JSON, and as lines for people."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from tidegate.cli.commits.project import CommitsProject
from tidegate.cli.commits.withheld import sample_lines
from tidegate.cli.printing import instant
from tidegate.domain.commits import (
    AbandonedCommit,
    CheckVerdict,
    CommitAttempt,
    OutputRecord,
    RecoveryState,
    WithheldCommit,
)
from tidegate.domain.error import UserError
from tidegate.domain.published import PublishedPartition
from tidegate.domain.value import Value
from tidegate.listings.queries.commits import state_text
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.commits.noted import notes_of
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.commit.sequence import CommitSequence, decode_result
from tidegate.spark_jobs.commit.step import Verdict, verify_step


class ShownStep(Value, kw_only=True):
    """A step of an unfinished commit.

    Attributes:
        reason: why it cannot be verified.
    """

    verdict: Verdict
    step: str
    reason: str


class Unfinished(Value, kw_only=True):
    """The sequence of an unfinished commit.

    Attributes:
        recovery: in some words, what is done about it; "" where nothing is known.
    """

    token: int
    datasets: tuple[str, ...]
    recovery: str
    error: str
    failed_at: datetime | None
    steps: tuple[ShownStep, ...]


class Withheld(Value, kw_only=True):
    """What is withheld under a commit id.

    Attributes:
        since: when it was withheld.
        checks: the verdicts of all checks of its rows, passed or not.
        steps: what a release would do.
    """

    token: int
    datasets: tuple[str, ...]
    since: datetime
    checks: tuple[CheckVerdict, ...]
    steps: tuple[ShownStep, ...]


class ShownCommit(Value, kw_only=True):
    """A commit.

    Attributes:
        withheld: None unless a failed check withholds it.
        unfinished: None unless its sequence is in the store.
        finished: whether its sequence is done.
        published: what a finished one has published.
        abandoned: whether a person abandoned it.
        records: of that; empty once they are no longer kept.
        outputs: what became of single outputs of an abandoned commit.
        attempts: the runs that write it now, or died.
        by_hand: what a person did with it by a command, from the journal.
    """

    commit: str
    withheld: Withheld | None
    unfinished: Unfinished | None
    finished: bool
    published: tuple[PublishedPartition, ...]
    abandoned: bool
    records: tuple[AbandonedCommit, ...]
    outputs: tuple[OutputRecord, ...]
    attempts: tuple[CommitAttempt, ...]
    by_hand: tuple[Entry, ...]


def shown_commit(project: CommitsProject, commit: str, now: datetime) -> ShownCommit:
    """Return all that is known of a commit.

    Raises:
        UserError: nothing is.
    """
    commits = project.commits
    kept, sequence, result = commits.withheld(commit), project.sequence(commit), commits.result(commit)
    found = ShownCommit(
        commit=commit,
        withheld=None if kept is None else _withheld(project, kept),
        unfinished=None if sequence is None else _unfinished(project, sequence, now),
        finished=result is not None,
        published=() if result is None else tuple(decode_result(result)),
        abandoned=commits.was_abandoned(commit),
        records=tuple(one for one in commits.abandoned() if one.commit == commit),
        outputs=tuple(commits.output_records(commit)),
        attempts=tuple(one for one in commits.attempts() if one.commit == commit),
        by_hand=_by_hand(project, commit),
    )
    known = (found.withheld, found.unfinished, found.finished, found.abandoned, found.records, found.attempts)
    if not any(known) and not found.by_hand:
        raise UserError(
            f"there is no commit {commit}", "list the unfinished ones with: tidegate commits list"
        )
    return found


def lines(shown: ShownCommit, now: datetime) -> Iterator[str]:
    """Yield the lines that `commits show` prints."""
    commit = shown.commit
    if shown.withheld is not None:
        yield from _lines_of_withheld(commit, shown.withheld)
    elif shown.unfinished is not None:
        yield from _lines_of_unfinished(shown, shown.unfinished)
    else:
        if shown.abandoned and not shown.records:
            yield f"{commit}: abandoned; its record is no longer kept"
        for record in shown.records:
            because = f": {record.note}" if record.note else ""
            yield f"{commit}: abandoned at {instant(record.at)}, token {record.token}{because}"
            if record.error:
                yield f"      last error: {record.error}"
        yield from _outputs(shown)
        if shown.finished:
            yield f"{commit}: finished"
        for one in shown.published:
            name = f"{one.dataset} {one.key}".strip()
            yield f"      {name}: {one.rows} rows, {one.bytes} bytes, {one.files} files"
    for attempt in shown.attempts:
        state = "dead since" if attempt.until <= now else "running, lease until"
        yield f"attempt with token {attempt.token}: {state} {instant(attempt.until)}"
    for entry in shown.by_hand:
        why = f": {entry.data['why']}" if "why" in entry.data else ""
        yield f"{entry.data['action']} at {instant(entry.at)} by {entry.data['by']}{why}"


def _by_hand(project: CommitsProject, commit: str) -> tuple[Entry, ...]:
    kinds = (EntryKind.COMMIT, EntryKind.WATERMARK)
    with project.store.reading() as reader:
        return notes_of(reader, commit, kinds)


def _withheld(project: CommitsProject, kept: WithheldCommit) -> Withheld:
    return Withheld(
        token=kept.token,
        datasets=kept.datasets,
        since=kept.at,
        checks=kept.verdicts,
        steps=_steps(project, read_sequence(kept.commit, kept.body)),
    )


def _steps(project: CommitsProject, sequence: CommitSequence) -> tuple[ShownStep, ...]:
    answers = ((step, verify_step(step, project.context)) for step in sequence.steps)
    return tuple(
        ShownStep(verdict=answer.verdict, step=step.describe(), reason=answer.reason)
        for step, answer in answers
    )


def _unfinished(project: CommitsProject, sequence: CommitSequence, now: datetime) -> Unfinished:
    state = project.commits.recovery_state(sequence.id) or RecoveryState()
    return Unfinished(
        token=sequence.token,
        datasets=tuple(sequence.datasets),
        recovery=state_text(state, now),
        error=state.error,
        failed_at=state.failed_at,
        steps=_steps(project, sequence),
    )


def _lines_of_withheld(commit: str, found: Withheld) -> Iterator[str]:
    written = ", ".join(found.datasets)
    yield f"{commit}: WITHHELD since {instant(found.since)}, token {found.token}, for {written}"
    for each in found.checks:
        outcome = "passed" if each.passed else f"FAILED ({each.severity})"
        yield f"      {outcome:<14} {each.dataset}: check {each.name}: {each.found}"
        yield from sample_lines(each)
    yield from _lines_of_steps(found.steps)
    yield f"publish it with: tidegate commits release {commit} --reason TEXT"


def _lines_of_steps(steps: Sequence[ShownStep]) -> Iterator[str]:
    for number, step in enumerate(steps, start=1):
        yield f"{number:>4}  {step.verdict:<9} {step.step}"
        if step.reason:
            yield f"                {step.reason}"


def _lines_of_unfinished(shown: ShownCommit, found: Unfinished) -> Iterator[str]:
    written = ", ".join(found.datasets)
    yield f"{shown.commit}: unfinished, token {found.token}, writes {written}"
    yield found.recovery
    if found.error:
        yield f"last error, at {instant(found.failed_at)}: {found.error}"
    yield from _outputs(shown)
    yield from _lines_of_steps(found.steps)


def _outputs(shown: ShownCommit) -> Iterator[str]:
    """Yield the records of single outputs of a commit that was abandoned, wholly or in part."""
    for record in shown.outputs:
        note = f": {record.note}" if record.note else ""
        if record.published is None:
            yield f"output {record.dataset} was abandoned at {instant(record.at)}{note}"
        else:
            yield f"output {record.dataset} was published before, and is not written again"
