"""`tidegate events list`: the events in the store, and the jobs that received them.

Events are reported by Dagster, by runs and by crons.
"""

from collections.abc import Iterable
from typing import Annotated

import typer

from tidegate.cli.printing import Format, FormatOption, instant, print_json, print_table

DEFAULT_LIMIT = 50

app = typer.Typer(no_args_is_help=True, help="List events.")


@app.callback()
def events() -> None:
    """List events."""


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

    with opened_store() as store, store.reading() as reader:
        found = reader.events(key_prefix=key, limit=limit)
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
                "state": "DISCARDED" if job is None else job.state.value,
                "reason": each.reason if job is None else job.reason,
            }
        )
    if format is Format.JSON:
        import msgspec

        print_json([{**msgspec.to_builtins(event), "deliveries": outcomes[event.id]} for event in found])
        return
    if not found:
        typer.echo("No events." if not key else f"No events with a key that begins with {key}.")
        return
    rows = [
        [
            instant(event.arrived),
            event.key,
            event.partition or "",
            "" if event.rows is None else f"{event.rows:,}",
            "; ".join(_outcome(outcome) for outcome in outcomes[event.id]) or "no schedule listens",
        ]
        for event in found
    ]
    print_table(["arrived", "key", "partition", "rows", "received by"], rows, right=["rows"])


def _outcome(outcome: dict[str, str | None]) -> str:
    words: Iterable[str | None] = (outcome["schedule"], outcome["state"], outcome["reason"])
    return " ".join(word for word in words if word)
