"""`tidegate events list`: events that match, the newest first, what became of each, and refused reports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.printing import NUMBER_MAX, Format, FormatOption, instant, print_json, print_table
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.wanted import EventsWanted, Outcome

if TYPE_CHECKING:
    from tidegate.scheduler.explain.listed_events import ListedEvent, Received
    from tidegate.scheduler.intake.refused_reports import RefusedReport
    from tidegate.scheduler.store.engine_reader import EngineReader

DEFAULT_LIMIT = 50

NONE_MATCH = "No events that match."


def list_events(
    key: Annotated[
        str, typer.Option(help='Only events with this key prefix, for example "partition:flights/raw".')
    ] = "",
    dataset: Annotated[str | None, typer.Option(help="Only events of this dataset.")] = None,
    partition: Annotated[str | None, typer.Option(help="Only events of this partition key.")] = None,
    schedule: Annotated[str | None, typer.Option(help="Only events that this schedule has received.")] = None,
    outcome: Annotated[
        Outcome | None, typer.Option(help="Only events of which this became.", case_sensitive=False)
    ] = None,
    reason: Annotated[
        Reason | None,
        typer.Option(
            help="Only events with this reason code of that, such as D-SUSPENDED.",
            case_sensitive=False,
            metavar="CODE",
        ),
    ] = None,
    job: Annotated[str | None, typer.Option(help="Only events that this job has received.")] = None,
    from_: Annotated[
        str | None, typer.Option("--from", help="Only events that arrived then or later.", metavar="INSTANT")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only events that arrived before.", metavar="INSTANT")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=NUMBER_MAX, help="Maximum number of events, newest first.")
    ] = DEFAULT_LIMIT,
    format: FormatOption = Format.TEXT,
) -> None:
    """List the newest events, with the schedules and jobs that received each."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.processes.explained import instant_of
    from tidegate.project.local_time import use_zone_of_apps
    from tidegate.scheduler.explain import names_of_events as names
    from tidegate.scheduler.explain.listed_events import listed_events
    from tidegate.scheduler.model.event import app_of_key

    with opened_store() as store, store.reading() as reader:
        wanted = EventsWanted(
            key=None if dataset is None else names.key_of_dataset(reader, dataset),
            key_prefix=key,
            partition=partition,
            schedule=None if schedule is None else names.ref_of_schedule(reader, schedule),
            outcome=outcome,
            reason=reason,
            job=None if job is None else names.id_of_job(reader, job),
            since=None if from_ is None else instant_of(from_, "--from"),
            until=None if until is None else instant_of(until, "--until"),
        )
        found = listed_events(reader, reader.events_page(wanted, limit))
        refused = _refused(reader, wanted)[:limit]
        use_zone_of_apps(reader, {app_of_key(each.event.key) for each in found})
    if format is Format.JSON:
        events = [{**each.json, "refused": None} for each in found]
        reports = [_as_event(report) for report in refused]
        print_json(sorted(events + reports, key=lambda each: each["arrived"], reverse=True)[:limit])
    elif found or refused:
        _print(found, refused, limit)
    elif wanted == EventsWanted(key_prefix=key):
        typer.echo("No events." if not key else f"No events with a key that begins with {key}.")
    else:
        typer.echo(NONE_MATCH)


def _print(found: "Sequence[ListedEvent]", refused: "Sequence[RefusedReport]", limit: int) -> None:
    rows = [
        (
            each.event.arrived,
            each.event.key,
            each.event.partition or "",
            "" if each.event.rows is None else f"{each.event.rows:,}",
            "; ".join(map(_outcome, each.received)) or _undelivered(each.routed),
        )
        for each in found
    ]
    rows += [(each.at, each.key, each.partition, "", f"refused: {each.reason}") for each in refused]
    newest = sorted(rows, key=lambda row: row[0], reverse=True)[:limit]
    shown = [[instant(at), *others] for at, *others in newest]
    print_table(["arrived", "key", "partition", "rows", "received by"], shown, right=["rows"])


def _outcome(received: "Received") -> str:
    return " ".join(word for word in (received.schedule, received.state, received.reason) if word)


def _undelivered(routed: bool) -> str:
    return "no schedule listens" if routed else "not routed yet"


def _refused(reader: "EngineReader", wanted: EventsWanted) -> "list[RefusedReport]":
    """Return the refused reports that match; no schedule has received one."""
    from tidegate.scheduler.intake.refused_reports import refused_reports

    return [
        report
        for report in refused_reports(reader)
        if not wanted.of_delivery
        and wanted.key in (None, report.key)
        and report.key.startswith(wanted.key_prefix)
        and wanted.partition in (None, report.partition)
        and (wanted.since is None or report.at >= wanted.since)
        and (wanted.until is None or report.at < wanted.until)
    ]


def _as_event(report: "RefusedReport") -> dict[str, Any]:
    """A refused report in the form of an event."""
    import msgspec

    fields: dict[str, Any] = msgspec.to_builtins(report)
    at, reason = fields.pop("at"), fields.pop("reason")
    return {**fields, "time": at, "arrived": at, "routed": True, "refused": reason, "deliveries": []}
