"""Overrides: what becomes of them when a schedule is changed, by hand or by a deployment. Pure.

An override keeps the first thing that it reverts to; who, why and until when are those of the last change.
It ends when that thing is in force again. A deployment that decides about a schedule ends the override of its
text, which is the YAML's from then on, and leaves that of its status (rule 23).
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

import msgspec

from tidegate.compiler.fingerprint import fingerprint
from tidegate.compiler.plan.consequence import Action
from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.override_change import Fate
from tidegate.domain.model import App, Schedule
from tidegate.domain.time.expiry import Until
from tidegate.scheduler.model.deployed import ScheduleState, Status
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.override import Mark, Override
from tidegate.scheduler.model.refused import Refused

SHOW = "`tidegate overrides list` shows what was changed by hand"


def mark_of(by: By, until: Until | None, now: datetime) -> Mark:
    """Return who overrides from `now` on."""
    return Mark(owner=by.actor, reason=by.reason, since=now, expires_at=None if until is None else until.at)


def marked(override: Override, mark: Mark) -> Override:
    """Return an override with another owner, reason and expiry."""
    return msgspec.structs.replace(override, **msgspec.structs.asdict(mark))


def status_override(
    known: Override | None, state: ScheduleState, status: Status, mark: Mark, until: Until | None
) -> Override | None:
    """Return the override of a schedule's status that is switched; None for none.

    A schedule that is active for good is not an exception: `status` in YAML is the first status only.

    Raises:
        Refused: an expiry was given, and there is nothing to revert to.
    """
    before = state.status if known is None else known.status
    expires = until is not None and until.at is not None
    if status == before and status != state.status:
        if expires:
            raise Refused(f"{state.ref} was {status} before, so there is nothing to revert to later", SHOW)
        return None
    if known is None and status == "active" and not expires:
        return None
    return marked(Override(ref=state.ref, kind="status", owner="", since=mark.since, status=before), mark)


def extended(
    known: Override | None, state: ScheduleState, mark: Mark, until: Until | None
) -> Override | None:
    """Return the override of a status that is in force already, with another expiry; None for no change.

    Raises:
        Refused: an expiry was given, and the status is not an override.
    """
    if until is None:
        return None
    if known is not None:
        return marked(known, mark)
    if until.at is None:
        return None
    raise Refused(f"{state.ref} is {state.status} for good, so there is nothing to revert to later", SHOW)


def text_override(
    ref: str, known: Override | None, before: ScheduleState | None, after: Schedule | None, mark: Mark
) -> Override | None:
    """Return the override of the text of a schedule that a call has changed; None for none.

    Args:
        before: the schedule as it was; None if it was not deployed.
        after: as it is; None if it was deleted.
    """
    created = before is None if known is None else known.kind == "created"
    base = None if created else (before.spec if known is None and before is not None else _spec(known))
    fresh = marked(Override(ref=ref, kind="created", owner="", since=mark.since), mark)
    if created:
        return None if after is None else fresh
    if after is None:
        status = None if before is None else before.status
        return msgspec.structs.replace(fresh, kind="deleted", spec=base, status=status)
    if base is not None and fingerprint(base) == fingerprint(after):
        return None
    return msgspec.structs.replace(fresh, kind="specification", spec=base)


def after_call(
    known: Iterable[Override],
    changes: Diff,
    states: Mapping[str, ScheduleState],
    wanted: Mapping[str, App],
    mark: Mark,
) -> list[Override]:
    """Return the overrides after calls for single schedules.

    Args:
        known: those of the apps of the changes.
        states: the schedules before, by ref.
        wanted: the apps afterwards, by name.
    """
    texts, rest = _by_text(known)
    for change in changes.schedules():
        ref = change.ref
        if not change.touches:
            continue
        after = None if change.action == "delete" else wanted[change.app].schedules[change.name]
        found = text_override(ref, texts.pop(ref, None), states.get(ref), after, mark)
        if found is not None:
            texts[ref] = found
        if change.action == "delete":
            rest = [each for each in rest if each.ref != ref or each.kind == "held"]
    return [*rest, *texts.values()]


def after_deployment(known: Iterable[Override], changes: Diff) -> list[Override]:
    """Return the overrides after a deployment.

    Args:
        known: those of the apps of the changes.
    """
    return [each for each, fate in fates(known, changes) if fate == "kept"]


def fates(known: Iterable[Override], changes: Diff) -> Iterator[tuple[Override, Fate]]:
    """Yield overrides with what a deployment does to them: "kept", "replaced" by the YAML, or "deleted"."""
    actions: dict[str, Action] = {change.ref: change.action for change in changes.schedules()}
    removed = {app.name for app in changes.apps if app.action == "delete"}
    for each in known:
        decides = changes.update_schedules or each.app in removed
        yield each, _fate(each, actions.get(each.ref), decides=decides)


def _fate(override: Override, action: Action | None, *, decides: bool) -> Fate:
    """Return what a deployment does to an override.

    Args:
        action: what it does to the schedule; None for one that is not deployed and not created.
        decides: whether it decides about such a schedule, which a person may have deleted.
    """
    if override.kind == "held" or action == "kept":
        return "kept"
    if action == "delete":
        return "deleted"
    if override.kind == "status":
        return "kept" if action in ("replace", "amend", "unchanged") else "deleted"
    return "replaced" if action is not None or decides else "kept"


def _by_text(known: Iterable[Override]) -> tuple[dict[str, Override], list[Override]]:
    texts: dict[str, Override] = {}
    rest: list[Override] = []
    for each in known:
        if each.of_text:
            texts[each.ref] = each
        else:
            rest.append(each)
    return texts, rest


def _spec(known: Override | None) -> Schedule | None:
    return None if known is None else known.spec
