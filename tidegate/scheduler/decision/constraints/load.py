"""`load`: met while the load is within its limit, as a number of active runs or a gauge.

`max_active_runs` counts like concurrency, over the whole store, the new run included (rule 18). A
gauge is met up to and including its `max`. A gauge that was never reported is met: a missing
measurement must not stop pipelines, and `why` says so.
"""

from datetime import datetime

from tidegate.domain.model import LoadConstraint
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.run import ALL_RUNS, gauge_resource
from tidegate.scheduler.model.verdict import Verdict


def needs(constraint: LoadConstraint, view: JobView) -> tuple[str, int] | None:
    """Return the resource that it counts the slots of, and its limit; None for a gauge."""
    return None if constraint.max_active_runs is None else (ALL_RUNS, constraint.max_active_runs)


def check(constraint: LoadConstraint, view: JobView, now: datetime) -> Verdict:
    """Compare the runs at work, or a gauge, with the limit.

    Raises:
        ValueError: it has neither `max_active_runs` nor a gauge with its `max`; lint refuses that.
    """
    match constraint:
        case LoadConstraint(max_active_runs=int(most)):
            taken = view.slots[ALL_RUNS]
            met = taken < most
            summary = f"{taken} run(s) of all programs are active, at most {most} may be"
            resource = ALL_RUNS
        case LoadConstraint(gauge=str(name), max=float(limit) | int(limit)):
            gauge = view.gauges.get(name)
            met = gauge is None or gauge.value <= limit
            resource = gauge_resource(name)
            if gauge is None:
                summary = f"gauge {name} was never reported, so it does not count"
            else:
                summary = f"gauge {name} is {gauge.value:g}, at most {limit:g} is allowed"
                summary += f"; reported at {gauge.reported_at.isoformat()}"
        case _:
            raise ValueError(f"a load without max_active_runs and without a gauge: {constraint}")
    return Verdict(kind="load", met=met, summary=summary, blocked_on=None if met else resource)
