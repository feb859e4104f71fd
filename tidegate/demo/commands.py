"""`tidegate demo` and `tidegate land`: the example project on real flights.

`demo` runs it headless, from landing to report, in a temporary folder, on SQLite and local Spark, with a
real Dagster daemon, and ends by itself. `land` lands the next day of the feeds in a project with a running
`tidegate dev`: the day's flights land in three chunks and its weather after them, each with an event, and
the UI shows the runs and waiting jobs.
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
    from tidegate.processes.site import ProcessFailed

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
    from tidegate.demo.project import make_project, replacements
    from tidegate.demo.run import LOG, Demo
    from tidegate.demo.summary import Progress, print_compaction, print_summary

    check_packages(*FEED_PACKAGES, "pyspark", "pyiceberg")
    _require_iceberg()
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


def _require_iceberg() -> None:
    """Refuse a Spark for which no runtime is here, before a run finds it out."""
    from tidegate.spark_jobs.iceberg.catalog.runtime import installed_spark, is_present

    spark = installed_spark()
    if spark is not None and not is_present("", {}):
        raise UserError(
            "the tables of the example are Iceberg, and there is no runtime of it here for Spark"
            f" {spark.version} with Scala {spark.scala}",
            "run pip install 'tidegate[example]' with Python below 3.13, which brings Spark 3.5 and a runtime"
            " for it; with this Spark, `tidegate init` makes a project whose tables are Parquet",
        )


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
