"""The Dagster job that lists the tables of catalogs, and measures many tables in one session."""

from dagster import JobDefinition, OpExecutionContext, job, op

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import MEASURING, MEASURING_OP
from tidegate.dagster_defs.deployed.tags import DAGSTER_MAX_RETRIES, PROJECT
from tidegate.dagster_defs.maintenance.measuring.run import measure_due
from tidegate.dagster_defs.run.run_lease import run_lease
from tidegate.dagster_defs.run.spark_loss import spark_until

LONGEST_SECONDS = 1_800
"""A run ends by itself after a third of this, unless a catalog or the store of a table never answers."""


def measuring_job(location: Location) -> JobDefinition:
    """Build the measuring job of a code location."""

    @op(
        name=MEASURING_OP,
        description="Lists the tables that patterns of policies may match, and measures those that a decision"
        " waits for.",
    )
    def measure(context: OpExecutionContext) -> None:
        with run_lease(location, context.instance, context.run_id), spark_until(LONGEST_SECONDS):
            done = measure_due(location, context.log.warning)
        context.add_output_metadata(
            {"listed": done.listed, "measured": done.measured, "gone": done.gone, "failed": done.failed}
        )

    @job(
        name=MEASURING,
        description="Measures the health of tables from their metadata; see: tidegate docs maintenance",
        tags={PROJECT: location.project, DAGSTER_MAX_RETRIES: "0"},
    )
    def measure_tables() -> None:
        measure()

    return measure_tables
