"""The text of played scenarios: a timeline of each, and expected versus observed where they differ.

It only renders: `scheduler.simulation.expectation` evaluates the expectations. Instants are in the
app's time zone, with a heading for each day.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from zoneinfo import ZoneInfo

from tidegate.scheduler.simulation.moment import Moment
from tidegate.scheduler.simulation.play import Performance
from tidegate.scheduler.simulation.snapshot import WaitingJob

KIND_WIDTH = 13
"""The longest kind of moment, "launch-failed"."""


def performance_text(performance: Performance, *, timeline: bool = True) -> str:
    """Return the headline, timeline and failures of a scenario. A failed one always has its timeline."""
    scenario = performance.scenario
    mark = "ok  " if performance.ok else "FAIL"
    lines = [f"{mark} {performance.app}: {scenario.name}  ({scenario.at})"]
    if timeline or not performance.ok:
        lines += _timeline(performance.moments, ZoneInfo(performance.timezone))
    for failure in performance.failures:
        lines += [
            f"  {failure.at}:",
            f"    expected: {failure.expected}",
            f"    observed: {failure.observed}",
        ]
    return "\n".join(lines)


def summary_text(performances: Sequence[Performance]) -> str:
    """Return one line about all scenarios."""
    failed = sum(not performance.ok for performance in performances)
    noun = "scenario" if len(performances) == 1 else "scenarios"
    return f"{len(performances)} {noun}: {len(performances) - failed} passed, {failed} failed"


def outcome_text(performance: Performance) -> str:
    """Return the result of each schedule: a line for its jobs and one for its events."""
    zone = ZoneInfo(performance.timezone)
    lines = [
        f"{performance.app} at {performance.scenario.until.astimezone(zone):%a %Y-%m-%d %H:%M:%S} {zone.key}"
    ]
    idle: list[str] = []
    for each in performance.summary:
        if not (each.launched or each.discarded or each.waiting or each.events):
            idle.append(each.schedule)
            continue
        jobs = [f"{each.launched} launched{_in_brackets(each.ended, each.running)}"]
        jobs += [f"{count} discarded {reason}" for reason, count in each.discarded.items()]
        lines.append(f"  {each.schedule}: {', '.join(jobs)}")
        if each.events:
            counts = ", ".join(f"{count} {word}" for word, count in each.events.items())
            lines.append(f"    events: {counts}")
        for job in sorted(each.waiting, key=lambda job: job.key):
            key = f" for {job.key}" if job.key else ""
            check = "".join(f", {words}" for words in _moments(job, zone))
            lines.append(f"    waiting{key}: {job.reason or ''}, {job.collected} collected{check}")
    if idle:
        lines.append(f"  no jobs or events: {', '.join(idle)}")
    return "\n".join(lines)


def _in_brackets(ended: Mapping[str, int], running: int) -> str:
    words = [f"{count} {word}" for word, count in ended.items()]
    words += [f"{running} running"] if running else []
    return f" ({', '.join(words)})" if words else ""


def _timeline(moments: Sequence[Moment], zone: ZoneInfo) -> Iterator[str]:
    day: date | None = None
    for moment in moments:
        local = moment.when.astimezone(zone)
        if local.date() != day:
            day = local.date()
            yield f"  {day:%a %Y-%m-%d} {zone.key}"
        yield f"    {local:%H:%M:%S}  {moment.kind:<{KIND_WIDTH}}  {_details(moment, zone)}".rstrip()


def _moments(waits: "Moment | WaitingJob", zone: ZoneInfo) -> Iterator[str]:
    """Yield when a waiting job is looked at, or else when it is discarded."""
    looked_at = waits.next_check if isinstance(waits, Moment) else waits.looked_at
    for words, at in (("looked at", looked_at), ("discarded at", None if looked_at else waits.discarded_at)):
        if at is not None:
            yield f"{words} {at.astimezone(zone):%a %H:%M:%S}"


def _details(moment: Moment, zone: ZoneInfo) -> str:
    name = f"{moment.schedule}[{moment.key}]" if moment.key else moment.schedule
    parts = [name, moment.reason or ""]
    if moment.partitions:
        parts.append(f"[{', '.join(moment.partitions)}]")
    parts += _moments(moment, zone)
    if moment.args:
        parts.append(f"args {moment.args}")
    return "  ".join(part for part in (*parts, moment.text) if part)
