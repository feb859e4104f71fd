"""`tidegate events`: `list` the events in the store with the jobs that received them, or `replay` some.

Refused reports are listed with them, with the reason. Events are reported by Dagster, by runs and by crons.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.operate.replay import replay
from tidegate.cli.printing import Format, FormatOption, instant, print_json, print_table

if TYPE_CHECKING:
    from tidegate.scheduler.intake.refused_reports import RefusedReport
    from tidegate.scheduler.model.event import Delivery, Event
    from tidegate.scheduler.model.job import Job

DEFAULT_LIMIT = 50
MOST_UNROUTED = 10_000
"""A tick routes what has arrived; more than this wait only while no scheduler runs."""

app = typer.Typer(no_args_is_help=True, help="List events, and feed them to schedules once more.")


@app.callback()
def events() -> None:
    """List events, and feed them to schedules once more."""


@app.command("list")
def list_events(
    key: Annotated[
        str, typer.Option(help='Only events with this key prefix, for example "partition:flights/raw".')
    ] = "",
    limit: Annotated[
        int, typer.Option(min=1, help="Maximum number of events, newest first.")
    ] = DEFAULT_LIMIT,
    format: FormatOption = Format.TEXT,
) -> None:
    """List the newest events, with the schedules and jobs that received each."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.intake.refused_reports import refused_reports

    with opened_store() as store, store.reading() as reader:
        found = reader.events(key_prefix=key, limit=limit)
        unrouted = {event.id for event in reader.unrouted_events(MOST_UNROUTED)}
        refused = [report for report in refused_reports(reader) if report.key.startswith(key)][:limit]
        deliveries = reader.deliveries_of_events([event.id for event in found])
        jobs = {job.id: job for job in reader.jobs(ids={d.job for d in deliveries if d.job is not None})}
    outcomes: dict[str, list[dict[str, str | None]]] = {event.id: [] for event in found}
    for each in deliveries:
        job = jobs.get(each.job or "")
        outcomes[each.event.id].append(
            {
                "schedule": each.schedule,
                "leaf": each.leaf,
                "job": each.job,
                "state": _state(each, job),
                "reason": each.reason if job is None or each.reason else job.reason,
            }
        )
    if format is Format.JSON:
        events = [
            {
                **_facts(event),
                "routed": event.id not in unrouted,
                "refused": None,
                "deliveries": outcomes[event.id],
            }
            for event in found
        ]
        reports = [_refused(report) for report in refused]
        print_json(sorted(events + reports, key=lambda each: each["arrived"], reverse=True)[:limit])
        return
    if not found and not refused:
        typer.echo("No events." if not key else f"No events with a key that begins with {key}.")
        return
    rows = [
        (
            event.arrived,
            event.key,
            event.partition or "",
            "" if event.rows is None else f"{event.rows:,}",
            "; ".join(_outcome(outcome) for outcome in outcomes[event.id])
            or _undelivered(event.id in unrouted),
        )
        for event in found
    ]
    rows += [(each.at, each.key, each.partition, "", f"refused: {each.reason}") for each in refused]
    newest = sorted(rows, key=lambda row: row[0], reverse=True)[:limit]
    shown = [[instant(at), *others] for at, *others in newest]
    print_table(["arrived", "key", "partition", "rows", "received by"], shown, right=["rows"])


app.command("replay")(replay)


def _state(delivery: "Delivery", job: "Job | None") -> str:
    if delivery.reason or delivery.job is None:
        return "DISCARDED"
    # An event may stay longer than the job that received it.
    return "PRUNED" if job is None else job.state.value


def _outcome(outcome: dict[str, str | None]) -> str:
    words: Iterable[str | None] = (outcome["schedule"], outcome["state"], outcome["reason"])
    return " ".join(word for word in words if word)


def _undelivered(unrouted: bool) -> str:
    return "not routed yet" if unrouted else "no schedule listens"


def _facts(event: "Event") -> dict[str, Any]:
    """An event in JSON; only one that repeats another says so."""
    import msgspec

    facts: dict[str, Any] = msgspec.to_builtins(event)
    repeats = ("origin", "only_for")
    return {name: fact for name, fact in facts.items() if name not in repeats or fact is not None}


def _refused(report: "RefusedReport") -> dict[str, Any]:
    """A refused report in the form of an event."""
    import msgspec

    fields: dict[str, Any] = msgspec.to_builtins(report)
    at, reason = fields.pop("at"), fields.pop("reason")
    return {**fields, "time": at, "arrived": at, "routed": True, "refused": reason, "deliveries": []}
