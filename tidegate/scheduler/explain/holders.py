"""Holders: the active runs whose slots a waiting job needs, or that run the job. Changes nothing."""

from tidegate.domain.part_name import Ref
from tidegate.scheduler.decision.view.job_view import groups_of_program
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.run import ALL_RUNS, Run, group_resource, program_resource
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.load import load_whole_app


def holders(reader: EngineReader, explanation: Explanation) -> tuple[tuple[str | None, Run], ...]:
    """Return each active run that keeps a job waiting, with the resource; None for the run of the job."""
    job = explanation.job
    if job is not None and job.state is JobState.LAUNCHED:
        return tuple((None, run) for run in reader.runs(jobs=[job.id], active=True))
    needed = dict.fromkeys(
        verdict.blocked_on for verdict in explanation.constraints if not verdict.met and verdict.blocked_on
    )
    if not needed:
        return ()
    runs = [(run, resources_held(reader, run)) for run in reader.runs(active=True)]
    return tuple((resource, run) for resource in needed for run, held in runs if resource in held)


def resources_held(reader: EngineReader, run: Run) -> tuple[str, ...]:
    """Return the resources of which a run has a slot."""
    if run.job is not None:
        return next((job.resources for job in reader.jobs(ids=[run.job])), ())
    name, program = Ref.of(run.program)
    app = load_whole_app(reader, name)
    groups = () if app is None else groups_of_program(app, program)
    return (ALL_RUNS, program_resource(run.program), *(group_resource(group) for group in groups))
