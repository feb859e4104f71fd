"""Runs one operation on one table, and reports how it ended, what it has changed, and the measures around it.

Every failure of the operation is in the report, also the end of the JVM: what was committed before remains,
and counts. Only if it ends before the operation has begun there is no report.

An operation ends when its timeout is over, also in the middle of a Spark job. Between two commits it asks
by itself. A thread asks meanwhile, and cancels the jobs of this process: the operation fails then, and what
it has not committed is not in the table. The session of an operation runs nothing else.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from tidegate.domain.error import UserError
from tidegate.domain.maintenance.reported import Ended, Ending, Health
from tidegate.spark_jobs.commit.clock import Clock
from tidegate.spark_jobs.errors import CommitBusy, CommitConflict, CommitFenced
from tidegate.spark_jobs.java import jvm
from tidegate.spark_jobs.java.jvm import failure_text
from tidegate.spark_jobs.maintenance.formats import maintained_format
from tidegate.spark_jobs.maintenance.measuring import measure
from tidegate.spark_jobs.maintenance.progress import (
    LandedFiles,
    LostRace,
    MaintenanceRefused,
    Progress,
    TableGone,
    TimedOut,
    Yielded,
)
from tidegate.spark_jobs.maintenance.request import Control, MaintenanceContext, OperationRequest

POLL_SECONDS = 10.0


@contextmanager
def ended_by(control: Control, spark: SparkSession, clock: Clock) -> Iterator[None]:
    """Cancel the Spark jobs of a block once `control` says that it must stop.

    Raises:
        TimedOut: the block failed after that.
    """
    stop, over = threading.Event(), threading.Event()
    context: Any = spark.sparkContext

    def watch() -> None:
        while not clock.wait(stop, POLL_SECONDS):
            try:
                if control.should_stop():
                    over.set()
                    context.cancelAllJobs()
            except Exception as error:  # noqa: BLE001 -- the operation itself asks again
                log.warning("could not ask whether the timeout is over: %s", error)

    thread = threading.Thread(target=watch, name="timeout of an operation", daemon=True)
    thread.start()
    try:
        yield
    except Exception as error:
        if over.is_set():
            raise TimedOut from error
        raise
    finally:
        stop.set()
        thread.join()


log = logging.getLogger(__name__)


def run_operation(context: MaintenanceContext, request: OperationRequest, control: Control) -> Ended:
    """Run an operation to its end.

    Raises:
        SparkLost: the JVM has ended before the operation has begun.
    """
    spark, progress = context.spark(), Progress(control=control)
    before = _measured(context, request)
    ending, detail, lost = Ending.SUCCEEDED, "", False
    try:
        with ended_by(control, spark, context.clock):
            wanted = _with_all_options(request)
            maintained_format(request.table).run(context, wanted, progress)
    except TimedOut:
        ending, detail = Ending.FAILED, "its timeout is over"
    except Yielded:
        ending, detail = Ending.STOPPED, "it has made room for a job of a pipeline"
    except (LostRace, CommitConflict, CommitFenced, CommitBusy) as error:
        ending, detail = Ending.CONFLICT, str(error)
    except LandedFiles as error:
        progress.not_applicable(error.message)
    except TableGone as error:
        ending, detail = Ending.FAILED, str(error)
        progress.results["gone"] = True
    except Exception as error:
        lost = jvm.was_lost(error)
        said = f"the JVM of Spark has ended during {request.operation}; {jvm.WHY_LOST}"
        ending, detail = Ending.FAILED, said if lost else _detail(error)
        log.warning("%s on %s has failed", request.operation, request.table.name, exc_info=True)
    return Ended(
        ending=ending,
        changed=progress.changed,
        bytes=progress.bytes,
        before=before,
        after=_measured_after(context, request, lost) if progress.changed else before,
        results=progress.results,
        detail="; ".join(filter(None, (detail, progress.remark))),
    )


def _with_all_options(request: OperationRequest) -> OperationRequest:
    """Return a request with the defaults of the options that it leaves out.

    Raises:
        MaintenanceRefused: it has an option that the operation does not have.
    """
    options = request.operation.options
    unknown = sorted(request.options.keys() - options.keys())
    if unknown:
        known = ", ".join(sorted(options)) or "none"
        raise MaintenanceRefused(
            f"{request.operation} has no option {', '.join(unknown)}", f"its options are: {known}"
        )
    return msgspec.structs.replace(request, options=request.operation.with_defaults(request.options))


def _measured(context: MaintenanceContext, request: OperationRequest) -> dict[str, float]:
    """Return the measures of the table; none if it cannot be measured, which ends no operation."""
    found = measure(
        context.spark(), request.table, request.rules, context.clock.now(), warehouse=context.warehouse
    )
    return found.values if isinstance(found, Health) else {}


def _measured_after(context: MaintenanceContext, request: OperationRequest, lost: bool) -> dict[str, float]:
    """Return the measures at the end; none if Spark has ended, for which no other one is started."""
    if lost:
        return {}
    try:
        return _measured(context, request)
    except Exception as error:  # noqa: BLE001 -- what was done counts, whether it can be measured or not
        log.warning("could not measure %s after %s: %s", request.table.name, request.operation, error)
        return {}


def _detail(error: Exception) -> str:
    if isinstance(error, UserError):
        return f"{error.message}; {error.hint}" if error.hint else error.message
    return failure_text(error)
