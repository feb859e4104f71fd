"""Policies and the settings of maintenance: what is refused, and what is warned of."""

import json
from typing import Any

import pytest

from tests.compiler.policy_apps import codes, codes_of, compiled
from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.blocked import second_maintenance
from tidegate.compiler.scope.others import Known, nothing_known

REFUSED = [
    ({"cron": "@daily", "interval": "1d"}, ["V251"]),
    ({"when": {"any": [{"files": 1}], "all": [{"files": 1}]}}, ["V251"]),
    ({"cron": "0 2 30 2 *"}, ["V203"]),
    ({"cron": "@daily", "timezone": "Berlin"}, ["V202"]),
    ({"window": {"from": "02:00", "to": "02:00"}}, ["V204"]),
    ({"window": {"from": "02:00", "to": "03:00", "timezone": "CEST"}}, ["V202"]),
    ({"window": {"from": "02:00", "to": "03:00", "calendar": "office"}}, ["N307"]),
    ({"window": {"from": "02:00", "to": "03:00", "days": ["sat"], "calendar": "berlin"}}, ["V204"]),
    ({"interval": "0s"}, ["V201"]),
    ({"timeout": "400d"}, ["V201"]),
    ({"options": {"older_than": "0s"}}, ["V201"]),
    ({"options": {"retain_last": 0}}, ["S107"]),
    ({"options": {"max_age": "7d"}}, ["S101"]),
    ({"when": {"any": [{"snapshot": 1}]}}, ["S101"]),
    ({"when": {"any": [{"snapshots": 1, "files": 1}]}}, ["S108"]),
    ({"when": {"any": [{}]}}, ["S108"]),
    ({"when": {"any": []}}, ["S108"]),
    ({"when": {"any": [{"small_file_percent": 101}]}}, ["S107"]),
    ({"when": {"any": [{"total_size": "1000000TB"}]}}, ["V213"]),
    ({"when": {"any": [{"oldest_snapshot_age": "400d"}], "min_interval": "0s"}}, ["V201", "V201"]),
]


@pytest.mark.parametrize(("spec", "errors"), REFUSED, ids=[json.dumps(row[0])[:60] for row in REFUSED])
def test_an_operation_is_refused(spec: Any, errors: list[str]) -> None:
    assert [code for severity, code in codes_of(**spec) if severity == "error"] == errors


@pytest.mark.parametrize(
    ("spec", "warnings"),
    [
        ({"when": {"at_latest": "2d"}}, ["V209"]),
        ({"when": {"at_latest": "2d", "min_interval": "1h"}}, []),
        ({"when": {"at_latest": "2d", "any": [{"files": 1}]}}, []),
        ({"interval": "1d", "timezone": "UTC"}, ["V209"]),
        ({"timezone": "UTC"}, ["V209"]),
        ({"cron": "@daily", "timezone": "UTC"}, []),
        ({"interval": "30s"}, ["L470"]),
        ({"interval": "60s"}, []),
    ],
)
def test_an_operation_is_warned_of(spec: Any, warnings: list[str]) -> None:
    assert codes_of(**spec) == [("warning", code) for code in warnings]


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"strategy": "sort"}, []),
        ({"strategy": "zorder"}, [("error", "S105")]),
        ({"strategy": "sort", "sort_order": "day"}, [("error", "S101")]),
        ({"target_file_size": 0}, [("error", "S107")]),
        ({"target_file_size": "1000000TB"}, [("error", "V213")]),
    ],
)
def test_options_of_rewrite_data_files(spec: Any, found: list[tuple[str, str]]) -> None:
    assert codes_of("rewrite_data_files", options=spec) == found


