"""The record of overrides: rows and entries, in the transaction of the change that they are about."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.records.override import Override
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

Cause = Literal["undone", "deployed", "reverted", "expired", "deleted"]
"""Why an override ends: by a change by hand back, a deployment, `revert`, by itself, or with its schedule."""


def status_override_of(reader: EngineReader, ref: str) -> Override | None:
    """Return the override of a schedule's status."""
    return next((each for each in reader.overrides(refs=[ref]) if each.kind == "status"), None)


def text_override_of(reader: EngineReader, ref: str) -> Override | None:
    """Return the override of a schedule's text."""
    return next((each for each in reader.overrides(refs=[ref]) if each.of_text), None)


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
    transaction.delete_overrides(gone)
    transaction.put_overrides([each for place, each in new.items() if old.get(place) != each])
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
