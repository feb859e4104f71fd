"""The warning for a group with different limits.

Each schedule compares the active runs of a group with its own `max`, and all apps share the groups. So the
lower limit holds back its own schedules only. This can be intended, to leave room for the others. Maintenance
does so by a lower number in `auto_pools`; a higher one takes slots that the schedules count on.
"""

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.domain.model import App, At

Limits = dict[str, tuple[int, str, At]]
"""For each group the first limit, its schedule as app/schedule, and its place."""


def check_group_limits(app: App, known: Limits, findings: Findings) -> None:
    """Warn of each limit that differs from the first one of its group.

    Args:
        known: the limits of the apps before this one; those of this app are added.
    """
    for schedule in app.schedules.values():
        for constraint in schedule.constraints:
            group, limit, at = constraint.group_taken, constraint.group_limit, constraint.at
            if group is None or limit is None or at is None:
                continue
            first, owner, place = known.setdefault(group, (limit, f"{app.name}/{schedule.name}", at))
            if first == limit:
                continue
            findings.add(
                "L434",
                at,
                f'a group has one limit, got max: {limit} for "{group}", and max: {first} of {owner}',
                "write the same `max`, unless this schedule should leave room for the other",
                (Related(at=place, note=f"max: {first} is here"),),
            )


def check_auto_pools(app: App, known: Limits, findings: Findings) -> None:
    """Warn of each number of `auto_pools` that is above the limit of its group.

    Args:
        known: the limits of all apps.
    """
    settings = app.maintenance
    if settings is None or settings.at is None:
        return
    for group, limit in settings.auto_pools.items():
        first, owner, place = known.get(group, (limit, "", settings.at))
        if limit > first:
            findings.add(
                "L434",
                settings.at,
                f'a group has one limit, got {limit} for "{group}" in `auto_pools`, and max: {first} of'
                f" {owner}",
                f"write {first} or less, so that maintenance leaves the slots of the schedules alone",
                (Related(at=place, note=f"max: {first} is here"),),
            )
