"""A saved plan: what `tidegate plan --out` has shown, and how `deploy --plan` knows that it holds.

It has no specification: the YAML is read again. It has digests of the apps, the revisions of what is deployed
and the settings that decide what a deployment does. If one of them has moved, the plan is refused.
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import msgspec

from tidegate.compiler.fingerprint import fingerprint
from tidegate.domain.error import UserError
from tidegate.domain.model import App
from tidegate.domain.value import Value
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.open import shown_url

FORM = 1
"""Version of the form of the file."""

MAX_PLAN_BYTES = 64 * 1024 * 1024


class PlanMoved(UserError):
    """A saved plan that no longer holds."""


class Options(Value, kw_only=True):
    """What the plan was asked for; see `tidegate.cli.develop.plan.plan`."""

    update_schedules: bool
    app: tuple[str, ...] | None
    remove_apps: bool


class Basis(Value, kw_only=True):
    """What a plan depends on.

    Attributes:
        settings: values by key.
        apps: digests of the apps of the YAML, by name.
        deployed: revisions of deployed apps ("app sales") and schedules ("schedule sales/daily").
    """

    settings: dict[str, str]
    apps: dict[str, str]
    deployed: dict[str, int]


class SavedPlan(Value, kw_only=True):
    """The content of the file.

    Attributes:
        changes: the difference as `plan --format json` prints it, for people and tools.
    """

    form: int = FORM
    made_at: datetime
    options: Options
    basis: Basis
    changes: dict[str, Any]


def basis_of(settings: Settings, wanted: Mapping[str, App], reader: EngineReader) -> Basis:
    """Return what a plan depends on now."""
    deployed = {f"app {app.name}": app.revision for app in reader.records(APPS)}
    deployed |= {f"schedule {state.ref}": state.revision for state in reader.schedules()}
    return Basis(
        settings={
            "environment": settings.environment,
            "project.name": settings.name,
            "store.url": shown_url(settings.store_url),
            "warehouse.path": str(settings.warehouse),
            "warehouse.paths_from": str(settings.paths_from),
        },
        apps={name: _digest(app) for name, app in wanted.items()},
        deployed=deployed,
    )


def moved(then: Basis, now: Basis) -> Iterator[str]:
    """Yield what has moved since a plan was made, one line each."""
    for key in sorted({*then.settings, *now.settings}):
        old, new = then.settings.get(key, ""), now.settings.get(key, "")
        if old != new:
            yield f"the setting {key} was {old or 'empty'}, now {new or 'empty'}"
    for name in sorted({*then.apps, *now.apps}):
        if then.apps.get(name) != now.apps.get(name):
            what = "is new" if name not in then.apps else "is gone" if name not in now.apps else "has changed"
            yield f"app {name} {what} in the YAML, in its rows, or in the variables that it refers to"
    for name in sorted({*then.deployed, *now.deployed}):
        old, new = then.deployed.get(name), now.deployed.get(name)
        if old == new:
            continue
        if old is None:
            yield f"{name} was deployed since"
        elif new is None:
            yield f"{name} was deleted since"
        else:
            yield f"{name} was changed in the store since: revision {old}, now {new}"


def check(plan: SavedPlan, now: Basis) -> None:
    """Refuse a plan that no longer holds.

    Raises:
        PlanMoved: the message says what has moved.
    """
    found = list(moved(plan.basis, now))
    if found:
        raise PlanMoved(
            f"the plan of {plan.made_at:%Y-%m-%d %H:%M:%SZ} no longer holds: {'; '.join(found)}",
            "look at it again: tidegate plan --out FILE",
        )


def check_shown(plan: SavedPlan, changes: Mapping[str, Any]) -> None:
    """Refuse a plan whose file shows other changes of apps than those that would be carried out.

    What becomes of waiting jobs is left out: they come and go between a plan and its deployment.

    Args:
        changes: what would be carried out, in the form of `SavedPlan.changes`.

    Raises:
        PlanMoved: they differ.
    """
    if _shown(plan.changes) != _shown(msgspec.json.decode(msgspec.json.encode(changes))):
        raise PlanMoved(
            f"the plan of {plan.made_at:%Y-%m-%d %H:%M:%SZ} shows other changes than those that it makes: "
            "its file was edited",
            "make it again: tidegate plan --out FILE",
        )


def write_plan(file: Path, plan: SavedPlan) -> None:
    """Write a plan to a file, whole or not at all.

    Raises:
        UserError: the file cannot be written.
    """
    if not file.name:
        raise UserError(f'"{file}" is a folder', "name a file for the plan")
    beside = file.with_name(f"{file.name}.part")
    try:
        beside.write_bytes(msgspec.json.format(msgspec.json.encode(plan), indent=2) + b"\n")
        beside.replace(file)
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}", "name another file") from error


def read_plan(file: Path) -> SavedPlan:
    """Read a plan.

    Raises:
        UserError: the file cannot be read, or is not a plan of this version.
    """
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_PLAN_BYTES)
        found = msgspec.json.decode(data, type=SavedPlan)
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}", "name a file of `plan --out`") from error
    except msgspec.DecodeError as error:
        raise UserError(f"{file} is not a saved plan: {error}", "name a file of `plan --out`") from error
    if found.form != FORM:
        raise UserError(f"{file} is a plan of another version", "make it again: tidegate plan --out FILE")
    return found


def _digest(app: App) -> str:
    """Return a digest of all that a deployment writes, without places in the file."""
    parts = {
        "app": fingerprint(app),
        "statuses": {name: schedule.status for name, schedule in sorted(app.schedules.items())},
        "renamed": repr(app.renamed_from),
        "parts": sorted(
            repr((section, name, part.renamed_from))
            for section, parts in (
                ("datasets", app.datasets),
                ("programs", app.programs),
                ("schedules", app.schedules),
            )
            for name, part in parts.items()
        ),
    }
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _shown(changes: Mapping[str, Any]) -> Any:
    """Return the changes of apps, parts and schedules, without what becomes of their jobs."""

    def without_jobs(value: Any) -> Any:
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            return {key: without_jobs(each) for key, each in members.items() if key != "consequences"}
        return [without_jobs(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value

    return without_jobs(changes.get("apps"))
