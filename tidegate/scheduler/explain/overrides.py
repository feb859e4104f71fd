"""Overrides in words: what was changed by hand, and what it reverts to."""

from typing import assert_never

from tidegate.domain.part_name import app_of
from tidegate.domain.suggest import did_you_mean
from tidegate.scheduler.explain.explanation import Overridden
from tidegate.scheduler.explain.names import in_namespace
from tidegate.scheduler.model.records.override import OVERRIDES, Override
from tidegate.scheduler.model.refused import AmbiguousName, UnknownName
from tidegate.scheduler.store.engine_reader import EngineReader


def find_overrides(reader: EngineReader, name: str) -> tuple[Override, ...]:
    """Return the overrides of a schedule, or of an app on hold; the schedule may be deleted.

    Raises:
        UnknownName: nothing of this name was changed by hand.
        AmbiguousName: schedules of several apps.
    """
    name, every = in_namespace(reader, name), reader.records(OVERRIDES)
    if name not in {each.ref for each in every}:
        # An app on hold may be named with its namespace.
        name = {f"{app.namespace}/{app.name}": app.name for app in reader.app_headers()}.get(name, name)
    found = [each for each in every if name in (each.ref, each.name)]
    refs = dict.fromkeys(each.ref for each in found)
    if len(refs) > 1 and name not in refs:
        raise AmbiguousName(f'several apps have overrides of "{name}"', f"write one of {', '.join(refs)}")
    if not found:
        known = [each.ref if "/" in name else each.name for each in every]
        raise UnknownName(f'nothing of "{name}" was changed by hand', did_you_mean(name, known, "overrides"))
    return tuple(each for each in found if len(refs) == 1 or each.ref == name)


def overridden_as(override: Override) -> str:
    """Return what was changed, in a few words."""
    match override.kind:
        case "status":
            return "suspended" if override.status == "active" else "active"
        case "specification":
            return "changed"
        case "created" | "deleted":
            return override.kind
        case "held":
            return "on hold"
        case _:
            assert_never(override.kind)


def reverted_to(override: Override) -> str:
    """Return what becomes of the schedule, or of the app, when the override reverts."""
    match override.kind:
        case "status":
            return f"is {override.status} again"
        case "specification":
            return "is as it was deployed"
        case "created":
            return "is deleted"
        case "deleted":
            return f"is created again, {override.status}"
        case "held":
            return "is released"
        case _:
            assert_never(override.kind)


def overrides_of(reader: EngineReader, ref: str) -> tuple[Overridden, ...]:
    """Return what was changed of a schedule and of its app by hand."""
    return tuple(
        Overridden(
            kind=each.kind,
            owner=each.owner,
            reason=each.reason,
            since=each.since,
            expires_at=each.expires_at,
            text=override_line(each),
        )
        for each in reader.records(OVERRIDES, ref=[ref, app_of(ref)])
    )


def override_line(override: Override) -> str:
    """Return who has overridden, why, and until when, for a sentence about the schedule."""
    reason = f" ({override.reason})" if override.reason else ""
    until = "" if override.expires_at is None else f", until {override.expires_at:%Y-%m-%d %H:%M:%SZ}"
    return f"{overridden_as(override)} by {override.owner}{reason}{until}"
