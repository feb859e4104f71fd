"""Draws scenarios that were played: a timeline of each, and expected against observed where they differ.

Only draws: what agrees with what was judged in `scheduler.simulation.expectation`. Instants are
those of the app's clocks, with the day where it changes.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from zoneinfo import ZoneInfo

from scheduler.simulation.moment import Moment
from scheduler.simulation.play import Performance

KIND_WIDTH = 13
"""The longest kind of moment, "launch-failed"."""


def performance_text(performance: Performance) -> str:
    """One scenario: a headline, its timeline, its failures."""
    scenario = performance.scenario
    mark = "ok  " if performance.ok else "FAIL"
    lines = [f"{mark} {performance.app}: {scenario.name}  ({scenario.at})"]
    lines += _timeline(performance.moments, ZoneInfo(performance.timezone))
    for failure in performance.failures:
        lines += [
            f"  {failure.at}:",
            f"    expected: {failure.expected}",
            f"    observed: {failure.observed}",
        ]
    return "\n".join(lines)


def summary_text(performances: Sequence[Performance]) -> str:
    """One line over all scenarios."""
    failed = sum(not performance.ok for performance in performances)
    noun = "scenario" if len(performances) == 1 else "scenarios"
    return f"{len(performances)} {noun}: {len(performances) - failed} passed, {failed} failed"


def _timeline(moments: Sequence[Moment], zone: ZoneInfo) -> Iterator[str]:
    day: date | None = None
    for moment in moments:
        local = moment.when.astimezone(zone)
        if local.date() != day:
            day = local.date()
            yield f"  {day:%a %Y-%m-%d} {zone.key}"
        yield f"    {local:%H:%M:%S}  {moment.kind:<{KIND_WIDTH}}  {_said(moment, zone)}".rstrip()


def _said(moment: Moment, zone: ZoneInfo) -> str:
    name = f"{moment.schedule}[{moment.key}]" if moment.key else moment.schedule
    parts = [name, moment.reason or ""]
    if moment.partitions:
        parts.append(f"[{', '.join(moment.partitions)}]")
    if moment.next_check is not None:
        parts.append(f"next check {moment.next_check.astimezone(zone):%a %H:%M:%S}")
    if moment.args:
        parts.append(f"args {moment.args}")
    return "  ".join(part for part in (*parts, moment.text) if part)
