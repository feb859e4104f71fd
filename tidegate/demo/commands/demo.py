"""`tidegate demo`: the example project on real flights, headless, from landing to report.

It runs in a temporary folder, on SQLite and local Spark, with a real Dagster daemon, and ends
by itself.
"""

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from tidegate.domain.error import UserError

DAYS_MAX = 365
"""All feeds are of 2013."""

SEED_MAX = 2**31 - 1


def demo(
    days: Annotated[int, typer.Option(min=1, max=DAYS_MAX, help="Number of days to land.")] = 10,
    first: Annotated[str, typer.Option("--from", help="The first day, in 2013.")] = "2013-12-22",
    seed: Annotated[int, typer.Option(min=0, max=SEED_MAX, help="Seed of the order of the deliveries.")] = 0,
    keep: Annotated[Path | None, typer.Option(help="Keep the project in this new folder.")] = None,
) -> None:
    """Run the example project on real flights, from landing to report."""
    from tidegate.demo.feed import days_from, parse_day
    from tidegate.processes.dagster import ProcessFailed

    chosen = days_from(parse_day(first), days)
    if keep is not None and keep.exists():
        raise UserError(f"{keep} already exists", "give a new folder")
    place = (
        nullcontext(str(keep)) if keep is not None else tempfile.TemporaryDirectory(prefix="tidegate-demo-")
    )
    with place as folder:
        try:
            _run(Path(folder).absolute(), [str(day) for day in chosen], seed)
        except ProcessFailed as error:
            raise UserError(str(error), "read the log for the cause; --keep FOLDER keeps it") from error


def _run(folder: Path, days: list[str], seed: int) -> None:
    from datetime import UTC, date, datetime

    from tidegate.demo.feed import FEED_PACKAGES, check_packages, feed_plan
    from tidegate.demo.progress import Progress
    from tidegate.demo.project import make_project, replacements
    from tidegate.demo.run import LOG, Demo
    from tidegate.demo.summary import print_compaction, print_summary
    from tidegate.spark_jobs.iceberg.catalog.runtime import RUNTIME_WHEEL

    check_packages(*FEED_PACKAGES, RUNTIME_WHEEL, "pyiceberg")
    started = datetime.now(UTC)
    changes = replacements(started)
    typer.echo("The example app, schedules/flights.yaml, with waits shortened for the demo:")
    for change in changes:
        typer.echo(f"  {change.what}: {change.old} -> {change.new}")
    settings = make_project(folder, changes)
    with Demo(settings, Progress(started, typer.echo)) as demo:
        demo.deploy()
        typer.echo("linted and deployed; starting Dagster's code server, the host and the daemon ...")
        demo.start()
        plan = feed_plan([date.fromisoformat(day) for day in days], seed)
        typer.echo(f"landing {len(plan)} deliveries of {len(days)} days")
        demo.land(plan)
        demo.settle(days)
        typer.echo("a backfill of daily_totals for the first three days, two at a time")
        demo.backfill(days)
        typer.echo(f"{LOG} has a few rows in each of its files: compacted by hand, whatever the hour")
        compacted = demo.maintain()
        with demo.store.reading() as reader:
            print_summary(reader, settings, started, typer.echo)
            print_compaction(compacted, typer.echo)
    typer.echo(f"\nfinished after {(datetime.now(UTC) - started).total_seconds():.0f} s")
