"""`tidegate gauge`: report and list the numbers that schedules wait for with `load: {gauge: …}`.

Any process that can run a command can report: a cron job on the cluster, a monitoring hook.
"""

from datetime import UTC, datetime
from typing import Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.printing import (
    Format,
    ListFormatOption,
    ReasonOption,
    WideOption,
    instant,
    print_for_tools,
    print_table,
)
from tidegate.scheduler.model.run import GAUGES

app = typer.Typer(no_args_is_help=True, help="Report and list the gauges of `load` constraints.")


@app.command("set", context_settings={"ignore_unknown_options": True})
def set_gauge(
    name: Annotated[str, typer.Argument(help="The gauge in the YAML, for example cluster_cpu.")],
    value: Annotated[float, typer.Argument(help="A finite number; it is valid until the next report.")],
    reason: ReasonOption = "",
) -> None:
    """Report the value of a gauge. The next tick decides the jobs that wait for it."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.suggest import did_you_mean
    from tidegate.scheduler.commands.gauge import gauge_limits, report_gauges

    with opened_store() as store, store.transaction() as transaction:
        (gauge,) = report_gauges(transaction, {name: value}, datetime.now(UTC), by_hand(reason))
        limits = gauge_limits(transaction)
    typer.echo(f"gauge {gauge.name} is {gauge.value:g}")
    for schedule, limit in limits.get(name, {}).items():
        state = "met" if gauge.value <= limit else "not met"
        typer.echo(f"{schedule}: limit {limit:g} is {state}")
    if name not in limits:
        hint = did_you_mean(name, list(limits), "gauges") if limits else "no deployed schedule waits for any"
        typer.echo(f"no deployed schedule waits for a gauge {name}; {hint}")


@app.command("list")
def list_gauges(wide: WideOption = False, format: ListFormatOption = Format.TEXT) -> None:
    """List the last report of each gauge and the schedules that wait for it."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.gauge import gauge_limits

    with opened_store() as store, store.reading() as reader:
        reported = {gauge.name: gauge for gauge in reader.records(GAUGES)}
        limits = gauge_limits(reader)
    names = sorted(reported.keys() | limits.keys())
    if format is not Format.TEXT:
        found = [
            {
                "name": name,
                "value": reported[name].value if name in reported else None,
                "reported_at": reported[name].reported_at if name in reported else None,
                "limits": limits.get(name, {}),
            }
            for name in names
        ]
        print_for_tools(found, format)
        return
    if not names:
        typer.echo("No gauges are reported, and no deployed schedule waits for one.")
        return
    rows: list[list[str]] = []
    for name in names:
        gauge = reported.get(name)
        waiting = ", ".join(f"{schedule} <= {limit:g}" for schedule, limit in limits.get(name, {}).items())
        value = "never reported" if gauge is None else f"{gauge.value:g}"
        rows.append([name, value, instant(None if gauge is None else gauge.reported_at), waiting])
    print_table(["gauge", "value", "reported", "limits"], rows, right=["value"], wide=wide)