@pytest.mark.parametrize(("age", "found"), [("23h", ["V252"]), ("24h", []), ("2d", []), ("400d", ["V201"])])
def test_orphan_files_are_at_least_a_day_old(age: str, found: list[str]) -> None:
    assert [code for _, code in codes_of("remove_orphan_files", options={"older_than": age})] == found


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, ["S103"]),
        ({"tables": []}, ["S108"]),
        ({"tables": ""}, ["S112"]),
        ({"tables": "o" * 257}, ["S112"]),
        ({"tables": ["a.b", "a.b"]}, ["S108"]),
        ({"tables": 5}, ["S104"]),
        ({"tables": "a..b"}, ["V250"]),
        ({"tables": ["a.b", "/(a+)+/", "/[/"]}, ["V250", "V250"]),
        ({"tables": "shop/orders"}, []),
        ({"tables": "shop/order"}, ["L471"]),
        ({"tables": "finance/order"}, []),
        ({"tables": "a", "health": {"small_file": "2GB"}}, ["V253"]),
        ({"tables": "a", "health": {"large_file": "100MB"}}, ["V253"]),
        ({"tables": "a", "health": {"small_file": "1000000TB"}}, ["V213"]),
        ({"tables": "a", "health": {"thresholds": {"files": [2, 1]}}}, ["V253"]),
        ({"tables": "a", "health": {"thresholds": {"oldest_snapshot_age": ["0s", "7d"]}}}, ["V201"]),
        ({"tables": "a", "health": {"thresholds": {"files": [1, 2, 3]}}}, ["S108"]),
        ({"tables": "a", "health": {"thresholds": {"age": [1, 2]}}}, ["S101"]),
        ({"tables": "a", "health": {"sample": 0}}, ["S107"]),
        ({"tables": "a", "operations": {"compact": {}}}, ["S101"]),
    ],
)
def test_a_policy_is_checked(spec: Any, found: list[str]) -> None:
    assert [code for _, code in codes(policies={"it": spec})] == found


def test_a_dataset_with_an_error_of_its_own_is_not_missing() -> None:
    spec = {"datasets": {"orders": {"format": 5}}, "policies": {"it": {"tables": "shop/orders"}}}
    assert codes(**spec) == [("error", "S104")]


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"poll": "1s"}, []),
        ({"poll": "0.9s"}, ["V201"]),
        ({"budget": {"tables_per_poll": -1}}, ["S107"]),
        ({"budget": {"bytes_per_hour": "0GB"}}, []),
        ({"budget": {"bytes_per_hour": "1000000TB"}}, ["V213"]),
        ({"backoff": {"after_failures": 0}}, ["S107"]),
        ({"backoff": {"for": "0s"}}, ["V201"]),
        ({"throttle": {"after_zero_changes": 0}}, ["S107"]),
        ({"throttle": {"at_least": "0s"}}, ["V201"]),
        ({"debt": {"info": -1}}, ["S107"]),
        ({"auto_pools": {"spark": 0}}, ["S107"]),
        ({"auto_pools": {"Spark": 1}}, ["S106"]),
        ({"tables": 1}, ["S101"]),
    ],
)
def test_maintenance_is_checked(spec: Any, found: list[str]) -> None:
    assert [code for _, code in codes(maintenance=spec)] == found


def test_maintenance_is_a_mapping() -> None:
    assert codes(maintenance=[1]) == [("error", "S104")]


def test_auto_pools_are_groups() -> None:
    assert codes(maintenance={"auto_pools": {"any": 1}}) == []
    declared = {"groups": {"spark": "all of Spark"}, "maintenance": {"auto_pools": {"spark": 1, "other": 1}}}
    assert codes(**declared) == [("error", "N303")]


@pytest.mark.parametrize(("limit", "found"), [(2, []), (3, []), (4, [("warning", "L434")])])
def test_a_pool_is_not_above_the_limit_of_its_group(limit: int, found: list[tuple[str, str]]) -> None:
    constraints = [{"concurrency": {"max": 3, "group": "spark"}}]
    parts = {
        "programs": {"p": {"run": "j.p"}},
        "schedules": {"s": {"program": "p", "trigger": {"cron": "@daily"}, "constraints": constraints}},
        "maintenance": {"auto_pools": {"spark": limit, "other": 9}},
    }
    assert codes(**parts) == found


def test_every_refusal_and_warning_has_its_place_the_value_and_a_remedy() -> None:
    operations = {"expire_snapshots": {}, "remove_orphan_files": {"options": {"older_than": "1h"}}}
    for spec, _ in REFUSED:
        operations["expire_snapshots"] = spec
        found = compiled(policies={"it": {"tables": "a..b", "operations": operations}}).diagnostics
        for each in found:
            assert each.at.line and each.hint, each
            assert "got " in each.summary or '"' in each.summary, each


# --- across apps --------------------------------------------------------------------------

Found = tuple[str, str]
"""The file and the code of a diagnostic."""


def files(**texts: str) -> dict[str, bytes]:
    return {f"{name}.yaml": f"app: {name}\n{text}\n".encode() for name, text in texts.items()}


def found_in(*, drafts: tuple[str, ...] = (), known: Known = nothing_known, **texts: str) -> list[Found]:
    compilation = compile_files(files(**texts), drafts=drafts, known=known)
    return [(each.at.file, each.code) for each in compilation.diagnostics]


