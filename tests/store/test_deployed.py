"""Every store keeps what is deployed: apps, schedules, and the reverse index."""

from datetime import datetime, timedelta

import msgspec
import pytest

from tests.worlds.samples import NOON, app, at, schedule
from tidegate.domain.model import (
    AllTrigger,
    At,
    ConcurrencyConstraint,
    CronTrigger,
    OnSuspend,
    PartitionsTrigger,
    RateConstraint,
    Schedule,
    TaskTrigger,
    WindowConstraint,
)
from tidegate.scheduler.commands.deployment.rename import put_subscriptions
from tidegate.scheduler.model.deployed import APPS, ScheduleState, Status
from tidegate.scheduler.model.event import SUBSCRIPTIONS, Subscription
from tidegate.scheduler.model.records.token import TOKENS, Role, Token
from tidegate.scheduler.store.engine_reader import revisions_of_apps
from tidegate.scheduler.store.protocol import Store

RICH = Schedule(
    name="s",
    program="p",
    trigger=AllTrigger(
        of=(
            PartitionsTrigger(dataset="d", count=3, wait_at_most=timedelta(hours=3)),
            CronTrigger(cron="@daily"),
        ),
        at=At(file="a.yaml", line=3, column=5),
    ),
    constraints=(
        WindowConstraint(from_=NOON.time(), to=at(90).time(), days=("mon", "fri"), timezone="Europe/Berlin"),
        ConcurrencyConstraint(max=2, group="nightly", otherwise="skip"),
    ),
    args={"text": "ü\u0000\U0001f30a", "numbers": [1, 2.5, -3], "none": None, "nested": {"at": True}},
    for_each="partition",
)


def test_apps_come_back_whole_and_by_name(store: Store) -> None:
    apps = [app("b"), app("a", revision=7, deployed_at=at(0.000001))]
    with store.transaction() as transaction:
        transaction.put_records(APPS, apps)
    with store.reading() as reader:
        assert reader.records(APPS) == (apps[1], apps[0])
        assert reader.records(APPS, name={apps[0].name, "unknown"}) == (apps[0],)
        assert reader.records(APPS, name=()) == ()
        assert revisions_of_apps(reader) == {each.name: each.revision for each in apps}
        header = reader.app_headers()[0]
        assert [each.name for each in reader.app_headers()] == ["a", "b"]
        for field in ("name", "revision", "deployed_at", "project", "namespace"):
            assert getattr(header, field) == getattr(apps[1], field)


