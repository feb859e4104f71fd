"""The run request of an operation: a run of the maintenance job, with tags that say what it does.

The run reads what it has to do from its job in the store, once it has claimed the attempt: a run request that
is days old cannot differ from it.
"""

from dagster import RunRequest

from tidegate.dagster_defs.deployed.names import MAINTENANCE
from tidegate.dagster_defs.deployed.tags import OPERATION, POLICY, TABLE, shortened
from tidegate.dagster_defs.run.run_request import Invalid, job_tags
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.model.maintenance import Work

NOT_LOADED = "the app had no policies when the code location was loaded: reload the code location"


def operation_request(request: LaunchRequest, work: Work, *, loaded: bool) -> RunRequest | Invalid:
    """Return the run request of an operation.

    Args:
        loaded: whether the loaded definitions have the maintenance job. A reload brings it, so a request that
            comes before is not rejected for good.
    """
    if not loaded:
        return Invalid(NOT_LOADED)
    return RunRequest(
        run_key=request.run_key,
        job_name=MAINTENANCE,
        tags={
            **job_tags(request),
            TABLE: shortened(work.table),
            OPERATION: str(work.operation),
            POLICY: work.policy,
        },
    )
