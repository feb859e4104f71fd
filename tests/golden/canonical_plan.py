"""The canonical plan: a set of apps as plain data with fingerprints.

The same YAML gives the same plan byte for byte, in any order of its parts. So the
golden files can be compared.
"""

from collections.abc import Mapping
from typing import Any

from tidegate.compiler.fingerprint import canonical, fingerprint
from tidegate.domain.model import App
from tidegate.domain.value import Value

PLAN_VERSION = 1
"""Increase it when a reader could misread a plan of an older version."""


def plan(apps: Mapping[str, App]) -> dict[str, Any]:
    """Return the plan of a set of apps: builtin values, sorted by name, without defaults."""
    return {"version": PLAN_VERSION, "apps": {name: _app(apps[name]) for name in sorted(apps)}}


def _app(app: App) -> dict[str, Any]:
    return {
        "fingerprint": fingerprint(app),
        "timezone": app.timezone,
        "description": app.description,
        "groups": dict(sorted(app.groups.items())),
        "calendars": _parts(app.calendars),
        "datasets": _parts(app.datasets),
        "programs": _parts(app.programs),
        "schedules": _parts(app.schedules, statuses={n: s.status for n, s in app.schedules.items()}),
        **_maintenance(app),
    }


def _maintenance(app: App) -> dict[str, Any]:
    """Return the policies and the settings of maintenance, in the plan of an app that has some."""
    found: dict[str, Any] = {}
    if app.policies:
        found["policies"] = _parts(app.policies)
    if app.maintenance is not None:
        found["maintenance"] = canonical(app.maintenance)
    return found


def _parts(parts: Mapping[str, Value], statuses: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return each part with its fingerprint, and schedules also with their initial status."""
    found: dict[str, Any] = {}
    for name in sorted(parts):
        form = canonical(parts[name])
        form.pop("name", None)
        if statuses is not None:
            form["status"] = statuses[name]
        found[name] = {"fingerprint": fingerprint(parts[name]), **dict(sorted(form.items()))}
    return found