def test_an_app_keeps_its_namespace(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(APPS, [app("a"), app("b", namespace="lake")])
        transaction.put_records(APPS, [app("a", namespace="analytics")])
    with store.reading() as reader:
        assert {each.name: each.namespace for each in reader.records(APPS)} == {"a": "analytics", "b": "lake"}


def test_a_token_keeps_its_namespace(store: Store) -> None:
    tokens = [
        Token(name=name, hash="h", role=Role.READ, namespace=namespace, created_at=NOON)
        for name, namespace in (("everywhere", None), ("lake", "lake"))
    ]
    with store.transaction() as transaction:
        transaction.put_records(TOKENS, tokens)
    with store.reading() as reader:
        assert reader.records(TOKENS) == tuple(tokens)


def test_an_app_keeps_its_owner_and_gets_another_one_when_it_is_put_again(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(APPS, [app("a"), app("b", project="flights"), app("c", project="ü")])
        transaction.put_records(APPS, [app("a", project="shop")])
    with store.reading() as reader:
        assert {each.name: each.project for each in reader.records(APPS)} == {
            "a": "shop",
            "b": "flights",
            "c": "ü",
        }


def test_putting_an_app_again_replaces_it_and_deleting_an_unknown_one_is_nothing(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(APPS, [app("a"), app("b"), app("a", revision=2)])
        transaction.drop_records(APPS, ["b", "never"])
        assert transaction.records(APPS) == (app("a", revision=2),)


def test_a_schedule_comes_back_as_it_was_put(store: Store) -> None:
    state = schedule(
        "a/s",
        spec=RICH,
        status="suspended",
        changed_by="ui",
        active_since=at(1),
        fires_after=at(2),
        next_fire_at=at(3),
        clocks={"0": at(4), "1.0": at(0.000001)},
    )
    with store.transaction() as transaction:
        transaction.put_schedules([state])
    with store.reading() as reader:
        assert reader.schedules() == (state,)


def test_schedules_are_selected_by_app_by_ref_and_by_both(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_schedules([schedule(ref) for ref in ("b/z", "a/y", "a/X", "ab/x")])
    with store.reading() as reader:
        assert reader.schedule_refs() == ("a/X", "a/y", "ab/x", "b/z")
        cases = [
            ({}, ["a/X", "a/y", "ab/x", "b/z"]),
            ({"app": "a"}, ["a/X", "a/y"]),
            ({"refs": ["b/z", "a/y", "b/none"]}, ["a/y", "b/z"]),
            ({"refs": []}, []),
            ({"app": "a", "refs": ["b/z", "a/y"]}, ["a/y"]),
            ({"app": "none"}, []),
            ({"app": "a", "kind": "cron"}, ["a/X", "a/y"]),
            ({"kind": "task"}, []),
        ]
        for filters, expected in cases:
            assert [state.ref for state in reader.schedules(**filters)] == expected, filters


def suspended(ref: str, on_suspend: OnSuspend) -> ScheduleState:
    """A suspended schedule whose fire came at noon."""
    state = schedule(ref, next_fire_at=NOON, status="suspended")
    return msgspec.structs.replace(state, spec=msgspec.structs.replace(state.spec, on_suspend=on_suspend))


def test_due_schedules_are_those_that_take_events_and_whose_fire_has_come_earliest_first(
    store: Store,
) -> None:
    with store.transaction() as transaction:
        transaction.put_schedules(
            [
                schedule("a/now", next_fire_at=at(10)),
                schedule("a/later", next_fire_at=at(10.00001)),
                schedule("a/long-ago", next_fire_at=at(-10)),
                schedule("a/also-now", next_fire_at=at(10)),
                schedule("a/suspended", next_fire_at=at(0), status="suspended"),
                schedule("a/no-cron"),
                suspended("a/drain", "drain"),
                suspended("a/hold", "hold"),
                suspended("a/backlog", "backlog"),
            ]
        )
    with store.reading() as reader:
        due = [state.ref for state in reader.due_schedules(at(10), 10)]
        assert due == ["a/long-ago", "a/backlog", "a/hold", "a/also-now", "a/now"]
        assert [state.ref for state in reader.due_schedules(at(10), 1)] == ["a/long-ago"]


def task(ref: str, *, status: Status = "active", next_fire_at: datetime | None = NOON) -> ScheduleState:
    """A task whose next day is to be generated."""
    state = schedule(ref, next_fire_at=next_fire_at, status=status)
    return msgspec.structs.replace(
        state, spec=msgspec.structs.replace(state.spec, trigger=TaskTrigger(cycle="day"))
    )


def test_due_tasks_are_apart_from_schedules_and_due_while_they_are_suspended(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_schedules(
            [
                schedule("a/s", next_fire_at=at(0)),
                task("a/now", next_fire_at=at(10)),
                task("a/later", next_fire_at=at(10.00001)),
                task("a/suspended", next_fire_at=at(9), status="suspended"),
                task("a/disabled", next_fire_at=None),
                task("a/also-now", next_fire_at=at(10)),
            ]
        )
    with store.reading() as reader:
        assert [state.ref for state in reader.due_schedules(at(10), 10)] == ["a/s"]
        due = [state.ref for state in reader.due_schedules(at(10), 10, tasks=True)]
        assert due == ["a/suspended", "a/also-now", "a/now"]
        assert [state.ref for state in reader.due_schedules(at(10), 1, tasks=True)] == ["a/suspended"]


def test_a_suspended_schedule_is_due_no_more(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_schedules([schedule("a/s", next_fire_at=at(0))])
        transaction.put_schedules([schedule("a/s", next_fire_at=at(0), status="suspended")])
        assert transaction.due_schedules(at(1), 10) == ()


@pytest.mark.parametrize("many", [1, 2000])
def test_subscriptions_are_found_by_key_and_replaced_by_schedule(store: Store, many: int) -> None:
    old = [Subscription(event_key=f"old{n}", schedule="a/s", leaf="") for n in range(many)]
    kept = Subscription(event_key="k", schedule="a/t", leaf="0")
    new = [
        Subscription(event_key="k", schedule="a/s", leaf="1"),
        Subscription(event_key="k", schedule="a/s", leaf="0"),
    ]
    with store.transaction() as transaction:
        put_subscriptions(transaction, ["a/s", "a/t"], [*old, kept])
        assert len(transaction.records(SUBSCRIPTIONS, event_key=[each.event_key for each in old])) == many
        put_subscriptions(transaction, ["a/s"], [*new, new[0]])
    with store.reading() as reader:
        assert reader.records(SUBSCRIPTIONS, event_key=["k", "none"]) == (new[1], new[0], kept)
        assert reader.records(SUBSCRIPTIONS, event_key=["old0"]) == ()
        assert reader.records(SUBSCRIPTIONS, event_key=[]) == ()


def test_deleting_schedules_takes_their_subscriptions_with_them(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_schedules([schedule("a/s"), schedule("a/t")])
        put_subscriptions(
            transaction,
            ["a/s", "a/t"],
            [
                Subscription(event_key="k", schedule="a/s", leaf=""),
                Subscription(event_key="k", schedule="a/t", leaf=""),
            ],
        )
        transaction.delete_schedules(["a/s", "a/never"])
    with store.reading() as reader:
        assert [state.ref for state in reader.schedules()] == ["a/t"]
        assert [each.schedule for each in reader.records(SUBSCRIPTIONS, event_key=["k"])] == ["a/t"]


def test_the_constraints_of_a_kind_are_found_among_all_schedules(store: Store) -> None:
    hourly, daily = (RateConstraint(max=2, per=timedelta(hours=hours)) for hours in (1, 24))
    trigger = CronTrigger(cron="0 6 * * *")
    named = Schedule(
        name="rate", program="rate", trigger=trigger, constraints=(ConcurrencyConstraint(max=1),)
    )
    with store.transaction() as transaction:
        transaction.put_schedules(
            [
                schedule("a/none"),
                schedule("a/rate", spec=named),
                *(
                    schedule(
                        f"{app}/s",
                        spec=Schedule(
                            name="s",
                            program="p",
                            trigger=trigger,
                            constraints=(ConcurrencyConstraint(max=1), constraint),
                        ),
                    )
                    for app, constraint in (("a", hourly), ("b", daily))
                ),
            ]
        )
    with store.reading() as reader:
        assert reader.constraints((RateConstraint,)) == (("a/s", hourly), ("b/s", daily))
        assert reader.constraints((RateConstraint,), app="b") == (("b/s", daily),)
        assert len(reader.constraints((RateConstraint, ConcurrencyConstraint), app="a")) == 3
