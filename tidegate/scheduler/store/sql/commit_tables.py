"""The tables of commit sequences (docs/exactly-once.md): unfinished and finished publishes.

`commit_sequences` keeps one row for each commit id permanently, since a retry must find its own publish; a
finished row keeps only its result. `commit_datasets`, `commit_owners` and `commit_moves` have rows for
unfinished sequences only, and `commit_attempts` for runs that may still put one, so each query about
current work is a short index look-up.

`commit_withheld` has the texts of sequences that were not put, and `withheld_publishes` what the engine and
people read of them. `check_results` has what checks have found, of those that were put too.

The functions read what a deployment has to know of publishes: those that are not finished, and the
watermarks.
"""

import json

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    select,
    update,
)

from tidegate.domain.commits import CheckVerdict
from tidegate.scheduler.model.records.judged_run import JudgedRun
from tidegate.scheduler.model.records.withheld_publish import WithheldPublish
from tidegate.scheduler.store.answers import Commitment
from tidegate.scheduler.store.sql.columns import Codec, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata, partial_index

CHECKSUM_HEX_DIGITS = 64

commit_sequences = Table(
    "commit_sequences",
    metadata,
    Column("id", Text, primary_key=True),
    Column("token", BigInteger, nullable=False),
    # JSON list of "app/name", for display.
    Column("datasets", Text, nullable=False),
    # The steps as the writer encoded them; empty once finished.
    Column("body", Text, nullable=False),
    # NULL while unfinished.
    Column("result", Text, nullable=True),
    Column("checksum", String(CHECKSUM_HEX_DIGITS), nullable=False),
)
partial_index(
    "ix_commit_sequences_unfinished", commit_sequences.c.token, where=commit_sequences.c.result.is_(None)
)

commit_datasets = Table(
    "commit_datasets",
    metadata,
    Column("dataset", Text, primary_key=True),
    Column("sequence", Text, ForeignKey("commit_sequences.id", ondelete="CASCADE"), primary_key=True),
)

commit_tokens = Table(
    "commit_tokens",
    metadata,
    # One row, id 1.
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("value", BigInteger, nullable=False),
)

commit_attempts = Table(
    "commit_attempts",
    metadata,
    Column("token", BigInteger, primary_key=True, autoincrement=False),
    Column("commit_id", Text, nullable=False),
    # JSON list of "app/name".
    Column("datasets", Text, nullable=False),
    Column("until", Instant, nullable=False),
)

commit_owners = Table(
    "commit_owners",
    metadata,
    Column("sequence", Text, ForeignKey("commit_sequences.id", ondelete="CASCADE"), primary_key=True),
    # Empty without an owner; then `until` is NULL.
    Column("owner", Text, nullable=False),
    Column("until", Instant),
    Column("failures", Integer, nullable=False),
    Column("error", Text, nullable=False),
    Column("failed_at", Instant),
)

commit_moves = Table(
    "commit_moves",
    metadata,
    Column("consumer", Text, primary_key=True),
    Column("source", Text, primary_key=True),
    # Only one unfinished sequence at a time may move a watermark: the key ensures it.
    Column("part", Text, primary_key=True),
    Column("sequence", Text, ForeignKey("commit_sequences.id", ondelete="CASCADE"), nullable=False),
)
Index("ix_commit_moves_sequence", commit_moves.c.sequence)

