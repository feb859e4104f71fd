"""`tidegate commits abandon`: takes an unfinished sequence away for good.

For one that can never be finished: what was staged is lost, or nobody wants it any more. What has
been published stays published, so it is shown first and asked for. A record of it is kept.
"""

from typing import Annotated

import typer

from tidegate.cli.commits.project import CommitsProject, now, opened_project
from tidegate.cli.printing import instant
from tidegate.domain.error import UserError
from tidegate.spark_jobs.commit.owner import is_gone
from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.commit.step import Effect, Verdict
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
from tidegate.spark_jobs.errors import SparkJobError
from tidegate.spark_jobs.repair.fsck import verify_step
from tidegate.spark_jobs.repair.orphans import find_orphans, remove_orphans

DECLINED_EXIT_CODE = 1


def abandon(
    commit: Annotated[str, typer.Argument(help="The commit id, from `commits list`.")],
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Take away an unfinished commit that can never be finished; what is published of it stays."""
    with opened_project() as project:
        sequence = project.sequence(commit)
        if sequence is None:
            raise UserError(
                f"there is no unfinished commit {commit}", "list them with: tidegate commits list"
            )
        _refuse_at_work(project, commit)
        for line in foretold(sequence, project):
            typer.echo(line)
        if not yes and not typer.confirm("Abandon it?"):
            typer.echo("nothing was changed")
            raise typer.Exit(DECLINED_EXIT_CODE)
        if not project.commits.abandon(commit, reason, now()):
            _refuse_at_work(project, commit)
            raise UserError(f"commit {commit} has been finished meanwhile", "nothing was abandoned")
        typer.echo(f"{commit}: abandoned; {', '.join(sequence.datasets)} can be written again")
        _clean(project, sequence)


def foretold(sequence: CommitSequence, project: CommitsProject) -> list[str]:
    """What is done of a sequence and what will never be, and what readers will see of it."""
    answers = [
        (step, verify_step(step, project.context))
        for step in sequence.steps
        if step.effect is not Effect.CLEANS
    ]
    lines = [f"{answer.verdict:<9} {step.describe()}" for step, answer in answers]
    shown = [answer.verdict for step, answer in answers if step.effect is Effect.PUBLISHES]
    if all(verdict is Verdict.DONE for verdict in shown):
        lines.append("Everything is published: to recover it would only do what is left around it.")
    elif Verdict.DONE in shown:
        lines.append(
            "Readers go on seeing what is done of it, and will never see the others: run its program again."
        )
    elif Verdict.UNKNOWN in shown:
        lines.append("Whether readers see anything of it cannot be told; see what stands in the datasets.")
    else:
        lines.append("Readers see nothing of it, and never will: everything stands as before it.")
    around = [answer.verdict for step, answer in answers if step.effect is Effect.FOLLOWS]
    if Verdict.NOT_DONE in around and Verdict.DONE in shown:
        lines.append("What it has read is read again by the next run, and nothing is started by its data.")
    return lines


def _refuse_at_work(project: CommitsProject, commit: str) -> None:
    state = project.commits.recovery_state(commit)
    if state is None or state.until is None or state.until <= now():
        return
    if is_gone(state.owner):
        project.commits.release(commit, state.owner)
        return
    host, pid, *_ = state.owner.split("/")
    raise UserError(
        f"commit {commit} is being finished by process {pid} on {host}, at least until"
        f" {instant(state.until)}",
        "wait for it, or end that process first",
    )


def _clean(project: CommitsProject, sequence: CommitSequence) -> None:
    """Removes what it has staged; what cannot be removed now is found by fsck."""
    refs = [
        dataset_ref(app.name, dataset)
        for app in project.apps()
        for dataset in app.datasets.values()
        if f"{app.name}/{dataset.name}" in sequence.datasets
    ]
    warehouse = project.warehouse
    try:
        found = find_orphans(refs, warehouse, project.commits, project.spark)
        mine = [one for one in found if one.token == sequence.token]
        remove_orphans(mine, refs, warehouse, project.spark)
    except (SparkJobError, OSError) as error:
        typer.echo(f"its staging could not be removed: {error}", err=True)
        typer.echo("remove it later with: tidegate commits fsck --clean", err=True)
