"""`tidegate land`: lands the next day of the example's feeds in the project.

For a project with a running `tidegate dev`: the day's flights land in three chunks and its
weather after them, each with an event, and the UI shows the runs and waiting jobs.
"""

from typing import Annotated

import typer

from tidegate.domain.error import UserError

SEED_MAX = 2**31 - 1


def land(
    day: Annotated[str | None, typer.Option(help="The day, as 2013-12-22; default: the next one.")] = None,
    first: Annotated[str, typer.Option("--from", help="The first day of the feeds.")] = "2013-12-22",
    seed: Annotated[int, typer.Option(min=0, max=SEED_MAX, help="Seed of the order of the airports.")] = 0,
) -> None:
    """Land the next day of the example's feeds."""
    from dagster import DagsterInstance

    from tidegate.demo.feed import LAST_DAY, days_from, feed_plan, parse_day
    from tidegate.demo.landing import Landing
    from tidegate.processes.home import prepare_home
    from tidegate.project.settings.settings import load_settings

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
    raise UserError(f"every day from {start} is already landed", "give --day, or an earlier --from")
