"""Overrides: what a person has changed in production, and what a difference says of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.override_change import OverrideChange, ThreeViews, three_views
from tidegate.compiler.plan.part_change import form_of
from tidegate.domain.model import App, Schedule
from tidegate.scheduler.decision.changes.overrides import fates
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.records.override import OVERRIDES, Override
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

Cause = Literal["undone", "deployed", "reverted", "expired", "deleted"]
"""Why an override ends: by a change by hand back, a deployment, `revert`, by itself, or with its schedule."""


def status_override_of(reader: EngineReader, ref: str) -> Override | None:
    """Return the override of a schedule's status."""
    return next((each for each in reader.records(OVERRIDES, ref=[ref]) if each.kind == "status"), None)


def text_override_of(reader: EngineReader, ref: str) -> Override | None:
    """Return the override of a schedule's text."""
    return next((each for each in reader.records(OVERRIDES, ref=[ref]) if each.of_text), None)


def record_overrides(
    transaction: EngineTransaction,
    before: Sequence[Override],
    after: Sequence[Override],
    now: datetime,
    by: By,
    cause: Cause = "undone",
) -> None:
    """Write the difference between some overrides as they were and as they are."""
    old, new = ({place_of(each): each for each in some} for some in (before, after))
    entries: list[Entry] = []
    gone: list[Override] = []
    for place in sorted(old.keys() | new.keys()):
        was, found = old.get(place), new.get(place)
        if was == found:
            continue
        if was is not None and (found is None or found.kind != was.kind):
            gone.append(was)
        if found is not None:
            entries.append(_entry(found, "began" if was is None else "changed", now, {}))
        else:
            assert was is not None, "one of the two has the place"
            entries.append(_entry(was, "ended", now, {"cause": cause, **by.noted}))
    transaction.drop_records(OVERRIDES, map(OVERRIDES.key_of, gone))
    transaction.put_records(OVERRIDES, [each for place, each in new.items() if old.get(place) != each])
    transaction.add_journal(entries)


def place_of(override: Override) -> tuple[str, str]:
    """Return what there is one override of: the text of a schedule, its status, or an app."""
    return override.ref, "text" if override.of_text else override.kind


def override_of(entry: Entry) -> Override:
    """Return the override of an entry, without the text that it reverts to."""
    expires = entry.data["expires_at"]
    return Override(
        ref=entry.schedule or entry.data["app"],
        kind=entry.data["override"],
        owner=entry.data["owner"],
        reason=entry.data["reason"],
        since=datetime.fromisoformat(entry.data["since"]),
        expires_at=None if expires is None else datetime.fromisoformat(expires),
        status=entry.data.get("status"),
    )


def _entry(override: Override, action: str, now: datetime, data: dict[str, Any]) -> Entry:
    expires = override.expires_at
    noted = {
        "action": action,
        "override": override.kind,
        "owner": override.owner,
        "reason": override.reason,
        "since": override.since.isoformat(),
        "expires_at": None if expires is None else expires.isoformat(),
        "status": override.status,
    }
    schedule = None if override.kind == "held" else override.ref
    app = {"app": override.ref} if override.kind == "held" else {}
    return Entry(at=now, kind=EntryKind.OVERRIDE, schedule=schedule, data={**noted, **app, **data})


def override_changes(
    known: Iterable[Override],
    changes: Diff,
    states: Mapping[str, ScheduleState],
    wanted: Mapping[str, App],
) -> Iterator[OverrideChange]:
    """Yield the overrides of the apps of a difference.

    Args:
        states: the deployed schedules by ref, under the names of the difference.
        wanted: the apps of the YAML, by name.
    """
    names = {app.name for app in changes.apps}
    for each, fate in fates([each for each in known if each.app in names], changes):
        app, state = wanted.get(each.app), states.get(each.ref)
        git = None if app is None else app.schedules.get(each.name)
        yield OverrideChange(
            ref=each.ref,
            kind=each.kind,
            owner=each.owner,
            reason=each.reason,
            since=each.since,
            expires_at=each.expires_at,
            fate=fate,
            fields=tuple(_fields(each, git, state)),
        )


def _fields(override: Override, git: Schedule | None, state: ScheduleState | None) -> Iterator[ThreeViews]:
    if override.kind == "status" and state is not None:
        yield ThreeViews(
            path="status",
            git=None if git is None else git.status,
            deployed=override.status,
            override=state.status,
        )
    if override.kind == "specification" and state is not None:
        yield from three_views(_form(git), _form(override.spec), _form(state.spec))


def _form(spec: Schedule | None) -> dict[str, Any] | None:
    return None if spec is None else form_of(spec)
