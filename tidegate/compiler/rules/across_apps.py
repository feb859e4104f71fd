"""The rules that see all apps: limits of a group, one `maintenance:`, assets, programs that nothing runs.

The warning for a program that no schedule runs and no trigger waits for. Triggers of all apps count. An app
without schedules is not checked: its programs are run by hand, in Dagster.

The warning for a group with different limits. Each schedule compares the active runs of a group with its
own `max`, and all apps share the groups. So the lower limit holds back its own schedules only. This can be
intended, to leave room for the others. Maintenance does so by a lower number in `auto_pools`; a higher one
takes slots that the schedules count on.
"""

from collections.abc import Callable, Iterable

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.domain.model import App, At, Maintenance, leaves
from tidegate.domain.part_name import app_of


def check_one_maintenance(apps: Iterable[tuple[App, Findings]]) -> Maintenance | None:
    """Report each app with `maintenance` after the first one; return that of the first, if there is one."""
    found = [
        (app.name, settings, settings.at, findings)
        for app, findings in apps
        if (settings := app.maintenance) is not None and settings.at is not None
    ]
    if not found:
        return None
    (first, settings, place, _), *others = found
    for name, _, at, findings in others:
        findings.add(
            "N318",
            at,
            f"one app has `maintenance`, which is about the whole store, got it in {first} and {name}",
            f"move its keys to {first}, and delete it here",
            (Related(at=place, note=f"that of {first} is here"),),
        )
    return settings


def check_assets(files: Iterable[tuple[App, Findings]], deployed: Callable[[], Iterable[App]]) -> None:
    """Report datasets of the store that name the same asset, at the later one.

    Args:
        files: the apps of files.
        deployed: returns the apps of the store that are in no file. It is called if a file names an asset.
    """
    apps = list(files)
    if not any(dataset.asset for app, _ in apps for dataset in app.datasets.values()):
        return
    former = {name for app, _ in apps for name in app.renamed_from}
    first: dict[tuple[str, ...], tuple[str, At | None]] = {}
    for app in deployed():
        if app.name not in former:
            for dataset in app.datasets.values():
                first[dataset.asset or (app.name, dataset.name)] = (f"{app.name}/{dataset.name}", None)
    for app, findings in apps:
        for dataset in app.datasets.values():
            key, name = dataset.asset or (app.name, dataset.name), f"{app.name}/{dataset.name}"
            other, at = first.setdefault(key, (name, dataset.at))
            if other == name or dataset.at is None:
                continue
            hint = f"let schedules name {other}, and delete this dataset; or correct the key"
            findings.add(
                "N331",
                dataset.at,
                f"an asset is one dataset of the store, got {'/'.join(key)} as {other} and {name}",
                f"{hint}; or remove app {app_of(other)} with `--remove-apps`" if at is None else hint,
                () if at is None else (Related(at=at, note=f"{other} is here"),),
            )


def used_programs(apps: Iterable[App]) -> frozenset[str]:
    """Return the programs that schedules of the apps run or wait for, as app/program."""
    used: set[str] = set()
    for app in apps:
        for schedule in app.schedules.values():
            used.add(f"{app.name}/{schedule.program}")
            for leaf in leaves(schedule.trigger):
                heard = leaf.trigger.runs_heard(schedule.program)
                if heard is not None:
                    used.add(heard[0] if "/" in heard[0] else f"{app.name}/{heard[0]}")
    return frozenset(used)


def check_unused(app: App, used: frozenset[str], findings: Findings) -> None:
    """Warn of each program of an app that is not used."""
    if not app.schedules:
        return
    for program in app.programs.values():
        if f"{app.name}/{program.name}" not in used and program.at is not None:
            findings.add(
                "L435",
                program.at,
                f"a program belongs to a schedule, got {program.name}, which no schedule runs or waits for",
                "add a schedule, or delete the program; by hand it runs in Dagster",
            )


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
