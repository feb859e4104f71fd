"""The two jobs of maintenance in Dagster: one carries out an operation on a table, one measures many tables.

They exist in the code locations of projects that have policies.
"""

from dagster import JobDefinition, OpExecutionContext, in_process_executor, job, op

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import MAINTENANCE, MAINTENANCE_OP, MEASURING, MEASURING_OP
from tidegate.dagster_defs.deployed.plan_state import Plan
from tidegate.dagster_defs.deployed.tags import DAGSTER_MAX_RETRIES, PROJECT
from tidegate.dagster_defs.run.run_lease import run_lease
from tidegate.dagster_defs.run.spark_loss import spark_until
from tidegate.spark_jobs.errors import needs_spark

LONGEST_SECONDS = 1_800
"""A run ends by itself after a third of this, unless a catalog or the store of a table never answers."""


def apps_with_policies(plan: Plan) -> frozenset[str]:
    """Return the names of the project's own apps that have policies; those of others are theirs."""
    return frozenset(loaded.app.name for loaded in plan.apps if loaded.app.policies)


def operation_job(location: Location) -> JobDefinition:
    """Build the maintenance job of a code location."""

    @op(
        name=MAINTENANCE_OP,
        description="Carries out an operation that a policy has for a table, and reports its end.",
    )
    def operate(context: OpExecutionContext) -> None:
        with needs_spark():
            from tidegate.dagster_defs.maintenance.operation_run import run_of_operation

        run_of_operation(context, location)

    @job(
        name=MAINTENANCE,
        description="Compacts, expires and cleans tables, as policies say; see: tidegate docs maintenance",
        # The engine decides when an operation is tried again.
        tags={PROJECT: location.project, DAGSTER_MAX_RETRIES: "0"},
        executor_def=in_process_executor,
    )
    def maintain() -> None:
        operate()

    return maintain


def measuring_job(location: Location) -> JobDefinition:
    """Build the measuring job of a code location."""

    @op(
        name=MEASURING_OP,
        description="Lists the tables that patterns of policies may match, and measures those that a decision"
        " waits for.",
    )
    def measure(context: OpExecutionContext) -> None:
        with needs_spark():
            from tidegate.dagster_defs.maintenance.measuring import measure_due

        with run_lease(location, context.instance, context.run_id), spark_until(LONGEST_SECONDS):
            done = measure_due(location, context.log.warning)
        context.add_output_metadata(
            {"listed": done.listed, "measured": done.measured, "gone": done.gone, "failed": done.failed}
        )

    @job(
        name=MEASURING,
        description="Measures the health of tables from their metadata; see: tidegate docs maintenance",
        tags={PROJECT: location.project, DAGSTER_MAX_RETRIES: "0"},
        executor_def=in_process_executor,
    )
    def measure_tables() -> None:
        measure()

    return measure_tables
