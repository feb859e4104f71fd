"""The tables of commit sequences (DESIGN §7): what a publish has yet to do, and what it did.

`commit_sequences` keeps one row for each commit id for ever, since a retry must find its
own publish; once it is finished only the result is left of it. `commit_datasets` has rows
for unfinished sequences only, so "what is unfinished here" stays a short index look-up.
"""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, String, Table, Text

from scheduler.store.metadata import metadata

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
