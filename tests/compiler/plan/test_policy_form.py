"""Policies and the settings of maintenance as a difference shows them: as they are written."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.compiler.policy_apps import maintenance, policy
from tidegate.compiler.plan.forms import maintenance_form, policy_form
from tidegate.domain.model import (
    Conditions,
    HealthRules,
    Maintenance,
    Operation,
    OperationPlan,
    Policy,
    Threshold,
)


def test_a_policy_is_shown_as_it_is_written() -> None:
    spec: dict[str, Any] = {
        "tables": ["a.b", "shop/orders"],
        "priority": 3,
        "enabled": False,
        "operations": {
            "rewrite_data_files": {
                "enabled": False,
                "cron": "@daily",
                "timezone": "UTC",
                "window": {"from": "02:00", "to": "03:00", "timezone": "Europe/Berlin"},
                "timeout": "2h",
                "options": {"target_file_size": "1GB", "strategy": "sort"},
                "when": {"any": [{"files": 10}, {"delete_ratio": 0.25}], "min_interval": "1h"},
            },
            "expire_snapshots": {
                "interval": "7d",
                "timezone": "UTC",
                "options": {"older_than": "7d"},
                "when": {"all": [{"total_size": "1GB"}, {"oldest_snapshot_age": "7d"}], "at_latest": "2d"},
            },
            "remove_orphan_files": {"timezone": "UTC", "when": {"min_interval": "1h"}},
        },
        "health": {"small_file": "1MB", "large_file": "2MB", "sample": 5, "thresholds": {"files": [1, 2]}},
        "description": "for the night",
    }
    assert policy_form(policy(**spec)) == spec


@pytest.mark.parametrize("number", [int, float])
def test_whole_numbers_of_either_type_are_shown_alike(number: Callable[[int], float]) -> None:
    values = {"files": 10, "delete_ratio": 1, "total_size": 5_000_000, "oldest_snapshot_age": 3600}
    when = Conditions(thresholds=tuple(Threshold(measure=m, at_least=number(v)) for m, v in values.items()))
    expire = Operation.EXPIRE_SNAPSHOTS
    found = policy_form(
        Policy(
            name="it",
            tables=("a.b",),
            operations={expire: OperationPlan(operation=expire, when=when)},
            health=HealthRules(thresholds={"snapshots": (number(10), number(20))}),
        )
    )
    shown = [{"files": 10}, {"delete_ratio": 1}, {"total_size": "5MB"}, {"oldest_snapshot_age": "1h"}]
    assert found["operations"]["expire_snapshots"]["when"] == {"all": shown}
    assert found["health"] == {"thresholds": {"snapshots": [10, 20]}}


def test_defaults_are_not_shown() -> None:
    full = {"strategy": "binpack", "target_file_size": "512MB", "max_commits": 10}
    found = policy(operations={"rewrite_data_files": {"timeout": "4h", "options": full}}, health={})
    operation = {"timezone": "Europe/Berlin"}
    assert policy_form(found) == {
        "tables": ["a.b"],
        "operations": {"rewrite_data_files": operation},
        "health": {},
    }


def test_maintenance_is_shown_as_it_is_written() -> None:
    spec = {"poll": "5m", "budget": {"bytes_per_hour": "500GB"}, "backoff": {"for": "1h"}}
    assert maintenance_form(maintenance(**spec)) == spec
    assert maintenance_form(Maintenance()) == {}
