"""`tidegate commits abandon`: removes an unfinished sequence permanently.

It is for a sequence that can never be finished: its staging is lost, or its data is not wanted.
Published data remains published, so the command shows the state and asks for confirmation. The
tables refuse the commit from then on, and the store keeps a record.
"""

from typing import Annotated

import typer

from tidegate.cli.commits.project import CommitsProject, now, opened_project
from tidegate.cli.printing import instant
from tidegate.domain.error import UserError
from tidegate.spark_jobs.commit.process import is_gone, shown
from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.commit.step import Effect, RefusableStep, Verdict
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
from tidegate.spark_jobs.errors import SparkJobError
from tidegate.spark_jobs.repair.fsck import verify_step
from tidegate.spark_jobs.repair.orphans import find_orphans, remove_orphans

DECLINED_EXIT_CODE = 1


def abandon(
    commit: Annotated[str, typer.Argument(help="The commit id, from `commits list`.")],
    reason: Annotated[str, typer.Option(help="The reason, for the record.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove an unfinished commit that can never be finished; its published data remains."""
    with opened_project() as project:
        sequence = project.sequence(commit)
        if sequence is None:
            raise UserError(
                f"there is no unfinished commit {commit}", "list them with: tidegate commits list"
            )
        _refuse_active(project, commit)
        for line in consequences(sequence, project):
            typer.echo(line)
        if not yes and not typer.confirm("Abandon it?"):
            typer.echo("nothing was changed")
            raise typer.Exit(DECLINED_EXIT_CODE)
        _refuse_in_tables(project, sequence)
        # A recovery that finds it refused by its tables may have recorded that already.
        if not project.commits.abandon(commit, reason, now()) and not project.commits.was_abandoned(commit):
            _refuse_active(project, commit)
            raise UserError(f"commit {commit} was finished in the meantime", "nothing was abandoned")
        typer.echo(f"{commit}: abandoned; {', '.join(sequence.datasets)} can be written again")
        _clean(project, sequence)


def consequences(sequence: CommitSequence, project: CommitsProject) -> list[str]:
    """Return the state of each step, and what readers will see after the abandonment."""
    answers = [
        (step, verify_step(step, project.context))
        for step in sequence.steps
        if step.effect is not Effect.CLEANS
    ]
    lines = [f"{answer.verdict:<9} {step.describe()}" for step, answer in answers]
    shown = [answer.verdict for step, answer in answers if step.effect is Effect.PUBLISHES]
    if all(verdict is Verdict.DONE for verdict in shown):
        lines.append("All data is published: `tidegate commits recover` would only run the remaining steps.")
    elif Verdict.DONE in shown:
        lines.append(
            "Readers keep seeing the published part and will never see the rest: run the program again."
        )
    elif Verdict.UNKNOWN in shown:
        lines.append("It is unknown whether readers see its data; check the datasets.")
    else:
        lines.append("Readers do not see its data: the datasets remain as before the commit.")
    following = [answer.verdict for step, answer in answers if step.effect is Effect.FOLLOWS]
    if Verdict.NOT_DONE in following and Verdict.DONE in shown:
        lines.append("The next run reads its input again, and its data does not trigger any schedule.")
    return lines


def _refuse_active(project: CommitsProject, commit: str) -> None:
    state = project.commits.recovery_state(commit)
    if state is None or state.until is None or state.until <= now():
        return
    if is_gone(state.owner):
        project.commits.release(commit, state.owner)
        return
    raise UserError(
        f"commit {commit} is being finished by {shown(state.owner)}, at least until {instant(state.until)}",
        "wait for it, or stop that process first",
    )


def _refuse_in_tables(project: CommitsProject, sequence: CommitSequence) -> None:
    """Make the tables refuse the commit, so that a driver that only sleeps cannot publish it later."""
    for step in sequence.steps:
        if isinstance(step, RefusableStep):
            try:
                step.refuse(project.context)
            except (SparkJobError, OSError) as error:
                typer.echo(f"the table could not be made to refuse the commit: {error}", err=True)
                typer.echo("end the process of its driver: if it wakes up, it may add its rows", err=True)


def _clean(project: CommitsProject, sequence: CommitSequence) -> None:
    """Remove its staging; `fsck` finds staging that cannot be removed now."""
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
