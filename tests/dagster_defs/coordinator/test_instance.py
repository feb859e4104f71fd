"""What instances of ours do not ask again, and the connections that they keep."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance
from dagster._core.test_utils import instance_for_test
from dagster_shared.serdes.serdes import serialize_value
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from tests.dagster_defs.conftest import in_postgres, kept_storage
from tidegate.dagster_defs.coordinator.coordinator import LaunchingCoordinator, submitters_turn
from tidegate.dagster_defs.coordinator.instance import KEPT_SECONDS, Answers, prepare
from tidegate.launcher.execution import open_instance


def test_a_yes_is_kept_for_a_while_and_a_no_is_asked_again() -> None:
    asked: list[str] = []
    known = {"a"}
    now = [0.0]

    def ask(about: str) -> bool:
        asked.append(about)
        return about in known

    answers = Answers(ask, clock=lambda: now[0])
    assert [answers("a"), answers("a"), answers("b"), answers("b")] == [True, True, False, False]
    assert asked == ["a", "b", "b"]

    now[0] += KEPT_SECONDS
    known.clear()
    assert not answers("a")


@pytest.mark.dagster
def test_a_prepared_instance_keeps_what_its_storages_answer(disk_instance: DagsterInstance) -> None:
    prepare(disk_instance)
    runs, events = disk_instance.run_storage, disk_instance.event_log_storage
    schedules = disk_instance.schedule_storage
    for storage, name in (
        (runs, "has_run_stats_index_cols"),
        (runs, "has_job_snapshot"),
        (events, "has_table"),
        (schedules, "has_instigators_table"),
    ):
        assert isinstance(getattr(storage, name), Answers)


@contextmanager
def of_a_run(outer: DagsterInstance) -> Iterator[DagsterInstance]:
    with open_instance(serialize_value(outer.get_ref())) as instance:
        yield instance


@contextmanager
def of_the_daemon(outer: DagsterInstance) -> Iterator[DagsterInstance]:
    coordinator = LaunchingCoordinator()
    coordinator.register_instance(outer)
    assert coordinator.dequeue_interval_seconds
    yield outer


@pytest.mark.parametrize("opened", [of_a_run, of_the_daemon])
@pytest.mark.dagster
@pytest.mark.store
def test_connections_to_postgres_are_kept_and_others_come_where_the_server_ends_them(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    opened: Callable[[DagsterInstance], AbstractContextManager[DagsterInstance]],
) -> None:
    settings = in_postgres(kept_storage(request.getfixturevalue("postgres_server")).take(request))
    with (
        instance_for_test(overrides=settings, temp_dir=str(tmp_path)) as outer,
        opened(outer) as instance,
    ):
        runs: Any = instance.run_storage
        connected: list[object] = []
        event.listen(runs._engine, "connect", lambda *of_it: connected.append(of_it))
        for _ in range(2):
            with submitters_turn(instance) as exclusive:
                assert exclusive
                assert [instance.get_runs_count() for _ in range(3)] == [0, 0, 0]
                assert instance.event_log_storage.get_maximum_record_id() is None
        assert len(connected) <= 2

        with runs.connect() as connection, suppress(DBAPIError):
            connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")
        others = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        with runs.connect() as connection:
            connection.exec_driver_sql(f"{others} AND datname = current_database()")
        with submitters_turn(instance) as exclusive:
            assert exclusive
            assert instance.get_runs_count() == 0
