"""`tidegate commits release`, and `abandon` of a withheld commit: what a person decides about failed checks.

Of two people who decide at once, one succeeds; the other is refused with E-STATE and has changed nothing.
"""

from collections.abc import Iterator
from typing import Annotated

import typer

from tidegate.cli.commits.project import CommitsProject, opened_project
from tidegate.cli.printing import ReasonOption, instant, print_line
from tidegate.domain.commits import CheckVerdict, WithheldCommit
from tidegate.domain.error import UserError
from tidegate.domain.wording import plural
from tidegate.scheduler.model.refused import RefusedWithCode
from tidegate.scheduler.store.commits.noted import NotedAction, notes_of
from tidegate.spark_jobs.errors import WithheldRefused

DECLINED_EXIT_CODE = 1


def release(
    commit: Annotated[str, typer.Argument(help="The commit id, from `commits list`.")],
    reason: ReasonOption = "",
) -> None:
    """Publish a withheld commit although a check of its rows has failed.

    It is refused where its rows could no longer be what was judged.
    """
    from tidegate.spark_jobs.publication.release import release_withheld

    with opened_project() as opened:
        project = opened.noting(NotedAction.RELEASE, reason)
        kept = project.commits.withheld(commit)
        for line in () if kept is None else failed_checks(kept):
            print_line(line)
        try:
            parts = release_withheld(
                commit, project.commits, project.warehouse, project.context, project.datasets()
            )
        except WithheldRefused as refused:
            raise _state(refused) from refused
        print_line(f"{commit}: released, {plural(len(parts), 'partition')} published")


def give_up(project: CommitsProject, kept: WithheldCommit, *, yes: bool) -> None:
    """Abandon a withheld commit, of which readers see nothing."""
    from tidegate.spark_jobs.publication.release import abandon_withheld

    for line in failed_checks(kept):
        print_line(line)
    print_line("Readers do not see its data: the datasets remain as before the commit.")
    if not yes and not typer.confirm("Abandon it?"):
        typer.echo("nothing was changed")
        raise typer.Exit(DECLINED_EXIT_CODE)
    datasets = project.datasets()
    try:
        abandon_withheld(kept.commit, project.commits, project.warehouse, project.context, datasets)
    except WithheldRefused as refused:
        raise _state(refused) from refused
    except OSError as error:
        print_line(f"its staging could not be removed: {error}", err=True)
        typer.echo("remove it later with: tidegate commits fsck --clean", err=True)
    print_line(f"{kept.commit}: abandoned; run its job again with: tidegate jobs retry")


def nothing_left(project: CommitsProject, commit: str) -> UserError:
    """Return why nothing is left to abandon under a commit id: who has decided before, where a person has."""
    hint = "list them with: tidegate commits list"
    with project.store.reading() as reader:
        entries = notes_of(reader, commit)
    for entry in entries:
        if entry.data["action"] in (NotedAction.RELEASE, NotedAction.ABANDON):
            did = f"{entry.data['by']} has done `{entry.data['action']}` at {instant(entry.at)}"
            return RefusedWithCode("E-STATE", f"there is no unfinished commit {commit}: {did}", hint)
    return UserError(f"there is no unfinished commit {commit}", hint)


def failed_checks(kept: WithheldCommit) -> Iterator[str]:
    """Yield a line for each check that withholds a commit, and its sample keys."""
    for each in (verdict for verdict in kept.verdicts if verdict.blocks):
        yield f"{each.dataset}: check {each.name} failed: {each.found}"
        yield from sample_lines(each)


def sample_lines(verdict: CheckVerdict) -> Iterator[str]:
    """Yield a line for each sample of the rows that break a check."""
    for sample in verdict.samples:
        cells = (f"{column}={'null' if value is None else value}" for column, value in sample.items())
        yield f"      {', '.join(cells)}"


def _state(refused: WithheldRefused) -> RefusedWithCode:
    return RefusedWithCode("E-STATE", refused.message, refused.hint)
