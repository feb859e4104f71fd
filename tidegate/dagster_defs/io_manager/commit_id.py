"""The commit id of the outputs of a step: run, step and partitions.

The run is the one whose work is done (`run.commit_id.origin_of`), so a retried step and a re-execution
after a failure find what the first attempt published. The outputs are part of the id only if an earlier
attempt published others of the same step (`spark_jobs.attempt`).
"""

import hashlib
from collections.abc import Iterable, Sequence

from dagster import DagsterInstance, DagsterRun

from tidegate.dagster_defs.run.commit_id import origin_of
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef

ID_CHARACTERS = 200
"""A longer id ends with a digest: it is the primary key of a table, and shown in lists."""
DIGEST_DIGITS = 16


def step_commit_id(
    run: DagsterRun,
    instance: DagsterInstance,
    step: str,
    refs: Iterable[DatasetRef],
    keys: Sequence[str],
) -> str:
    """Return the commit id of a step's outputs.

    Args:
        step: the step's key.
        refs: the datasets that it publishes.
        keys: the partitions that the run writes; empty for outputs without partitions.
    """
    origin = origin_of(run, instance, adds=any(ref.write == "append" for ref in refs))
    return bounded(".".join((origin.run_id, step, *_named(keys))))


def bounded(text: str) -> str:
    """Return an id of at most `ID_CHARACTERS`, different for different texts."""
    return text if len(text) <= ID_CHARACTERS else f"{text[:ID_CHARACTERS]}~{_digest([text])}"


def _named(keys: Sequence[str]) -> tuple[str, ...]:
    """Return the part of the id that names the partitions."""
    if len(keys) < 2:
        return tuple(keys)
    # The exact partitions count: a dynamic partition may have been added between two that are named.
    return (f"{keys[0]}...{keys[-1]}", _digest(keys))


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:DIGEST_DIGITS]
