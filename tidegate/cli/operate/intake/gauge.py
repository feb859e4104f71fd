"""`tidegate gauge`: report and list the numbers that schedules wait for with `load: {gauge: …}`.

Any process that can run a command can report: a cron job on the cluster, a monitoring hook.
"""

from datetime import UTC, datetime
from typing import Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.listing import Part, Parts, list_command
from tidegate.cli.printing import NUMBER_MAX, ReasonOption
from tidegate.listings.gauges import GAUGES

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


app.command("list")(
    list_command(
        GAUGES,
        lambda given, _: Parts(
            [Part("", {"reported": False, **given})],
            "No gauges are reported, and no deployed schedule waits for one.",
        ),
        limit=NUMBER_MAX,
    )
)
