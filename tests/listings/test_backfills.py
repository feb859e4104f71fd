"""What a backfill is doing, in a word, and its instances by business day and by task."""

from datetime import timedelta
from urllib.parse import quote

import msgspec
import pytest

from tests.server.serving import Served, problem
from tests.server.shop import BACKFILLS, shop
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import at
from tidegate.listings.queries.backfills import counted, state_of
from tidegate.scheduler.commands.backfills.request import Backfill, Progress
from tidegate.scheduler.model.instance import Status


@pytest.mark.parametrize(
    ("cancelled", "counts", "state"),
    [
        (False, {"running": 1, "successful": 1}, "running"),
        (True, {"running": 1, "not_run": 1}, "cancelled, ends"),
        (True, {"successful": 2}, "cancelled"),
        (False, {"successful": 2}, "done"),
        (False, {"successful": 1, "failed": 1}, "stopped by a failure"),
        (False, {"running": 1, "failed": 1}, "running"),
        (False, {"successful": 1, "not_run": 1}, "running"),
    ],
)
def test_what_a_backfill_is_doing(cancelled: bool, counts: dict[str, int], state: str) -> None:
    backfill = Backfill(
        number=1, task="a/daily", app="a", tasks=("a/daily",), from_="2026-03-01", to="2026-03-02", lot=1,
        by="cli", requested_at=at("10:00"), cancelled_at=at("11:00") if cancelled else None,
    )  # fmt: skip
    every = {**dict.fromkeys(map(str, Status), 0), **counts}
    assert state_of(Progress(backfill=backfill, total=2, counts=every)) == state


def test_instances_are_counted_by_day_and_by_task_without_empty_runs() -> None:
    world = TaskWorld("  daily: {program: r, cycle: day, depends_on: [], status: active}\n")
    world.backfill("10:00", "daily", "2026-03-01", "2026-03-03")
    with world.store.reading() as reader:
        first, second, third = reader.instances(backfill=1)
    empty = msgspec.structs.replace(third, instance=msgspec.structs.replace(third.of_task, empty=True))
    jobs = [second, first, empty]
    assert list(counted(jobs, by_task=False).items()) == [
        (first.of_task.business_date, {"not_run": 1}),
        (second.of_task.business_date, {"not_run": 1}),
    ]
    assert counted(jobs, by_task=True) == {"a/daily": {"not_run": 2}}


def test_filters_narrow_the_list(server: Served) -> None:
    shop(server)
    for task in ("shop.revenue", "shop.feed"):
        body = {"task": task, "from": "2026-03-01", "to": "2026-03-03"}
        assert server.client.post(BACKFILLS, json=body).status_code == 202
        server.pass_time(timedelta(minutes=1))

    def found(query: str) -> list[int]:
        return [each["id"] for each in server.client.get(f"{BACKFILLS}?{query}").json()["items"]]

    assert found("") == found("app=shop") == [2, 1]
    assert found("task=shop.revenue") == found("task=revenue") == [1]
    assert found(f"since={quote(server.now.isoformat())}") == []
    problem(server.client.get(f"{BACKFILLS}?app=none"), 400)