def test_one_app_has_maintenance() -> None:
    assert found_in(a="maintenance: {}", b="policies: {}", c="maintenance: {poll: 5m}") == [
        ("c.yaml", "N318")
    ]
    assert found_in(a="maintenance: {}", c="maintenance: {poll: 5m}", drafts=("c.yaml",)) == []


def test_the_poll_is_that_of_the_project() -> None:
    hourly = "policies: {it: {tables: a, operations: {expire_snapshots: {interval: 1h}}}}"
    assert found_in(a=hourly) == []
    assert found_in(a=hourly, b="maintenance: {poll: 2h}") == [("a.yaml", "L470")]
    both = f"{hourly}\nmaintenance: {{poll: 5m}}"
    assert found_in(a="maintenance: {poll: 2h}", b=both, drafts=("b.yaml",)) == []


def test_the_poll_is_that_of_a_deployed_app_where_no_file_has_settings() -> None:
    stored = compile_files(files(b="datasets: {raw: {}}", c="maintenance: {poll: 2h}")).models()
    # It names a dataset of b, so the store is looked at.
    reads = "programs: {p: {run: j.p, reads: [b/raw]}}\ntasks: {t: {program: p, cycle: day, depends_on: []}}"
    hourly = f"{reads}\npolicies: {{it: {{tables: a, operations: {{expire_snapshots: {{interval: 1h}}}}}}}}"
    assert found_in(a=hourly, known=lambda: stored) == [("a.yaml", "L470")]
    assert found_in(a=hourly, known=lambda: {"b": stored["b"]}) == []
    assert found_in(a=hourly, known=lambda: {"b": stored["b"], "a": stored["c"]}) == []
    assert found_in(a=hourly, x="maintenance: {}", known=lambda: stored) == []
    draft = "maintenance: {poll: 10m}"
    assert found_in(a=hourly, x=draft, drafts=("x.yaml",), known=lambda: stored) == [("a.yaml", "L470")]


def test_a_policy_on_a_dataset_of_another_app_brings_the_app_to_examples_and_changes_nothing_else() -> None:
    text = "policies: {it: {tables: [b/facts, b/missing, c/raw], operations: {expire_snapshots: {}}}}"
    stored = compile_files(files(b="datasets: {facts: {format: iceberg}}", d="datasets: {raw: {}}")).models()
    alone, known = (compile_files(files(a=text), known=lambda apps=apps: apps) for apps in ({}, stored))
    assert [each.name for each in known.apps["a"].others] == ["b"]
    assert (known.models(), known.diagnostics) == (alone.models(), ())
    assert (alone.apps["a"].others, alone.diagnostics) == ((), ())


@pytest.mark.parametrize(
    ("spec", "poll", "warned"),
    [
        ("cron: '* * * * *'", "1m", False),
        ("cron: '* * * * *'", "2m", True),
        ("cron: '0 2 * * *'", "1d", False),
        ("cron: '0 2 * * *'", "25h", True),
        ("cron: '0 2 * * sun'", "7d", False),
        ("cron: '0 2 * * sun'", "8d", True),
        ("cron: '0 2 1 1 *'", "200d", False),
        ("cron: '0 2 29 2 *'", "366d", False),
        ("cron: '50 23,0 * * *'", "1h", False),
        ("cron: '50 23,0 * * *'", "61m", True),
        ("cron: '10 0,23 * * mon,wed'", "2h", False),
        ("window: {from: '02:00', to: '02:30'}", "30m", False),
        ("window: {from: '23:45', to: '00:14'}", "30m", True),
        ("interval: 30m", "30m", False),
        ("interval: 29m", "30m", True),
    ],
)
def test_what_is_finer_than_a_poll_is_warned_of(spec: str, poll: str, warned: bool) -> None:
    text = f"policies: {{it: {{tables: a, operations: {{expire_snapshots: {{{spec}}}}}}}}}"
    assert found_in(a=f"{text}\nmaintenance: {{poll: {poll}}}") == ([("a.yaml", "L470")] if warned else [])


def test_a_second_app_with_maintenance_is_blocked_where_the_first_is_deployed() -> None:
    apps = compile_files(files(a="maintenance: {}", b="policies: {}")).models()
    one, other, without = {"c": apps["a"]}, {"a": apps["a"]}, {"b": apps["b"]}
    (blocked,) = second_maintenance(one, other)
    assert blocked.summary == (
        "app c has `maintenance`, which is about the whole store, and so has app a, which is deployed"
    )
    assert blocked.remedy and not blocked.forcible
    assert not [*second_maintenance(without, other), *second_maintenance(one, without)]
