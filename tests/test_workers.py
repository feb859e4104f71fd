"""Files with Spark stay with the worker that has a session, until the others have nothing else to do."""

import queue
from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import pytest

from tests.workers import LIMITS, MOST_JVMS, ROOT, TOGETHER, Limits, Scheduling, choose, needs_spark, scope_of

SPARK = "tests/spark_jobs/iceberg/test_table.py"
LIVE = "tests/dagster_defs/live/test_live.py"
PLAIN = "tests/domain/test_cron.py"


@pytest.mark.parametrize(
    ("file", "expected"),
    [(SPARK, True), ("tests/spark_jobs/maintenance/test_rewrite.py", True), (LIVE, False), (PLAIN, False)],
)
def test_files_that_use_a_session_are_known(file: str, expected: bool) -> None:
    assert needs_spark(file) == expected


@pytest.mark.parametrize(
    ("queue", "has_spark", "some_has_spark", "expected"),
    [
        ([LIVE, SPARK, PLAIN], False, False, SPARK),
        ([LIVE, SPARK, PLAIN], True, True, SPARK),
        ([SPARK, LIVE, PLAIN], False, True, LIVE),
        ([LIVE, PLAIN], True, True, LIVE),
        ([SPARK], False, True, SPARK),
    ],
)
def test_a_worker_takes(queue: list[str], has_spark: bool, some_has_spark: bool, expected: str) -> None:
    assert choose(queue, has_spark, some_has_spark) == expected


class Node:
    """A worker, as the scheduler sees it."""

    def __init__(self) -> None:
        self.ended = False

    def shutdown(self) -> None:
        self.ended = True


@pytest.mark.parametrize(
    ("sessions", "queue", "ends"),
    [(MOST_JVMS, [SPARK], True), (MOST_JVMS, [SPARK, PLAIN], False), (MOST_JVMS - 1, [SPARK], False)],
)
def test_when_enough_workers_have_a_session_the_others_end_before_the_last_files(
    sessions: int, queue: list[str], ends: bool
) -> None:
    taken: list[str] = []
    node: Any = Node()
    with_session: list[Any] = [Node() for _ in range(sessions)]
    scheduling = object.__new__(Scheduling)  # it would ask for the workers of a run
    scheduling._places = {}
    scheduling.workqueue = OrderedDict((scope, {}) for scope in queue)
    scheduling.assigned_work = {each: {SPARK: {}} for each in with_session} | {node: {}}
    scheduling.registered_collections = {node: []}
    node.send_runtest_some = taken.append

    scheduling._assign_work_unit(node)

    assert (node.ended, len(taken), len(scheduling.workqueue)) == (ends, not ends, len(queue) - (not ends))


def test_a_file_is_taken_whole_and_some_folders_too() -> None:
    assert scope_of(f"{PLAIN}::test_x[a::b]") == PLAIN
    assert scope_of("tests/installed/test_wheel.py::test_x") == "tests/installed"


def test_what_a_folder_shares_ends_with_its_last_test() -> None:
    """Else it lives until the worker ends: to pytest, only a package has the scope of one."""
    sharing = [file for file in ROOT.glob("tests/**/conftest.py") if 'scope="package"' in file.read_text()]

    assert {str(file.parent.relative_to(ROOT)) for file in sharing} <= {*TOGETHER}
    assert sharing and all(file.with_name("__init__.py").is_file() for file in sharing)


def test_a_test_whose_time_is_up_is_ended_and_one_that_has_ended_is_not() -> None:
    ended = queue.Queue[tuple[Any, Any]]()
    limits = Limits(lambda *found: ended.put(found), look_seconds=0.01)
    quick, slow = SimpleNamespace(name="quick"), SimpleNamespace(name="slow")

    limits.begin(quick, SimpleNamespace(timeout=0.05))
    quick.cancel_timeout()
    with pytest.raises(queue.Empty):
        ended.get(timeout=0.2)

    settings = SimpleNamespace(timeout=0.05)
    limits.begin(slow, settings)
    assert ended.get(timeout=30) == (slow, settings)
    slow.cancel_timeout()


def test_the_tests_of_this_process_are_watched_so(request: pytest.FixtureRequest) -> None:
    limit: Any = request.node
    assert limit.cancel_timeout == LIMITS.cancel
