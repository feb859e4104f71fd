"""The tables of records that are read by their key alone, and when they are due."""

from sqlalchemy import Column, Index, Table, Text

from tidegate.domain.model import Schedule
from tidegate.scheduler.model.records.override import Override
from tidegate.scheduler.model.records.token import Role, Token
from tidegate.scheduler.model.records.watched import WatchedFolder, WatchedPartition
from tidegate.scheduler.store.sql.columns import Codec, Coded, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata, partial_index

TOKENS = Codec(
    Table(
        "tokens",
        metadata,
        Column("name", Name, primary_key=True),
        Column("hash", Text, nullable=False),
        Column("role", Coded(Role), nullable=False),
        Column("app", Name),
        Column("namespace", Name),
        Column("created_at", Instant, nullable=False),
        Column("revoked_at", Instant),
    ),
    Token,
)

WATCHED_FOLDERS = Codec(
    Table(
        "watched_folders",
        metadata,
        Column("dataset", Name, primary_key=True),
        Column("project", Name, nullable=False),
        Column("folder", Text, nullable=False),
        Column("since", Instant),
        Column("problem", Text, nullable=False),
        Column("remedy", Text, nullable=False),
        Column("problem_since", Instant),
    ),
    WatchedFolder,
)
WATCHED_PARTITIONS = Codec(
    Table(
        "watched_partitions",
        metadata,
        Column("dataset", Name, primary_key=True),
        Column("key", Name, primary_key=True),
        Column("files", Json(dict[str, tuple[int, str]]), nullable=False),
        Column("at", Instant, nullable=False),
    ),
    WatchedPartition,
)

overrides = Table(
    "overrides",
    metadata,
    Column("ref", Name, primary_key=True),
    Column("kind", Name, primary_key=True),
    Column("app", Name, nullable=False),
    Column("owner", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("since", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("spec", Json(Schedule)),
    Column("status", Text),
)
Index("ix_overrides_app", overrides.c.app)
partial_index("ix_overrides_expires", overrides.c.expires_at, where=overrides.c.expires_at.is_not(None))
OVERRIDES = Codec(overrides, Override, derived={"app": lambda each: each.app})
