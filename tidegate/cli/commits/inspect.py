"""`tidegate commits`: list, show and finish the commit sequences that dead runs left unfinished.

The next run that writes a dataset finishes its sequences, and so does the recovery job; these
commands finish them at once, or show why they cannot be finished. `list` and `show` change
nothing; `abandon` and `fsck` are in their own files.
"""

from collections.abc import Collection
from typing import Annotated

import typer

from tidegate.cli.commits.abandon import abandon
from tidegate.cli.commits.adopt import adopt
from tidegate.cli.commits.fsck import fsck
from tidegate.cli.commits.project import now, opened_project
from tidegate.cli.commits.shown import lines, shown_commit
from tidegate.cli.commits.withheld import release
from tidegate.cli.listing import Given, Part, Parts, list_command
from tidegate.cli.printing import NUMBER_MAX, Format, FormatOption, ReasonOption, print_json, print_line
from tidegate.domain.error import UserError
from tidegate.domain.part_name import app_of
from tidegate.listings.commits import COMMITS
from tidegate.scheduler.store.commits.noted import NotedAction
from tidegate.spark_jobs.commit.recovery import recover_all
from tidegate.spark_jobs.commit.sequence import decode_result

app = typer.Typer(help="List, finish, release, abandon and check commit sequences.", no_args_is_help=True)
app.command()(abandon)
app.command()(adopt)
app.command()(fsck)
app.command()(release)

DatasetArgument = Annotated[
    str | None, typer.Argument(help='Only commits that write this "app/dataset"; default: all.')
]


def _parts(given: Given, _forms: Collection[str]) -> Parts:
    return Parts([Part("", given)], "no unfinished commits")


app.command("list")(list_command(COMMITS, _parts, limit=NUMBER_MAX, argument="dataset"))


@app.command()
def show(
    commit: Annotated[str, typer.Argument(help="The commit id, from `commits list`.")],
    format: FormatOption = Format.TEXT,
) -> None:
    """Show every step of a commit sequence and whether it is done."""
    at = now()
    with opened_project() as project:
        shown = shown_commit(project, commit, at)
    if format is Format.JSON:
        print_json(shown)
        return
    for line in lines(shown, at):
        print_line(line)


@app.command()
def recover(dataset: DatasetArgument = None, reason: ReasonOption = "") -> None:
    """Finish the unfinished commit sequences, including blocked ones.

    A sequence that cannot be finished does not stop the others.
    """
    with opened_project() as opened:
        project = opened.noting(NotedAction.RECOVER, reason)
        dataset = None if dataset is None else project.named(dataset)
        wanted = project.own_unfinished() if dataset is None else [dataset]
        if dataset is not None and app_of(dataset) in project.others():
            raise UserError(
                f"{dataset} belongs to another project, which has its tables elsewhere",
                "run the command in that project",
            )
        done = recover_all(project.commits, project.context, datasets=wanted, include_blocked=True)
        for one in done:
            if one.withdrawn is not None:
                print_line(f"{one.commit}: withdrawn, its job does the work again; {one.withdrawn.message}")
            elif one.error is None:
                count = len(decode_result(project.commits.result(one.commit) or "[]"))
                print_line(f"{one.commit}: finished, {count} partitions published")
            else:
                print_line(f"{one.commit}: {one.error}", err=True)
    failed = [one.commit for one in done if one.error is not None]
    if failed:
        raise UserError(
            f"{len(failed)} of {len(done)} commits could not be finished: {', '.join(failed)}",
            "their datasets remain blocked; see the cause with: tidegate commits show COMMIT",
        )
    if not done:
        typer.echo("no unfinished commits")
