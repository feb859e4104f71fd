"""Unfinished commit sequences as rows, for lists: what each writes, who finishes it, and what failed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import RecoveryState
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.commit.process import is_gone, shown
from tidegate.spark_jobs.commit.recovery import is_blocked
from tidegate.spark_jobs.errors import CommitUnknown


def unfinished_commits(
    commits: CommitStepStore, at: datetime, dataset: str | None = None
) -> list[dict[str, Any]]:
    """Return a row for each unfinished sequence, oldest first.

    Args:
        dataset: only those that write this "app/dataset".
    """
    rows = [_row(commits, commit, at) for commit in commits.list_unfinished(dataset)]
    return [row for row in rows if row]


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


def written_by(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the datasets of a row, with those that were taken out of its commit."""
    return (*row["datasets"], *row["abandoned"])


def _row(commits: CommitStepStore, commit: str, at: datetime) -> dict[str, Any]:
    """Return the row of a sequence; empty for one that was finished in the meantime."""
    body, state = commits.get(commit), commits.recovery_state(commit)
    if body is None or state is None:
        return {}
    facts = {
        "commit": commit,
        "state": state_text(state, at),
        "owner": state.owner,
        "until": state.until,
        "failures": state.failures,
        "blocked": is_blocked(state),
        "error": state.error,
        "failed_at": state.failed_at,
        "abandoned": [record.dataset for record in commits.output_records(commit)],
    }
    try:
        sequence = read_sequence(commit, body)
    except CommitUnknown as error:
        return {**facts, "state": "CANNOT BE READ", "error": error.message, "datasets": [], "steps": None}
    return {
        **facts,
        "token": sequence.token,
        "steps": len(sequence.steps),
        "datasets": list(sequence.datasets),
    }
