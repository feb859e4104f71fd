"""Policies and the settings of maintenance: what their YAML becomes, with every default."""

import json
from datetime import time, timedelta
from typing import Any

import msgspec
import pytest

from tests.compiler.policy_apps import DAY, DAY_SECONDS, HOUR, app, codes, codes_of, maintenance, plan, policy
from tidegate.compiler.fingerprint import fingerprint
from tidegate.compiler.schema import schema_text
from tidegate.domain.model import (
    App,
    Budget,
    Conditions,
    DebtWeights,
    HealthRules,
    Maintenance,
    MaintenanceBackOff,
    Operation,
    OperationPlan,
    Threshold,
    Throttle,
    encode,
)


def test_an_app_without_them_has_none() -> None:
    assert (app().policies, app().maintenance) == ({}, None)


def test_a_policy_has_its_defaults() -> None:
    found = policy()
    assert (found.name, found.tables, found.priority, found.enabled) == ("it", ("a.b",), 0, True)
    assert (found.operations, found.health, found.description) == ({}, None, "")
    assert found.at is not None


def test_a_policy_has_its_keys() -> None:
    tables = ["warehouse.*.*", "orders", "shop/orders", "/w\\..*/"]
    found = policy(tables=tables, priority=-5, enabled=False, description="for the night")
    assert found.tables == tuple(tables)
    assert (found.priority, found.enabled, found.description) == (-5, False, "for the night")


@pytest.mark.parametrize("operations", [{}, {"expire_snapshots": {}}, {"expire_snapshots": None}])
def test_operations_may_be_empty(operations: Any) -> None:
    assert codes(policies={"it": {"tables": "a.b", "operations": operations}}) == []


@pytest.mark.parametrize("spec", [None, {}])
def test_an_operation_without_keys_has_the_defaults(spec: Any) -> None:
    found = policy(operations={"expire_snapshots": spec}).operations[Operation.EXPIRE_SNAPSHOTS]
    assert found == OperationPlan(
        operation=Operation.EXPIRE_SNAPSHOTS,
        timezone="Europe/Berlin",
        timeout=timedelta(hours=4),
        options={"older_than": 5 * DAY_SECONDS, "retain_last": 1},
        at=found.at,
    )
    assert (found.enabled, found.cron, found.interval, found.window, found.when) == (True, *[None] * 4)


def test_operations_are_in_the_order_in_which_they_run() -> None:
    found = policy(operations={operation: {} for operation in reversed(Operation)})
    assert list(found.operations) == list(Operation)


@pytest.mark.parametrize(
    ("spec", "cron", "interval"),
    [
        ({"cron": " 0  2 * * * "}, "0 2 * * *", None),
        ({"cron": "@daily"}, "@daily", None),
        ({"interval": "1d"}, None, DAY),
        ({"interval": "90m"}, None, timedelta(minutes=90)),
        ({"interval": "PT6H"}, None, 6 * HOUR),
        ({}, None, None),
    ],
)
def test_when_an_operation_is_due(spec: Any, cron: str | None, interval: timedelta | None) -> None:
    found = plan(**spec)
    assert (found.cron, found.interval, found.timezone) == (cron, interval, "Europe/Berlin")


def test_an_operation_has_its_keys() -> None:
    window = {"from": "22:00", "to": "06:00", "days": ["mon", "fri"], "calendar": "berlin"}
    found = plan(cron="@daily", timezone="UTC", timeout="2h", enabled=False, window=window)
    assert (found.timezone, found.timeout, found.enabled) == ("UTC", 2 * HOUR, False)
    assert found.window is not None
    assert (found.window.from_, found.window.to, found.window.days) == (time(22), time(6), ("mon", "fri"))
    assert found.window.timezone == "Europe/Berlin"
    assert found.window.calendar is not None


@pytest.mark.parametrize(
    ("operation", "written", "options"),
    [
        (
            "rewrite_data_files",
            {},
            {
                "strategy": "binpack",
                "target_file_size": 512_000_000,
                "min_input_files": 5,
                "rewrite_all": False,
                "max_commits": 10,
            },
        ),
        (
            "rewrite_data_files",
            {
                "strategy": "sort",
                "target_file_size": "64MiB",
                "min_input_files": 2,
                "delete_file_threshold": 3,
                "rewrite_all": True,
                "max_commits": 4,
            },
            {
                "strategy": "sort",
                "target_file_size": 67_108_864,
                "min_input_files": 2,
                "delete_file_threshold": 3,
                "rewrite_all": True,
                "max_commits": 4,
            },
        ),
        ("rewrite_manifests", {}, {}),
        ("expire_snapshots", {"retain_last": 5}, {"older_than": 5 * DAY_SECONDS, "retain_last": 5}),
        ("expire_snapshots", {"older_than": "12h"}, {"older_than": DAY_SECONDS / 2, "retain_last": 1}),
        ("remove_orphan_files", {}, {"older_than": 3 * DAY_SECONDS}),
        ("remove_orphan_files", {"older_than": "1d"}, {"older_than": DAY_SECONDS}),
    ],
)
def test_options_have_their_defaults_bytes_and_seconds(operation: str, written: Any, options: Any) -> None:
    found = plan(operation, options=written).options
    assert found == options


