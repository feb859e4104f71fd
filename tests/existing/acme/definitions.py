"""A typical Dagster project that does not know Tidegate: the company acme."""

import os
import time
from pathlib import Path
from typing import Any

import dagster as dg

DAILY = dg.DailyPartitionsDefinition("2026-01-01")
REGIONS = dg.MultiPartitionsDefinition({"day": DAILY, "region": dg.StaticPartitionsDefinition(["eu", "us"])})
NOTES = Path(os.environ.get("ACME_NOTES", "."))


class NotesIOManager(dg.IOManager):
    """Keeps each output in a text file."""

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        (NOTES / "-".join(context.asset_key.path if context.has_asset_key else ["output"])).write_text(
            str(obj)
        )

    def load_input(self, context: dg.InputContext) -> str:
        return (NOTES / "-".join(context.asset_key.path)).read_text()


@dg.asset(key="flat", partitions_def=DAILY)
def flat(context: dg.AssetExecutionContext) -> str:
    return f"flat {context.partition_key}"


@dg.asset(key=["raw", "orders"], partitions_def=DAILY, backfill_policy=dg.BackfillPolicy.single_run())
def orders(context: dg.AssetExecutionContext) -> None:
    context.log.info(f"orders of {context.partition_keys}")


@dg.asset(key=["acme", "core", "demand"], partitions_def=DAILY, deps=[orders])
def demand(context: dg.AssetExecutionContext) -> int:
    return len(context.partition_key)


@dg.asset(key="by_region", partitions_def=REGIONS)
def by_region(context: dg.AssetExecutionContext) -> str:
    return str(context.partition_key)


@dg.asset_check(asset=["acme", "core", "demand"])
def demand_is_known() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=True)


@dg.op(
    config_schema={
        "region": str,
        "rows": dg.Field(int, default_value=1),
        "note": dg.Field(str, default_value=""),
    }
)
def load(context: dg.OpExecutionContext) -> None:
    region: str = context.op_config["region"]
    if region == "nowhere":
        raise ValueError("there is no region nowhere")
    if region == "slow":
        time.sleep(600)
    with (NOTES / "loaded").open("a") as file:
        file.write(f"{region} {context.op_config['rows']} {context.op_config['note']} {context.run_id}\n")


@dg.op(ins={"start": dg.In(dg.Nothing)})
def after(context: dg.OpExecutionContext) -> None:
    context.log.info("done")


@dg.job(tags={"team": "core", "owner": "acme"})
def load_region() -> None:
    after(start=load())


@dg.daily_partitioned_config(start_date="2026-01-01")
def config_of_day(start: Any, _end: Any) -> dict[str, Any]:
    return {"ops": {"load": {"config": {"region": "eu", "note": f"{start:%Y-%m-%d}"}}}}


@dg.job(config=config_of_day)
def nightly_report() -> None:
    load()


orders_job = dg.define_asset_job("orders_job", selection=["raw/orders"])
demand_job = dg.define_asset_job("demand_job", selection=["acme/core/demand"])
region_job = dg.define_asset_job("region_job", selection=["by_region"])


@dg.schedule(job=load_region, cron_schedule="0 5 * * *")
def every_morning() -> dict[str, Any]:
    return {"ops": {"load": {"config": {"region": "eu"}}}}


@dg.sensor(job=demand_job)
def when_asked() -> dg.SkipReason:
    return dg.SkipReason("not asked")


defs = dg.Definitions(
    assets=[flat, orders, demand, by_region, dg.AssetSpec("landed")],
    asset_checks=[demand_is_known],
    jobs=[load_region, nightly_report, orders_job, demand_job, region_job],
    schedules=[every_morning],
    sensors=[when_asked],
    resources={"io_manager": NotesIOManager()},
    executor=dg.in_process_executor,
)
