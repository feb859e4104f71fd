"""The Dagster job that carries out one operation on one table; `operation_run` is the body of its op."""

from dagster import JobDefinition, OpExecutionContext, job, op

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import MAINTENANCE, MAINTENANCE_OP
from tidegate.dagster_defs.deployed.tags import DAGSTER_MAX_RETRIES, PROJECT
from tidegate.dagster_defs.maintenance.operations.run import run_of_operation


def operation_job(location: Location) -> JobDefinition:
    """Build the maintenance job of a code location."""

    @op(
        name=MAINTENANCE_OP,
        description="Carries out an operation that a policy has for a table, and reports its end.",
    )
    def operate(context: OpExecutionContext) -> None:
        run_of_operation(context, location)

    @job(
        name=MAINTENANCE,
        description="Compacts, expires and cleans tables, as policies say; see: tidegate docs maintenance",
        # The engine decides when an operation is tried again.
        tags={PROJECT: location.project, DAGSTER_MAX_RETRIES: "0"},
    )
    def maintain() -> None:
        operate()

    return maintain
