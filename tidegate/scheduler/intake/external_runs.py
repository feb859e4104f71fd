"""External runs: they count in every limit like the runs of jobs, by slots of their own.

A job takes its slots when its launch is decided; a run that no job has launched takes them when it is
observed, and releases them at its end. Which schedules it triggers is the same for both
(`scheduler.intake.observe`).
"""

from datetime import datetime

from tidegate.domain.part_name import Ref
from tidegate.scheduler.decision.view.job_view import groups_of_program
from tidegate.scheduler.model.run import ALL_RUNS, Launched, Run, group_resource, program_resource
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.load import load_whole_app


def count_external(
    transaction: EngineTransaction, before: Run | None, run: Run, now: datetime
) -> tuple[str, ...]:
    """Take or release the slots of an external run at `now`.

    Its launch counts in rates from the earliest instant that is known.

    Args:
        before: the run before it was observed; None if it was not known.

    Returns:
        The resources of which the external run took or released slots.
    """
    if before is not None and before.launched_at != run.launched_at:
        transaction.drop_launches([run.run_id])
    if run.started_at is not None or run.active:
        transaction.add_launches([Launched(program=run.program, holder=run.run_id, at=run.launched_at)])
    if not run.active:
        released = transaction.release_slots(run.run_id)
        transaction.wake(released, now)
        return released
    resources = _resources_of(transaction, run.program)
    transaction.take_slots({run.run_id: resources})
    return resources


def _resources_of(transaction: EngineTransaction, program: str) -> tuple[str, ...]:
    """Return the resources of an external run: all runs, the program, and its schedules' groups (rule 21)."""
    app_name, name = Ref.of(program)
    app = load_whole_app(transaction, app_name)
    groups = () if app is None else groups_of_program(app, name)
    return (ALL_RUNS, program_resource(program), *(group_resource(group) for group in groups))
