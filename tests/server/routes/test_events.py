"""Reports of partitions over REST: routed before the answer, repeated, refused, and who may send them."""

import re
from datetime import timedelta
from typing import Any

import pytest

from tests.server.sales import APP, SCHEDULES, SPEC, deployed
from tests.server.serving import NS, Served, problem
from tests.server.shop import fetched, journaled
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

PATH, CUSTOM = f"{NS}/events/partitions", f"{NS}/events/custom"
TRIGGER = f"{SCHEDULES}/each_part/trigger"
EIGHTH, NINTH = {"key": "2026-03-08", "rows": 5}, {"key": "2026-03-09", "rows": 7, "bytes": 70}


@pytest.fixture
def served(server: Served) -> Served:
    """A server of an app with a schedule for each day of its raw data."""
    datasets = {**SPEC["datasets"], "flag": {}}
    deployed(server, {**SPEC, "datasets": datasets})
    return server


def report(server: Served, client: Any = None, /, **body: Any) -> Any:
    wanted = {"app": "sales", "dataset": "raw", "partitions": [EIGHTH, NINTH], **body}
    found = {key: value for key, value in wanted.items() if value is not None}
    return (client or server.client).post(PATH, json=found)


def events(server: Served) -> list[Event]:
    with server.store.reading() as reader:
        return sorted(reader.events(key_prefix="partition:"), key=lambda event: event.partition or "")


def jobs(server: Served) -> dict[str, Job]:
    with server.store.reading() as reader:
        return {job.key or "": job for job in reader.jobs()}


def test_whole_numbers_count_and_others_are_named(served: Served):
    (found,) = fetched(report(served, partitions=[{**EIGHTH, "rows": 1e6, "bytes": 7.0}]), 202)["partitions"]
    assert (found["rows"], found["bytes"]) == (1_000_000, 7)

    for wrong, said in ((7.5, "got 7.5"), (True, "got true"), ("7", 'got "7"')):
        answer = report(served, partitions=[EIGHTH, {**NINTH, "rows": wrong}])
        assert answer.status_code == 400
        assert said in answer.text.replace("\\", "")
    assert len(events(served)) == 1


def test_a_report_is_routed_before_it_is_answered(served: Served):
    answer = fetched(report(served, reason="landed", request="r1"), 202)

    first, second = events(served)
    assert answer == {
        "app": "sales",
        "dataset": "raw",
        "request": "r1",
        "partitions": [
            {
                "key": "2026-03-08",
                "rows": 5,
                "bytes": None,
                "at": "2026-03-10T12:00:00Z",
                "event": first.id,
            },
            {
                "key": "2026-03-09",
                "rows": 7,
                "bytes": 70,
                "at": "2026-03-10T12:00:00Z",
                "event": second.id,
            },
        ],
        "repeated": False,
        "warnings": [],
    }
    assert (second.key, second.rows, second.bytes) == ("partition:sales/raw", 7, 70)
    assert sorted(jobs(served)) == ["2026-03-08", "2026-03-09"]
    with served.store.reading() as reader:
        assert reader.unrouted_events(9) == ()
        assert [row.landed for row in reader.ledger()] == [2]
    assert journaled(served, EntryKind.PARTITIONS) == [("rest", "landed")]
    assert second.detail == "reported by rest: landed"


@pytest.mark.parametrize("away", [timedelta(), timedelta(seconds=3), timedelta(days=1)])
def test_it_is_routed_whenever_the_last_tick_was(served: Served, away: timedelta):
    served.pass_time(timedelta(seconds=1))
    served.now += away

    fetched(report(served), 202)
    assert sorted(jobs(served)) == ["2026-03-08", "2026-03-09"]
    served.pass_time(timedelta(seconds=1))
    assert {job.satisfied_at is not None for job in jobs(served).values()} == {True}


def test_when_the_data_came_to_be(served: Served):
    times = ["2026-03-10T03:00:00+02:00", "2026-03-11T00:00:00Z"]
    body = [{"key": f"2026-03-0{day}", "at": at} for day, at in zip((8, 9), times, strict=True)]

    fetched(report(served, partitions=body), 202)

    assert [each.time.isoformat() for each in events(served)] == [
        "2026-03-10T01:00:00+00:00",
        "2026-03-10T12:00:00+00:00",
    ]
    assert {each.arrived for each in events(served)} == {served.now}


