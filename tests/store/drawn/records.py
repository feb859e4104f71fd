"""What Hypothesis draws for records: some of each kind, and keys of them; see `drawn`."""

from typing import Any

from hypothesis import strategies as st

from tests.store.drawn import alerts, expected, maintenance, overrides
from tests.worlds.samples import app, at, gauge
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import SUBSCRIPTIONS, Subscription
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.launch_order import TURNS, Known, Turn
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS
from tidegate.scheduler.model.records.alert import ALERTS, INCIDENTS
from tidegate.scheduler.model.records.expected import EXPECTED_DATA, EXPECTED_PERIODS, LATE_TOTALS
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.records.partitions_report import (
    PARTITIONS_REPORTS,
    PartitionsReport,
    ReportedPartition,
)
from tidegate.scheduler.model.records.session import SESSIONS, Session
from tidegate.scheduler.model.records.specification import SPECIFICATIONS, Specification
from tidegate.scheduler.model.records.token import TOKENS, Role, Token
from tidegate.scheduler.model.records.watched import (
    WATCHED_FOLDERS,
    WATCHED_PARTITIONS,
    WatchedFolder,
    WatchedPartition,
)
from tidegate.scheduler.model.run import GAUGES

ids = st.sampled_from(["a", "B", "b", "b0", "ä", "_", "a/b", "Z%"])
refs = st.sampled_from(["a/s", "a/t", "a/S", "ab/s", "b/s"])
instants = st.integers(0, 4).map(at)
maybe_instants = st.none() | instants

gauges = st.builds(
    gauge, st.sampled_from(["g", "G"]), st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 4)
)
subscriptions = st.builds(
    Subscription, event_key=st.sampled_from(["k", "K"]), schedule=refs, leaf=st.sampled_from(["", "0", "0.1"])
)
tokens = st.builds(
    Token,
    name=ids,
    hash=st.sampled_from(["h", "H"]),
    role=st.sampled_from(list(Role)),
    app=st.none() | st.sampled_from(["a", "B"]),
    created_at=instants,
    revoked_at=maybe_instants,
)

sessions = st.builds(
    Session,
    id=ids,
    token=st.sampled_from(["", "h"]),
    subject=st.sampled_from(["", "ä"]),
    groups=st.lists(ids, max_size=2).map(tuple),
    namespace=st.sampled_from(["default", "b"]),
    expires_at=instants,
)

specifications = st.builds(
    Specification,
    ref=st.sampled_from(["a", "a/s", "a/S", "ä"]),
    number=st.integers(1, 4),
    content=st.sampled_from([b"", b"x\x00", b"y"]),
)

partitions_reports = st.builds(
    PartitionsReport,
    id=ids,
    project=st.sampled_from(["", "p"]),
    dataset=st.sampled_from(["a/d", "B/d"]),
    asked=st.sampled_from(["x", "y"]),
    detail=st.sampled_from(["", "ä\n"]),
    partitions=st.lists(
        st.builds(ReportedPartition, event=ids, key=ids, rows=st.none() | st.integers(0, 2**40), at=instants),
        max_size=2,
    ).map(tuple),
    at=instants,
    owed_since=maybe_instants,
    sent=st.integers(0, 2),
)

watched_datasets = st.sampled_from(["a/d", "a/s", "B/d"])
watched_folders = st.builds(
    WatchedFolder,
    dataset=watched_datasets,
    project=st.sampled_from(["", "p"]),
    folder=st.sampled_from(["/ä", "s3a://b/c"]),
    since=maybe_instants,
    problem=st.sampled_from(["", "away\n"]),
    problem_since=maybe_instants,
)
watched_partitions = st.builds(
    WatchedPartition,
    dataset=watched_datasets,
    key=ids,
    files=st.dictionaries(ids, st.tuples(st.integers(0, 2**62), ids), max_size=2),
    at=instants,
)

turns = st.builds(
    Turn,
    job=ids,
    at=instants,
    rank=st.sampled_from(["0\x01a", "0\x01ä", "1"]),
    queue=st.none() | ids,
    known=st.none() | st.sampled_from(Known),
)


def many(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """A few values, of which some may repeat."""
    return st.lists(values, max_size=4)


RECORDS: dict[Kind[Any], st.SearchStrategy[Any]] = {
    ALERTS: alerts.alerts,
    APPS: st.builds(app, ids, revision=st.integers(1, 3), project=st.sampled_from(["", "p", "P"])),
    EXPECTED_DATA: expected.data,
    EXPECTED_PERIODS: expected.periods,
    GAUGES: gauges,
    INCIDENTS: alerts.incidents,
    LATE_TOTALS: expected.totals,
    MAINTAINED_TABLES: maintenance.tables,
    MAINTENANCE_RECORDS: maintenance.records,
    OVERRIDES: overrides.overrides,
    PARTITIONS_REPORTS: partitions_reports,
    SESSIONS: sessions,
    SPECIFICATIONS: specifications,
    SUBSCRIPTIONS: subscriptions,
    TOKENS: tokens,
    TURNS: turns,
    WATCHED_FOLDERS: watched_folders,
    WATCHED_PARTITIONS: watched_partitions,
}
"""The records of each kind."""


def _keys_of(kind: Kind[Any]) -> st.SearchStrategy[Any]:
    """Keys of a kind, and what keys begin with."""
    return st.builds(
        lambda value, length: kind.key_of(value)[:length], RECORDS[kind], st.integers(1, len(kind.key))
    )


kinds = st.sampled_from(list(RECORDS))
put = kinds.flatmap(lambda kind: st.tuples(st.just(kind), many(RECORDS[kind])))
dropped = kinds.flatmap(lambda kind: st.tuples(st.just(kind), many(_keys_of(kind))))
