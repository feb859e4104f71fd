"""Apps with policies and settings of maintenance, for the tests of these."""

import json
from datetime import timedelta
from typing import Any

import msgspec

from tidegate.compiler.compile import Compilation, compile_files
from tidegate.domain.model import App, Maintenance, Operation, OperationPlan, Policy

APP: dict[str, Any] = {
    "app": "shop",
    "timezone": "Europe/Berlin",
    "calendars": {"berlin": {"country": "DE", "subdivision": "BE"}},
    "datasets": {"orders": {"format": "iceberg"}},
}
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DAY_SECONDS = 86_400.0


def compiled(**parts: Any) -> Compilation:
    return compile_files({"a.yaml": json.dumps({**APP, **parts}).encode()})


def app(**parts: Any) -> App:
    found = compiled(**parts)
    assert found.ok, [(each.code, each.summary) for each in found.diagnostics]
    return found.apps["shop"].app


def policy(**spec: Any) -> Policy:
    return app(policies={"it": {"tables": "a.b", **spec}}).policies["it"]


def plan(operation: str = "expire_snapshots", **spec: Any) -> OperationPlan:
    return policy(operations={operation: spec}).operations[Operation(operation)]


def maintenance(**spec: Any) -> Maintenance:
    found = app(maintenance=spec).maintenance
    assert found is not None
    return msgspec.structs.replace(found, at=None)


def codes(**parts: Any) -> list[tuple[str, str]]:
    """The codes of an app's diagnostics, with their severities."""
    return [(each.severity, each.code) for each in compiled(**parts).diagnostics]


def codes_of(operation: str = "expire_snapshots", **spec: Any) -> list[tuple[str, str]]:
    return codes(policies={"it": {"tables": "a.b", "operations": {operation: spec}}})
