"""Tasks and instances over REST: lists in pages, one in full, and the actions of people."""

from datetime import timedelta
from typing import Any

import pytest

from tests.server.serving import NS, Served, problem
from tests.server.shop import FOURTEEN, INSTANCES, TASKS, THIRTEEN, TODAY, fetched, journaled, shop
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]


@pytest.fixture
def served(server: Served) -> Served:
    """A server with the tasks of an app, at noon before their first hour."""
    shop(server)
    return server


def listed(server: Served, query: str = "") -> list[tuple[str, str]]:
    items = fetched(server.client.get(f"{INSTANCES}{query}"))["items"]
    return [(each["task"], each["scheduled"]) for each in items]


def act(server: Served, action: str, path: str = f"clean/{THIRTEEN}") -> Any:
    return server.client.post(f"{INSTANCES}/{path}/{action}", json={"reason": "a test"})


def test_tasks_are_listed_with_their_next_instance_in_pages(served: Served):
    first = fetched(served.client.get(f"{TASKS}?limit=3"))
    rest = fetched(served.client.get(f"{TASKS}?limit=3&cursor={first['next']}"))

    assert [each["task"] for each in first["items"]] == ["shop/clean", "shop/feed", "shop/off"]
    assert [each["task"] for each in rest["items"]] == ["shop/revenue"]
    assert rest["next"] is None
    assert first["items"][0]["next"] == {"scheduled": THIRTEEN, "start": "2026-03-10T13:10:00Z"}
    problem(served.client.get(f"{TASKS}?cursor=x"), 400)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 7),
        ("?task=clean", 3),
        ("?task=shop.clean", 3),
        ("?task=shop/clean", 3),
        (f"?task=clean&day={TODAY}", 3),
        ("?task=clean&day=2026-03-09", 0),
        ("?status=not_run", 7),
        ("?status=NOT_RUN", 7),
        ("?status=failed,successful", 0),
        ("?task=revenue&status=not_run&day=2026-03-10", 1),
    ],
)
def test_filters(served: Served, query: str, count: int):
    assert len(listed(served, query)) == count


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("status=none", 400),
        ("status=absent", 400),
        ("day=today", 400),
        ("day=2026-02-30", 400),
        ("task=a%20b", 400),
        ("limit=0", 400),
        ("cursor=x", 400),
        ("backfill=x", 400),
        ("backfill=7", 404),
        ("task=none", 404),
        ("task=shop.none", 404),
        ("task=none.clean", 404),
    ],
)
def test_wrong_filters(served: Served, query: str, status: int):
    problem(served.client.get(f"{INSTANCES}?{query}"), status)


def test_pages_repeat_and_skip_nothing_while_instances_come(served: Served):
    first = fetched(served.client.get(f"{INSTANCES}?limit=4"))
    body = {"scheduled": ["2026-03-08-09:00"], "status": "successful"}
    fetched(served.client.post(f"{TASKS}/feed/report", json=body), 202)
    second = fetched(served.client.get(f"{INSTANCES}?limit=4&cursor={first['next']}"))

    found = [each["job"] for each in (*first["items"], *second["items"])]
    assert (len(found), len(set(found)), second["next"]) == (7, 7, None)
    assert len(listed(served)) == 8
    problem(served.client.get(f"{TASKS}?cursor={first['next']}"), 400)


def test_one_instance_is_shown_in_full(served: Served):
    shown = fetched(served.client.get(f"{INSTANCES}/clean/{THIRTEEN}"))

    assert (shown["task"], shown["scheduled"], shown["status"]) == ("shop/clean", THIRTEEN, "not_run")
    assert shown["business_date"] == "2026-03-10-12:00"
    assert [(each["task"], each["key"]) for each in shown["upstream"]] == [("shop/feed", THIRTEEN)]
    assert shown["consumers"] == []
    assert shown["partitions"] == {"orders": ["2026-03-10-12:00"]}
    encoded = served.client.get(f"{INSTANCES}/shop.clean/2026-03-10-13%3A00")
    assert fetched(encoded) == shown


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"none/{THIRTEEN}", 404),
        (f"none.clean/{THIRTEEN}", 404),
        ("clean/2026-03-09-13:00", 404),
        (f"clean/{THIRTEEN}?backfill=1", 404),
        ("clean/2026-03-10", 400),
        ("clean/soon", 400),
        ("clean/2026-03-10-25:00", 400),
        (f"clean/{THIRTEEN}?backfill=-1", 400),
        (f"a%20b/{THIRTEEN}", 400),
    ],
)
def test_wrong_instances(served: Served, path: str, status: int):
    name, _, query = path.partition("?")
    problem(served.client.get(f"{INSTANCES}/{path}"), status)
    problem(served.client.post(f"{INSTANCES}/{name}/pause?{query}"), status)