def test_the_same_request_is_answered_as_the_first_time(served: Served):
    first = fetched(report(served, request="r1"), 202)
    served.pass_time(timedelta(hours=1))
    second = fetched(report(served, request="r1"), 200)

    assert second == {**first, "repeated": True}
    assert len(events(served)) == 2
    assert len(journaled(served, EntryKind.PARTITIONS)) == 1


@pytest.mark.parametrize(
    "other", [{"partitions": [EIGHTH]}, {"partitions": [NINTH, EIGHTH]}, {"dataset": "cleaned"}]
)
def test_the_same_request_with_another_body_is_409(served: Served, other: Any):
    fetched(report(served, request="r1"), 202)

    problem(report(served, request="r1", **other), 409)
    assert len(events(served)) == 2


def test_without_a_request_every_call_is_a_report(served: Served):
    fetched(report(served), 202)
    fetched(report(served), 202)

    assert len(events(served)) == 4


def test_a_refused_call_names_each_wrong_key_changes_nothing_and_is_not_remembered(served: Served):
    body = [{"key": "2026-13-01"}, NINTH, {"key": "soon"}, {}]

    found = problem(report(served, partitions=body, request="r1"), 400)

    assert [each["path"] for each in found["diagnostics"]] == [
        "partitions[0].key",
        "partitions[2].key",
        "partitions[3].key",
    ]
    assert "2026-13-01" in found["detail"]
    assert "soon" in found["detail"]
    assert (events(served), jobs(served), journaled(served, EntryKind.PARTITIONS)) == ([], {}, [])
    assert fetched(report(served, request="r1"), 202)["repeated"] is False


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"app": "none"}, "none"),
        ({"dataset": "rav"}, "rav"),
        ({"dataset": "flag"}, "2026-03-08"),
        ({"partitions": []}, "partitions"),
        ({"partitions": [{"key": 5}]}, "key"),
        ({"partitions": [{**NINTH, "rows": -1}]}, "rows"),
        ({"partitions": [{**NINTH, "bytes": 2**63}]}, "bytes"),
        ({"partitions": [{**NINTH, "rows": 1.5}]}, "rows"),
        ({"partitions": [{**NINTH, "at": "2026-03-10T00:00:00"}]}, "at"),
        ({"partitions": [{**NINTH, "at": "noon"}]}, "at"),
        ({"partitions": [{**NINTH, "at": "0001-01-01T00:00:00+14:00"}]}, "0001-01-01"),
        ({"partitions": [{**NINTH, "size": 1}]}, "size"),
        ({"partitions": [NINTH] * 10_001}, "partitions"),
        ({"partitions": None}, "partitions"),
        ({"request": 5}, "request"),
        ({"request": "a\x00"}, "request"),
        ({"other": 5}, "other"),
    ],
)
def test_what_is_malformed_or_unknown_is_400(served: Served, body: Any, named: str):
    assert named in problem(report(served, **body), 400)["detail"]
    assert events(served) == []


def test_a_dataset_without_partitions_has_no_key(served: Served):
    answer = fetched(report(served, dataset="flag", partitions=[{"rows": 3}]), 202)

    assert answer["partitions"][0]["key"] == ""
    assert [(each.key, each.partition) for each in events(served)] == [("partition:sales/flag", "")]


def test_a_custom_event_is_routed_once_for_each_request(served: Served):
    body = {"app": "sales", "dataset": "flag", "request": "closed-2026-02"}

    first = fetched(served.client.post(CUSTOM, json=body), 202)
    again = fetched(served.client.post(CUSTOM, json=body), 200)

    assert again == {**first, "repeated": True}
    assert [(each.id, each.key) for each in events(served)] == [
        (first["partitions"][0]["event"], "partition:sales/flag")
    ]


def test_a_custom_event_is_of_a_dataset_without_partitions(served: Served):
    refused = problem(served.client.post(CUSTOM, json={"app": "sales", "dataset": "raw"}), 400)

    assert "sales/raw has partitions" in refused["detail"]
    assert events(served) == []


def test_the_answer_stays_when_the_dataset_goes(served: Served):
    first = fetched(report(served, request="r1"), 202)
    served.client.delete(APP)

    assert fetched(report(served, request="r1"), 200) == {**first, "repeated": True}
    problem(report(served, request="r2"), 400)