commit_watermarks = Table(
    "commit_watermarks",
    metadata,
    Column("consumer", Text, primary_key=True),
    Column("source", Text, primary_key=True),
    Column("part", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("position", Text, nullable=False),
    Column("commit_id", Text, nullable=False),
)

commit_withheld = Table(
    "commit_withheld",
    metadata,
    # What is shown of it is in `withheld_publishes`, under the same key.
    Column("id", Text, primary_key=True),
    Column("token", BigInteger, nullable=False),
    Column("datasets", Text, nullable=False),
    Column("body", Text, nullable=False),
    # JSON list of the watermarks that it would move; NULL for none.
    Column("moves", Text, nullable=True),
    Column("checksum", String(CHECKSUM_HEX_DIGITS), nullable=False),
)
partial_index("ix_commit_withheld_moves", commit_withheld.c.id, where=commit_withheld.c.moves.is_not(None))

withheld_publishes = Table(
    "withheld_publishes",
    metadata,
    Column("commit", Name, primary_key=True),
    Column("job", Name, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("datasets", Json(tuple[str, ...]), nullable=False),
    Column("verdicts", Json(tuple[CheckVerdict, ...]), nullable=False),
    Column("at", Instant, nullable=False),
)
Index("ix_withheld_publishes_job", withheld_publishes.c.job)
Index("ix_withheld_publishes_at", withheld_publishes.c.at, withheld_publishes.c.commit)
WITHHELD_PUBLISHES = Codec(withheld_publishes, WithheldPublish)

check_results = Table(
    "check_results",
    metadata,
    Column("dataset", Name, primary_key=True),
    Column("token", BigInteger, primary_key=True, autoincrement=False),
    Column("commit", Name, nullable=False),
    Column("verdicts", Json(tuple[CheckVerdict, ...]), nullable=False),
    Column("withheld", Boolean, nullable=False),
    Column("at", Instant, nullable=False),
    Column("newest_at", Instant),
)
partial_index(
    "ix_check_results_newest",
    check_results.c.newest_at,
    check_results.c.dataset,
    check_results.c.token,
    where=check_results.c.newest_at.is_not(None),
)
CHECK_RESULTS = Codec(check_results, JudgedRun)

commit_abandoned = Table(
    "commit_abandoned",
    metadata,
    Column("sequence", Text, primary_key=True),
    Column("token", BigInteger, nullable=False),
    Column("datasets", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("error", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("at", Instant, nullable=False),
)
Index("ix_commit_abandoned_at", commit_abandoned.c.at)

commit_outputs = Table(
    "commit_outputs",
    metadata,
    Column("sequence", Text, primary_key=True),
    # "app/name".
    Column("dataset", Text, primary_key=True),
    # JSON of its published partitions; NULL for an output that was abandoned alone.
    Column("published", Text, nullable=True),
    Column("error", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("at", Instant, nullable=False),
)


def commitments(connection: Connection) -> tuple[Commitment, ...]:
    """Return unfinished and withheld publishes, and open attempts, by commit id."""
    unfinished = select(commit_sequences.c.id, commit_sequences.c.datasets).where(
        commit_sequences.c.result.is_(None)
    )
    attempts = select(commit_attempts.c.commit_id, commit_attempts.c.datasets)
    withheld = select(commit_withheld.c.id, commit_withheld.c.datasets).join(
        withheld_publishes, withheld_publishes.c.commit == commit_withheld.c.id
    )
    found = [
        Commitment(
            commit=commit,
            names=tuple(json.loads(listed)),
            unfinished=query is unfinished,
            withheld=query is withheld,
        )
        for query in (unfinished, withheld, attempts)
        for commit, listed in connection.execute(query).all()
    ]
    return tuple(sorted(found, key=lambda each: (each.commit, not each.unfinished)))


def watermarked(connection: Connection) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the parts that have watermarks, sorted, by consumer and source."""
    table = commit_watermarks.c
    found: dict[tuple[str, str], list[str]] = {}
    for consumer, source, part in connection.execute(select(table.consumer, table.source, table.part)).all():
        found.setdefault((consumer, source), []).append(part)
    return {pair: tuple(sorted(parts)) for pair, parts in sorted(found.items())}


def lock_commits(connection: Connection) -> None:
    """Wait for open changes of commit sequences; no further one begins before the transaction ends."""
    connection.execute(update(commit_tokens).values(value=commit_tokens.c.value))
