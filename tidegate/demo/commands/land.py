"""`tidegate land`: lands the next day of the example's feeds in the project.

For a project on which `tidegate dev` runs: the day's flights come in three chunks, its
weather after them, each with an event, and the UI shows what starts and what waits.
"""

from typing import Annotated

import typer

from tidegate.domain.error import UserError


def land(
    day: Annotated[str | None, typer.Option(help="The day, as 2013-12-22; by default the next one.")] = None,
    first: Annotated[str, typer.Option("--from", help="The day with which the feeds begin.")] = "2013-12-22",
    seed: Annotated[int, typer.Option(help="Decides the order in which the airports report.")] = 0,
) -> None:
    """Land the next day of the example's feeds."""
    from dagster import DagsterInstance

    from tidegate.demo.feed import LAST_DAY, days_from, feed_plan, parse_day
    from tidegate.demo.landing import Landing
    from tidegate.processes.home import prepare_home
    from tidegate.project.settings import load_settings

    settings = load_settings()
    start = parse_day(day or first)
    days = days_from(start, 1 if day else (LAST_DAY - start).days + 1)
    with DagsterInstance.from_config(str(prepare_home(settings))) as instance:
        landing = Landing(settings, instance)
        for one in days:
            missing = landing.missing(feed_plan([one], seed))
            if not any(chunk.kind != "reference" for chunk in missing):
                continue
            for chunk in missing:
                landed = landing.deliver(chunk)
                key = f" {landed.key}" if landed.key else ""
                typer.echo(f"landed {landed.dataset}{key}: {landed.rows} rows, {landed.bytes} bytes")
            return
    raise UserError(f"every day from {start} has been landed", "name a day with --day, or an earlier --from")
