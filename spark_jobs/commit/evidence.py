"""Which snapshots of an Iceberg table expiry must leave alone, since a commit may yet ask for them.

That a commit has happened is written in the table itself and outlives its snapshots. Two
things are not: the partitions of a publish that wrote more of them than the table's log
keeps, which an older run must not replace, and the data files of a publish whose staging is
still to be swept. Maintenance calls this before it expires snapshots. It reads only.
"""

from spark_jobs.commit.context import CommitContext
from spark_jobs.commit.finish import read_sequence
from spark_jobs.commit.steps.publish_iceberg import PublishIceberg
from spark_jobs.commit.store import CommitStepStore
from spark_jobs.io.dataset_ref import DatasetRef
from spark_jobs.io.iceberg import table_name
from spark_jobs.io.iceberg_catalog import IcebergCatalog
from spark_jobs.io.iceberg_table import log_of


def needed_evidence(ref: DatasetRef, store: CommitStepStore, context: CommitContext) -> frozenset[int]:
    """Ids of the snapshots that unfinished commits into a table, or runs that go on, may ask for.

    Raises:
        CommitUnknown: an unfinished commit was written by another version of this program.
    """
    # The store first: what begins after this look has seen every publish that the table has by then.
    tokens = [attempt.token for attempt in store.attempts() if ref.id in attempt.datasets]
    commits: set[str] = set()
    for commit in store.list_unfinished(ref.id):
        body = store.get(commit)
        steps = () if body is None else read_sequence(commit, body).steps
        for step in steps:
            if isinstance(step, PublishIceberg) and step.table == table_name(ref):
                tokens.append(step.token)
                commits.add(commit)
    table = IcebergCatalog(context.spark()).table(table_name(ref)) if tokens else None
    if table is None:
        return frozenset()
    return frozenset(
        one.snapshot
        for one in log_of(table).recent
        if one.commit in commits or (one.keys is None and one.token > min(tokens))
    )
