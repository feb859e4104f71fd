"""What Hypothesis draws for maintenance: tables, records, runs, and the questions about them."""

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from tests.worlds.samples import at, operation_run, record, table
from tidegate.domain.model import Operation
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    Ending,
    Health,
    OperationHistory,
    TableHistory,
    Work,
)
from tidegate.scheduler.store.engine_reader import EngineReader

NAMES = ["a/d", "a/dd", "B/d", "c.n.t", "c.n.T", "ä%"]
POLICIES = ["a/n", "ab/n", "B/n", "B/N"]

names = st.sampled_from(NAMES)
policies = st.sampled_from(POLICIES)
operations = st.sampled_from(list(Operation))
jobs = st.sampled_from(["a", "B", "b", "b0", "ä", "_"])
instants = st.integers(0, 4).map(at)
maybe_instants = st.none() | instants
measured = st.dictionaries(
    st.sampled_from(["files", "snapshots"]), st.floats(allow_nan=False, allow_infinity=False), max_size=2
)

health = st.builds(
    Health, measured_at=instants, values=measured, failure=st.text("aä", max_size=2), note=st.just("")
)
histories = st.builds(
    TableHistory,
    recent=st.lists(st.booleans(), max_size=3).map(tuple),
    failures=st.integers(0, 3),
    operations=st.dictionaries(
        operations,
        st.builds(OperationHistory, failures=st.integers(0, 3), zero_start=maybe_instants),
        max_size=2,
    ),
)
tables = st.builds(
    table,
    names,
    catalog_name=st.sampled_from(["", "c.n.t"]),
    health_policy=st.none() | policies,
    gone=st.booleans(),
    health=st.none() | health,
    wanted_at=maybe_instants,
    history=histories,
)
records = st.builds(
    record,
    names,
    operations,
    policies,
    counts=st.booleans(),
    next_run=maybe_instants,
    due_since=maybe_instants,
    next_look=maybe_instants,
    job=st.none() | jobs,
)
operation_runs = st.builds(
    operation_run,
    jobs,
    names,
    st.integers(0, 4),
    operation=operations,
    policy=policies,
    excluded=st.lists(st.sampled_from(["k", "ä"]), max_size=2).map(tuple),
    ended_at=maybe_instants,
    ending=st.none() | st.sampled_from(list(Ending)),
    changed=st.booleans(),
    bytes=st.sampled_from([0, 1, 2**40]),
    after=measured,
    results=st.dictionaries(st.sampled_from(["kept", "files"]), st.none() | st.just(("x", 1)), max_size=2),
)
works = st.builds(
    Work,
    table=names,
    operation=operations,
    policy=policies,
    excluded=st.just(("k",)),
    then=st.lists(st.tuples(operations, policies), max_size=2).map(tuple),
)
plans = st.builds(
    lambda table, dataset: LaunchPlan(
        program="maintain:expire_snapshots", args={"table": table, "dataset": dataset, "timeout": 3.5}
    ),
    names,
    st.none() | names,
)


def answers(reader: EngineReader, now: datetime) -> list[Any]:
    """What a reader says to every question about maintenance."""
    return [
        reader.records(MAINTAINED_TABLES, name=["a/d", "ä%", "none"]),
        reader.due_records(MAINTAINED_TABLES, None, 2),
        reader.records(MAINTENANCE_RECORDS, table=["a/d", "c.n.t"]),
        reader.due_records(MAINTENANCE_RECORDS, now, 3),
        reader.next_maintenance(),
        reader.operation_runs(),
        reader.operation_runs(running=True, tables=NAMES),
        reader.operation_runs(started_since=now),
        reader.operation_runs(running=True, started_since=now),
        reader.operation_runs(before=(now, "b"), limit=2),
        reader.operation_runs(tables=["a/d", "c.n.T"], limit=2),
        reader.operation_runs(jobs=["a", "ä", "none"], running=True),
        reader.bytes_rewritten(at(1), now),
        reader.keys_written("a/d"),
    ]
