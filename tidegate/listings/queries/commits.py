"""Unfinished and withheld commit sequences: what each writes, who finishes it, and what failed."""

from collections.abc import Iterator
from datetime import datetime

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import RecoveryState
from tidegate.domain.part_name import app_of
from tidegate.listings.commits import UnfinishedCommit
from tidegate.listings.read import Asked
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.explain.withheld import withheld_publishes
from tidegate.scheduler.model.records.withheld_publish import WithheldPublish
from tidegate.scheduler.store.open import commits_of
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.commit.process import is_gone, shown
from tidegate.spark_jobs.commit.recovery import is_blocked
from tidegate.spark_jobs.errors import CommitUnknown, SparkMissing


def list_commits(asked: Asked) -> Iterator[UnfinishedCommit]:
    """Yield the unfinished and the withheld sequences that write a dataset which the caller sees."""
    commits = commits_of(asked.source.store)
    dataset, withheld = asked.wanted.get("dataset"), asked.wanted.get("withheld")
    for publish in () if withheld is False else withheld_publishes(asked.reader, asked.apps):
        if dataset is None or dataset in publish.datasets:
            yield _withheld(publish)
    if withheld:
        return
    for commit in commits.list_unfinished(dataset):
        found = _unfinished(commits, commit, asked.source.now)
        if found is not None and (
            asked.apps is None
            or any(app_of(name) in asked.apps for name in (*found.datasets, *found.abandoned))
        ):
            yield found


def state_text(state: RecoveryState, at: datetime) -> str:
    """Return in some words what is done about a sequence."""
    if state.owner and state.until is not None and state.until > at:
        if not is_gone(state.owner):
            return f"being finished by {shown(state.owner)}"
        return "its process is dead; the next recovery finishes it"
    if is_blocked(state):
        return f"BLOCKED after {state.failures} failed tries"
    if state.failures:
        return f"waiting for a retry after {state.failures} failed tries"
    return "waiting for recovery"


def _withheld(publish: WithheldPublish) -> UnfinishedCommit:
    checks = tuple(dict.fromkeys(each.name for each in publish.failed))
    named = ", ".join(f"check {each}" for each in checks)
    return UnfinishedCommit(
        commit=publish.commit,
        token=publish.token,
        steps=None,
        readable=True,
        state=f"WITHHELD since {instant_text(publish.at)}, {named}",
        owner="",
        until=None,
        failures=0,
        blocked=False,
        datasets=publish.datasets,
        abandoned=(),
        error="; ".join(f"{each.dataset}: check {each.name}: {each.found}" for each in publish.failed),
        failed_at=None,
        withheld_since=publish.at,
        checks=checks,
    )


def _unfinished(commits: CommitStepStore, commit: str, at: datetime) -> UnfinishedCommit | None:
    """Return a sequence; None for one that was finished in the meantime."""
    body, state = commits.get(commit), commits.recovery_state(commit)
    if body is None or state is None:
        return None
    error = state.error
    try:
        sequence = read_sequence(commit, body)
    except (CommitUnknown, SparkMissing) as unknown:
        sequence, error = None, unknown.message
    return UnfinishedCommit(
        commit=commit,
        token=None if sequence is None else sequence.token,
        steps=None if sequence is None else len(sequence.steps),
        readable=sequence is not None,
        state="CANNOT BE READ" if sequence is None else state_text(state, at),
        owner=state.owner,
        until=state.until,
        failures=state.failures,
        blocked=is_blocked(state),
        datasets=() if sequence is None else tuple(sequence.datasets),
        abandoned=tuple(record.dataset for record in commits.output_records(commit)),
        error=error,
        failed_at=state.failed_at,
    )
