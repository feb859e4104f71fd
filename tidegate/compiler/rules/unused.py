"""The warning for a program that no schedule runs and no trigger waits for.

Triggers of all apps count. An app without schedules is not checked: its programs are run by hand, in
Dagster.
"""

from collections.abc import Iterable

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.domain.model import App, leaves


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