def test_the_options_are_those_of_the_schema() -> None:
    schema = json.loads(schema_text())["$defs"]
    for operation in Operation:
        written = schema[operation]["properties"]["options"]["properties"]
        assert written.keys() == operation.options.keys()
        defaults = {name: spec["default"] for name, spec in written.items() if "default" in spec}
        assert plan(operation, options=defaults).options == operation.with_defaults({})


@pytest.mark.parametrize(
    ("when", "conditions"),
    [
        ({}, None),
        ({"min_interval": "1h"}, Conditions(min_interval=HOUR)),
        (
            {"any": [{"files": 10}], "at_latest": "2d"},
            Conditions(mode="any", thresholds=(Threshold(measure="files", at_least=10),), at_latest=2 * DAY),
        ),
        (
            {"all": [{"files": 10}, {"snapshots": 0}]},
            Conditions(
                thresholds=(
                    Threshold(measure="files", at_least=10),
                    Threshold(measure="snapshots", at_least=0),
                )
            ),
        ),
        ({"min_interval": "1h", "at_latest": "2d"}, Conditions(min_interval=HOUR, at_latest=2 * DAY)),
    ],
)
def test_conditions(when: Any, conditions: Conditions | None) -> None:
    assert plan(when=when).when == conditions
    assert codes_of(when=when) == []


MEASURES = [
    ("small_file_percent", 12.5, 12.5),
    ("small_files", 100, 100.0),
    ("large_file_percent", 100, 100.0),
    ("files", 0, 0.0),
    ("total_size", "10GB", 10e9),
    ("total_size", 1_000, 1_000.0),
    ("delete_files", 3, 3.0),
    ("delete_ratio", 0.1, 0.1),
    ("snapshots", 5, 5.0),
    ("oldest_snapshot_age", "7d", 7 * DAY_SECONDS),
    ("newest_snapshot_age", "PT1H30M", 5_400.0),
    ("partitions", 5_000, 5_000.0),
    ("partition_skew", 2.5, 2.5),
    ("manifests", 10, 10.0),
    ("manifest_size", "1MiB", 1_048_576.0),
]


@pytest.mark.parametrize(("measure", "written", "value"), MEASURES, ids=[row[0] for row in MEASURES])
def test_a_threshold_has_the_unit_of_its_measure(measure: str, written: Any, value: float) -> None:
    when = plan(when={"any": [{measure: written}]}).when
    assert when is not None
    assert when.thresholds == (Threshold(measure=measure, at_least=value),)
    health = policy(health={"thresholds": {measure: [written, written]}}).health
    assert health is not None
    assert health.thresholds == {measure: (value, value)}


def test_the_rules_of_health() -> None:
    assert policy(health={}).health == HealthRules(small_file=10**8, large_file=10**9)
    spec = {"small_file": "32MB", "large_file": "2GB", "sample": 10}
    assert policy(health=spec).health == HealthRules(small_file=32 * 10**6, large_file=2 * 10**9, sample=10)


def test_maintenance_has_its_defaults() -> None:
    assert maintenance() == Maintenance() == maintenance(budget={}, backoff={}, throttle={}, debt={})
    assert Maintenance().poll == timedelta(minutes=1)
    assert (Maintenance().budget, Maintenance().auto_pools) == (Budget(), {})
    written = {
        "poll": "1m",
        "budget": {"tables_per_poll": 0, "operations_per_poll": 0, "bytes_per_hour": 0},
        "backoff": {"after_failures": 3, "for": "6h"},
        "throttle": {"after_zero_changes": 5, "slow_down_percent": 50, "at_least": "6h"},
        "debt": {
            "critical": 100,
            "warning": 50,
            "info": 10,
            "per_stale_day": 0.5,
            "failure_rate": 1,
            "per_failure_in_a_row": 20,
            "order_by_failures": False,
        },
    }
    assert maintenance(**written) == Maintenance()


def test_maintenance_has_its_keys() -> None:
    found = maintenance(
        poll="5m",
        budget={"tables_per_poll": 10, "operations_per_poll": 20, "bytes_per_hour": "500GB"},
        backoff={"after_failures": 1, "for": "1h"},
        throttle={"after_zero_changes": 2, "slow_down_percent": 12.5, "at_least": "1h"},
        debt={"critical": 1, "failure_rate": 0, "order_by_failures": True},
        auto_pools={"spark": 2},
    )
    assert found == Maintenance(
        poll=timedelta(minutes=5),
        budget=Budget(tables_per_poll=10, operations_per_poll=20, bytes_per_hour=500 * 10**9),
        backoff=MaintenanceBackOff(after_failures=1, for_=HOUR),
        throttle=Throttle(after_zero_changes=2, slow_down_percent=12.5, at_least=HOUR),
        debt=DebtWeights(critical=1, failure_rate=0, order_by_failures=True),
        auto_pools={"spark": 2},
    )


def test_what_is_built_survives_the_store() -> None:
    spec = {"tables": ["a.b", "c"], "operations": {"rewrite_data_files": {"when": {"any": [{"files": 1}]}}}}
    found = app(policies={"it": spec | {"health": {"thresholds": {"files": [1, 2]}}}}, maintenance={})
    assert msgspec.json.decode(encode(found), type=App) == found
    assert fingerprint(found) == fingerprint(
        app(policies={"it": spec | {"health": {"thresholds": {"files": [1, 2]}}}}, maintenance={})
    )
