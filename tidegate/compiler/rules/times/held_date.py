"""The rule for constraints that can hold a business date for longer than the default timeout.

With `batching: date` each date waits for itself, and one that waits longer than the timeout is discarded
(rule 5): no other job writes it. How long a run takes, or a gauge is too high, only the user knows. The
warning is given only with the default timeout: a written timeout is deliberate. Windows have a rule of their
own (`compiler.rules.times.closed_window`).
"""

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.duration import duration_text
from tidegate.domain.model import Program, Schedule


def check_held_date(schedule: Schedule, program: Program, place: Place, scope: Scope) -> None:
    """Warn of the first constraint that can hold a date for longer than the default timeout."""
    if schedule.timeout.at is not None or not schedule.keyed_by_date:
        return
    for constraint in schedule.constraints:
        if constraint.otherwise == "skip" or constraint.hours is not None or constraint.delayed is not None:
            continue
        longest = constraint.longest_wait(program.timeout)
        if longest is not None and longest <= schedule.timeout.after:
            continue
        least = "7d" if longest is None else duration_text(longest)
        scope.findings.add(
            "L413",
            constraint.at if constraint.at is not None else place,
            "without a `timeout` a date that waits is discarded after 24h,"
            f" got `{constraint.kind}`, which can hold it for longer",
            f"write `timeout: {least}` or more beside `constraints`, so that no date is lost",
        )
        return
