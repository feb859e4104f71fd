"""`tidegate events`: `list` the events in the store with the jobs that received them, or `replay` some.

Refused reports are listed with them, with the reason. Events are reported by Dagster, by runs and by crons.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.operate.intake.replay import replay
from tidegate.cli.printing import NUMBER_MAX, Format, FormatOption, instant, print_json, print_table

if TYPE_CHECKING:
    from tidegate.scheduler.explain.listed_events import Received
    from tidegate.scheduler.intake.refused_reports import RefusedReport
    from tidegate.scheduler.model.event import Event

DEFAULT_LIMIT = 50

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
        int, typer.Option(min=1, max=NUMBER_MAX, help="Maximum number of events, newest first.")
    ] = DEFAULT_LIMIT,
    format: FormatOption = Format.TEXT,
) -> None:
    """List the newest events, with the schedules and jobs that received each."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.local_time import use_zone_of_apps
    from tidegate.scheduler.explain.listed_events import listed_events
    from tidegate.scheduler.intake.refused_reports import refused_reports
    from tidegate.scheduler.model.event import app_of_key

    with opened_store() as store, store.reading() as reader:
        found = reader.events(key_prefix=key, limit=limit)
        listed = listed_events(reader, found)
        refused = [report for report in refused_reports(reader) if report.key.startswith(key)][:limit]
        use_zone_of_apps(reader, {app_of_key(event.key) for event in found})
    if format is Format.JSON:
        events = [
            {
                **_facts(each.event),
                "routed": each.routed,
                "refused": None,
                "deliveries": each.received,
            }
            for each in listed
        ]
        reports = [_refused(report) for report in refused]
        print_json(sorted(events + reports, key=lambda each: each["arrived"], reverse=True)[:limit])
        return
    if not found and not refused:
        typer.echo("No events." if not key else f"No events with a key that begins with {key}.")
        return
    rows = [
        (
            each.event.arrived,
            each.event.key,
            each.event.partition or "",
            "" if each.event.rows is None else f"{each.event.rows:,}",
            "; ".join(map(_outcome, each.received)) or _undelivered(each.routed),
        )
        for each in listed
    ]
    rows += [(each.at, each.key, each.partition, "", f"refused: {each.reason}") for each in refused]
    newest = sorted(rows, key=lambda row: row[0], reverse=True)[:limit]
    shown = [[instant(at), *others] for at, *others in newest]
    print_table(["arrived", "key", "partition", "rows", "received by"], shown, right=["rows"])


app.command("replay")(replay)


def _outcome(received: "Received") -> str:
    return " ".join(word for word in (received.schedule, received.state, received.reason) if word)


def _undelivered(routed: bool) -> str:
    return "no schedule listens" if routed else "not routed yet"


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
