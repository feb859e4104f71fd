"""The code location of the tests with the real daemon: a repository for each case, each with its own store.

The definitions are those of the product. The test has only three things in its hands: when a dispatcher
works (`gate.py`), what its clock says, and whether a launch fails. Dagster schedules are left out, since
Dagster fires them by the computer's clock; the product's dispatcher fires every cron itself (rule 9).
"""

import os
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from dagster import (
    RepositoryDefinition,
    SensorResult,
    SkipReason,
    create_repository_using_definitions_args,
    in_process_executor,
)

from tests.real_daemon import scripted_time
from tests.real_daemon.gate import Gate, Order
from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.dispatch import dispatcher, steps
from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext, DefinitionsLoadType
from tidegate.dagster_defs.run.run_request import Invalid, run_request
from tidegate.domain.value import Value
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse

CASES = "cases.json"
FOLDER_VARIABLE = "REAL_DAEMON_FOLDER"

_here = threading.local()
"""The gate and the order of the evaluation that runs in this thread."""

_failed: Counter[str] = Counter()
"""How many launches of each schedule have failed on order."""

_building = threading.Lock()
"""Dagster builds jobs on one stack for all threads; each case has a thread."""


class Place(Value, kw_only=True):
    """Where a case lives. `name` is its app and its repository."""

    name: str
    root: str

    @property
    def folder(self) -> Path:
        return Path(self.root)

    @property
    def store_url(self) -> str:
        return f"sqlite:///{self.root}/store.db"


class LostTick(Exception):
    """The tick dies, as an order wants it."""


def location_of(place: Place, store: SqlStore) -> Location:
    """The code location of a case. Its clock is that of the thread."""
    return Location(
        open_store=lambda: store,
        open_commits=lambda: SqlCommitStepStore(store.engine),
        warehouse=Warehouse(path=place.folder / "warehouse", project=place.folder),
        clock=scripted_time.now,
    )


def repository_of(place: Place, location: Location) -> RepositoryDefinition:
    """The product's definitions of a case as a repository."""
    with _building:
        DefinitionsLoadContext.set(DefinitionsLoadContext(load_type=DefinitionsLoadType.INITIALIZATION))
        built = build_definitions(location)
        return create_repository_using_definitions_args(
            place.name,
            assets=built.assets,
            jobs=built.jobs,
            sensors=built.sensors,
            executor=in_process_executor,
        )


def serve(folder: Path) -> Iterator[RepositoryDefinition]:
    """Yield the repositories of all cases, whose dispatchers wait at their gates."""
    scripted_time.install(pytest.MonkeyPatch())
    work = dispatcher.Dispatch.run

    @cache
    def gate_of(case: str) -> Gate:
        return Gate(folder / case)

    def run(self: dispatcher.Dispatch) -> SensorResult | SkipReason:
        gate = gate_of(self._context.repository_name or "")
        order = gate.wait()
        if order is None:
            return SkipReason("the gate is closed")
        _here.order = order
        try:
            with scripted_time.scripted(lambda: order.now):
                found = work(self)
        finally:
            gate.done(order, int((self._context.log_key or ["0"])[-1]))
        if order.lost:
            raise LostTick
        return found

    def request(launch: Any, plan: Any, now: datetime) -> Any:
        order: Order = _here.order
        if _failed[launch.schedule] < order.failing.get(launch.schedule, 0):
            _failed[launch.schedule] += 1
            return Invalid("the launch failed")
        return run_request(launch, plan, now)

    patch = pytest.MonkeyPatch()
    patch.setattr(dispatcher.Dispatch, "run", run)
    patch.setattr(steps, "run_request", request)
    for place in msgspec.json.decode((folder / CASES).read_bytes(), type=list[Place]):
        yield repository_of(place, location_of(place, open_sql_store(place.store_url, create=False)))
    DefinitionsLoadContext.set(DefinitionsLoadContext(load_type=DefinitionsLoadType.INITIALIZATION))


if FOLDER_VARIABLE in os.environ:
    globals().update({found.name: found for found in serve(Path(os.environ[FOLDER_VARIABLE]))})
