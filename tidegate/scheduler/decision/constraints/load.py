"""`load`: holds while little enough is going on, counted in active runs or shown by a gauge.

`max_active_runs` counts like concurrency, over the whole store, the coming run included
(rule 18). A gauge holds up to its `max`, that included. One that nobody has reported
holds nothing back: what cannot be measured must not stop the pipelines, and `why` says so.
"""

from datetime import datetime

from tidegate.domain.model import LoadConstraint
from tidegate.scheduler.decision.job_view import JobView
from tidegate.scheduler.model.run import ALL_RUNS, gauge_resource
from tidegate.scheduler.model.verdict import Verdict


def check(constraint: LoadConstraint, view: JobView, now: datetime) -> Verdict:
    """See `scheduler.decision.constraints`.

    Raises:
        ValueError: it names neither a number of runs nor a gauge with its limit; lint refuses that.
    """
    match constraint:
        case LoadConstraint(max_active_runs=int(most)):
            taken = view.slots[ALL_RUNS]
            met = taken < most
            summary = f"{taken} run(s) of all programs are active, {most} may be"
            resource = ALL_RUNS
        case LoadConstraint(gauge=str(name), max=float(limit) | int(limit)):
            gauge = view.gauges.get(name)
            met = gauge is None or gauge.value <= limit
            resource = gauge_resource(name)
            if gauge is None:
                summary = f"gauge {name} was never reported and holds nothing back"
            else:
                summary = f"gauge {name} is {gauge.value:g}, it may be {limit:g} at most"
                summary += f"; reported at {gauge.reported_at.isoformat()}"
        case _:
            raise ValueError(f"a load without max_active_runs and without a gauge: {constraint}")
    return Verdict(kind="load", met=met, summary=summary, blocked_on=None if met else resource)