def test_a_name_that_two_apps_have_is_409(served: Served):
    shop(served, "store")

    problem(served.client.get(f"{INSTANCES}/clean/{THIRTEEN}"), 409)
    problem(act(served, "pause"), 409)
    problem(served.client.get(f"{INSTANCES}?task=clean"), 409)
    assert fetched(act(served, "pause", f"store.clean/{THIRTEEN}"))["task"] == "store/clean"
    mine = served.of(served.token(Role.READ, app="store"))
    assert fetched(mine.get(f"{INSTANCES}/clean/{THIRTEEN}"))["task"] == "store/clean"


def test_pause_resume_mark_and_rerun_journal_who_and_why(served: Served):
    assert fetched(act(served, "pause"))["status"] == "paused"
    assert problem(act(served, "pause"), 409)["code"] == "E-STATE"
    assert problem(act(served, "rerun"), 409)["code"] == "E-STATE"
    assert fetched(act(served, "resume"))["status"] == "not_run"
    problem(act(served, "resume"), 409)
    marked = fetched(act(served, "mark_successful"))
    assert (marked["status"], marked["marked"]) == ("successful", True)
    problem(act(served, "mark_successful"), 409)
    again = fetched(act(served, "rerun"))
    assert (again["status"], again["marked"], len(again["changed"])) == ("not_run", False, 1)

    who = ("rest", "a test")
    assert journaled(served, EntryKind.PAUSED) == journaled(served, EntryKind.MARKED) == [who]
    assert journaled(served, EntryKind.RERUN) == [who, who]


def finished(server: Served) -> None:
    """Mark all of an hour and the day as successful."""
    server.pass_time(timedelta(hours=7))
    for path in (f"feed/{THIRTEEN}", f"clean/{THIRTEEN}", f"revenue/{TODAY}"):
        fetched(act(server, "mark_successful", path))
    server.pass_time(timedelta(seconds=5))


def test_rerun_downstream_takes_the_consumers_too(served: Served):
    finished(served)

    changed = fetched(act(served, "rerun_downstream", f"feed/{THIRTEEN}"))["changed"]

    assert changed[0]["task"] == "shop/feed"
    assert {each["task"] for each in changed} == {"shop/feed", "shop/clean"}
    assert {each["status"] for each in changed} == {"not_run"}


def test_rerun_downstream_of_a_token_stays_in_its_app(server: Served):
    shop(server)
    consumer = {
        "app": "later",
        "programs": {"sum": {"run": "programs.sum"}},
        "tasks": {"sum": {"program": "sum", "cycle": "hour", "depends_on": ["shop/clean"]}},
    }
    fetched(server.client.put(f"{NS}/apps/later", json={"spec": consumer}))
    server.pass_time(timedelta(hours=2))
    for path in (f"clean/{THIRTEEN}", f"sum/{THIRTEEN}"):
        fetched(act(server, "mark_successful", path))
    mine = server.of(server.token(Role.OPERATE, app="shop"))
    whole = server.of(server.token(Role.OPERATE))
    path = f"{INSTANCES}/clean/{THIRTEEN}"

    problem(mine.post(f"{path}/rerun_downstream"), 403)
    assert fetched(mine.get(path))["status"] == "successful"
    changed = fetched(whole.post(f"{path}/rerun_downstream"))["changed"]
    assert {each["task"] for each in changed} == {"shop/clean", "later/sum"}


def test_other_actions_and_malformed_bodies_are_400(served: Served):
    path = f"{INSTANCES}/clean/{THIRTEEN}"

    problem(act(served, "explode"), 400)
    problem(served.client.post(f"{path}/pause", json={"reason": 1}), 400)
    problem(served.client.post(f"{path}/pause", json={"reson": "x"}), 400)
    problem(served.client.post(f"{path}/pause", json=[]), 400)
    assert fetched(served.client.post(f"{path}/pause"))["status"] == "paused"


def test_roles_and_apps_of_tokens(served: Served):
    shop(served, "store")
    reader, mine = served.of(served.token(Role.READ)), served.of(served.token(Role.OPERATE, app="shop"))
    other = served.of(served.token(Role.OPERATE, app="other"))
    path = f"{INSTANCES}/shop.clean/{FOURTEEN}"

    assert len(fetched(reader.get(INSTANCES))["items"]) == 14
    problem(reader.post(f"{path}/pause"), 403)
    problem(served.client.get(TASKS), 401)
    for of in (TASKS, INSTANCES):
        assert {each["task"].partition("/")[0] for each in fetched(mine.get(of))["items"]} == {"shop"}
        assert fetched(other.get(of))["items"] == []
    for name in ("shop.clean", "clean", "revenue", "shop.none"):
        problem(other.get(f"{INSTANCES}/{name}/{FOURTEEN}"), 403)
        problem(other.post(f"{INSTANCES}/{name}/{FOURTEEN}/pause"), 403)
        problem(other.get(f"{INSTANCES}?task={name}"), 403)
    problem(other.get(f"{INSTANCES}/none/{FOURTEEN}"), 404)
    fetched(mine.post(f"{path}/pause"))
    assert journaled(served, EntryKind.PAUSED) == [("rest:operate-shop", "")]
