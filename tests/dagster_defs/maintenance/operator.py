"""What is in place of `run_operation`, and a run of an operation that calls it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dagster import ExecuteInProcessResult

from tests.dagster_defs.maintenance.shop import Shop
from tidegate.dagster_defs.deployed.names import MAINTENANCE
from tidegate.scheduler.model.maintenance import Ended, Ending
from tidegate.spark_jobs.maintenance.request import Control, MaintenanceContext, OperationRequest

COMPACTED = Ended(
    ending=Ending.SUCCEEDED,
    changed=True,
    bytes=600,
    before={"files": 12, "small_file_percent": 100.0, "partition_skew": 1.5},
    after={"files": 1, "small_file_percent": 0.0, "partition_skew": 1.0},
    results={"files_rewritten": 12, "files_added": 1, "kept": {"17": "the tag v1"}, "ratio": 0.5},
)

GONE = Ended(ending=Ending.FAILED, detail="it does not exist", results={"gone": True})


@dataclass
class Operator:
    """In place of `run_operation`: takes what it is called with, and does what a test says."""

    work: Callable[[Control], Ended] = lambda _: COMPACTED
    calls: list[OperationRequest] = field(default_factory=list[OperationRequest])

    def __call__(self, context: MaintenanceContext, request: OperationRequest, control: Control) -> Ended:
        assert context.warehouse is not None
        assert context.store is not None
        self.calls.append(request)
        return self.work(control)


def execute(shop: Shop, tags: Mapping[str, str] | None = None) -> ExecuteInProcessResult:
    """A run of the requested operation, as Dagster makes it of the request."""
    return shop.execute(MAINTENANCE, shop.request().tags if tags is None else tags)