def test_it_needs_operate_for_the_app_of_the_body(served: Served):
    clients = {role: served.of(served.token(role)) for role in Role}
    mine = served.of(served.token(Role.OPERATE, app="sales"))
    other = served.of(served.token(Role.ADMIN, app="other"))

    problem(report(served), 401)
    problem(report(served, clients[Role.READ]), 403)
    problem(report(served, other), 403)
    problem(report(served, mine, app="none"), 403)
    fetched(report(served, clients[Role.OPERATE]), 202)
    fetched(report(served, mine), 202)
    assert journaled(served, EntryKind.PARTITIONS) == [
        ("rest:operate-all", None),
        ("rest:operate-sales", None),
    ]


TWO = {
    **SPEC,
    "datasets": {
        **SPEC["datasets"],
        "flights": {"partitions": {"day": {"cycle": "day", "start": "2026-01-01"}, "origin": ["EWR", "JFK"]}},
    },
}
TWO["schedules"] = {
    "each_part": {**SPEC["schedules"]["each_day"], "for_each": "partition", "args": {}, "constraints": []}
}
TWO["schedules"]["each_part"]["trigger"] = {"partitions": {"dataset": "flights"}}
TWO["programs"] = {**SPEC["programs"], "clean": {"run": "programs.clean", "reads": ["flights"]}}
NINTH_JFK, AS_TEXT = {"origin": "JFK", "day": "2026-03-09"}, "2026-03-09|JFK"


def test_a_key_of_two_dimensions_is_a_text_or_a_mapping(server: Served):
    deployed(server, TWO)

    answer = fetched(report(server, dataset="flights", partitions=[{"key": NINTH_JFK}], request="r1"), 202)
    assert answer["partitions"][0]["key"] == AS_TEXT
    again = report(server, dataset="flights", partitions=[{"key": AS_TEXT}], request="r1")
    assert fetched(again, 200) == {**answer, "repeated": True}
    assert [each.partition for each in events(server)] == [AS_TEXT]
    assert sorted(jobs(server)) == [AS_TEXT]

    triggered = fetched(server.client.post(TRIGGER, json={"key": {**NINTH_JFK, "origin": "EWR"}}), 202)
    assert jobs(server)["2026-03-09|EWR"].id == triggered["job"]


@pytest.mark.parametrize(
    ("key", "named"),
    [
        ({"day": "2026-03-09"}, ("2026-03-09", "a key needs day and origin, got day")),
        ({**NINTH_JFK, "hour": "1"}, ("JFK", "a key needs day and origin, got day, hour, origin")),
        ({**NINTH_JFK, "origin": "LAX"}, ("LAX", 'a key of "origin"')),
        ({**NINTH_JFK, "day": "2026-03-09|JFK"}, ("has 3 parts", "day|origin")),
    ],
)
def test_a_mapping_that_is_no_key_names_the_key_and_the_dimensions(server: Served, key: Any, named: Any):
    deployed(server, TWO)

    reported = problem(report(server, dataset="flights", partitions=[{"key": key}]), 400)
    triggered = problem(server.client.post(TRIGGER, json={"key": key}), 400)

    for each in named:
        assert each in reported["detail"]
        assert each in triggered["detail"]
    (found,) = reported["diagnostics"]
    assert found["path"] == "partitions[0].key"
    assert re.search(r'write (for example )?\{"day": "2026-0[0-9-]+", "origin": "[A-Z]+"\}', found["hint"])
    assert (events(server), jobs(server)) == ([], {})


def test_the_mapping_is_in_the_schema(server: Served):
    schemas = server.client.get("/openapi.json").json()["components"]["schemas"]

    for name in ("LandedPartition", "TriggerByHand"):
        key = schemas[name]["properties"]["key"]
        assert {"string", "object"} <= {each["type"] for each in key["anyOf"]}
        assert "as in the YAML" in key["description"]


def test_what_the_command_line_refuses_is_accepted_with_warnings(served: Served):
    fill = {"run": "programs.fill", "writes": ["raw"]}
    deployed(served, {**SPEC, "programs": {**SPEC["programs"], "fill": fill}})

    answer = fetched(report(served, request="r1"), 202)

    assert answer["warnings"] == [
        "sales/raw: program fill writes it, and its publishes are reported by themselves"
    ]
    assert len(events(served)) == 2
