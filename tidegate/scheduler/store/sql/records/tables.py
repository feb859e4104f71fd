"""The tables of records that are read by their key alone, and when they are due."""

from collections.abc import Collection

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, Text, bindparam, func, select

from tidegate.domain.model import Repair, Schedule
from tidegate.scheduler.model.launch_order import Known, Turn
from tidegate.scheduler.model.records.last_launch import LastLaunch
from tidegate.scheduler.model.records.override import Override
from tidegate.scheduler.model.records.partitions_report import PartitionsReport, ReportedPartition
from tidegate.scheduler.model.records.session import Session
from tidegate.scheduler.model.records.specification import Specification
from tidegate.scheduler.model.records.token import Role, Token
from tidegate.scheduler.model.records.watched import WatchedFolder, WatchedPartition
from tidegate.scheduler.model.records.withheld import CheckResult, WithheldEvent
from tidegate.scheduler.store.sql.columns import Bytes, Codec, Coded, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata, partial_index
from tidegate.scheduler.store.sql.statements.queries import Queries, every

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

sessions = Table(
    "sessions",
    metadata,
    Column("id", Name, primary_key=True),
    Column("token", Text, nullable=False),
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("email", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("groups", Json(tuple[str, ...]), nullable=False),
    Column("namespace", Name, nullable=False),
    Column("expires_at", Instant, nullable=False),
)
Index("ix_sessions_expires", sessions.c.expires_at)
SESSIONS = Codec(sessions, Session)

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

LAST_LAUNCHES = Codec(
    Table(
        "last_launches",
        metadata,
        Column("schedule", Name, primary_key=True),
        Column("key", Name, primary_key=True),
        Column("job", Name, nullable=False),
        Column("jobs", Json(tuple[str, ...]), nullable=False),
        Column("since", Instant, nullable=False),
        Column("number", Integer, nullable=False),
        Column("provisional", Boolean, nullable=False),
        Column("repair", Json(Repair)),
    ),
    LastLaunch,
)

turns = Table(
    "turns",
    metadata,
    Column("job", Name, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("rank", Name, nullable=False),
    Column("queue", Name),
    Column("known", Coded(Known)),
)
Index("ix_turns_rank", turns.c.at, turns.c.rank, turns.c.job)
TURNS = Codec(turns, Turn)

withheld_events = Table(
    "withheld_events",
    metadata,
    Column("dataset", Name, primary_key=True),
    Column("partition", Name, primary_key=True),
    Column("event", Name, nullable=False),
    Column("materialised_at", Instant, nullable=False),
    Column("time", Instant, nullable=False),
    Column("bytes", BigInteger),
    Column("rows", BigInteger),
    Column("run_id", Name),
    Column("detail", Text, nullable=False),
    Column("ended", Boolean, nullable=False),
    Column("checks", Json(dict[str, CheckResult]), nullable=False),
    Column("withheld_since", Instant),
    Column("released_at", Instant),
)
Index("ix_withheld_events_run", withheld_events.c.run_id)
partial_index(
    "ix_withheld_events_since",
    withheld_events.c.withheld_since,
    where=withheld_events.c.withheld_since.is_not(None),
)
partial_index(
    "ix_withheld_events_released",
    withheld_events.c.released_at,
    where=withheld_events.c.released_at.is_not(None),
)
WITHHELD_EVENTS = Codec(withheld_events, WithheldEvent)

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


partitions_reports = Table(
    "partitions_reports",
    metadata,
    Column("id", Name, primary_key=True),
    Column("project", Name, nullable=False),
    Column("dataset", Name, nullable=False),
    Column("asked", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("partitions", Json(tuple[ReportedPartition, ...]), nullable=False),
    Column("at", Instant, nullable=False),
    Column("owed_since", Instant),
    Column("sent", Integer, nullable=False),
)
Index("ix_partitions_reports_at", partitions_reports.c.at)
Index("ix_partitions_reports_owed", partitions_reports.c.project, partitions_reports.c.owed_since)

REPORTS = Codec(partitions_reports, PartitionsReport)


specifications = Table(
    "specifications",
    metadata,
    Column("ref", Name, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("content", Bytes(), nullable=False),
    Column("app", Name, nullable=False),
)
Index("ix_specifications_app", specifications.c.app, specifications.c.number)
Index("ix_specifications_number", specifications.c.number)

SPECIFICATIONS = Codec(specifications, Specification, derived={"app": lambda each: each.app})
_TABLE = specifications.c
_OTHER = specifications.alias("later")
_UNTIL = bindparam("until", type_=BigInteger)
_NEWEST = (
    select(func.max(_OTHER.c.number))
    .where(_OTHER.c.ref == _TABLE.ref, _OTHER.c.number <= _UNTIL)
    .scalar_subquery()
)
UNTIL = every(SPECIFICATIONS).where(_TABLE.number == _NEWEST).order_by(_TABLE.ref)


class SpecificationReader(Queries):
    def specifications(self, until: int, *, apps: Collection[str] | None = None) -> tuple[Specification, ...]:
        return tuple(self._all(UNTIL, SPECIFICATIONS.value, {_TABLE.app: apps}, until=until))
