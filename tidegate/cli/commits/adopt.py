"""`tidegate commits adopt`: accepts a table that has publishes of which the store knows nothing.

Runs refuse such a table, because the store may have forgotten commits and watermarks, so that rows would
come twice. The command raises the token of the store above that of the table, and records the publishes as
finished: a run with the id of one of them publishes nothing. Watermarks and tables stay as they are.
"""

from typing import Annotated

import typer

from tidegate.cli.commits.project import CommitsProject, now, opened_project
from tidegate.cli.printing import ReasonOption, print_line
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.error import UserError
from tidegate.domain.part_name import whole_name
from tidegate.domain.suggest import did_you_mean
from tidegate.scheduler.store.commits.noted import NotedAction
from tidegate.spark_jobs.commit.lease import LEASE
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_result, encode_sequence
from tidegate.spark_jobs.commit.state import New, look_up
from tidegate.spark_jobs.publication.formats import format_of

DECLINED_EXIT_CODE = 1


def adopt(
    dataset: Annotated[str, typer.Argument(help='The dataset, as "app/dataset".')],
    reason: ReasonOption = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Let runs write a table again that is newer than the schedule store."""
    from tidegate.spark_jobs.publication.table import forgotten, store_behind, top_token
    from tidegate.spark_jobs.repair.fsck import COMMITS_COMPARED

    with opened_project() as project:
        dataset = project.named(dataset)
        refs = project.datasets()
        if dataset not in refs:
            raise UserError(f"there is no dataset {dataset}", did_you_mean(dataset, refs, "datasets"))
        ref, store = refs[dataset], project.commits
        token = top_token(ref, project.warehouse, project.spark)
        given = store.last_token()
        listed = format_of(ref).commits(ref, project.warehouse, project.spark)
        unknown = [each for each in listed[-COMMITS_COMPARED:] if isinstance(look_up(each, store), New)]
        if token <= given and not unknown:
            print_line(
                f"{dataset}: nothing to do, its newest token is {token} and the store has given {given}"
            )
            return
        behind = store_behind(ref, token, given) if token > given else forgotten(ref, unknown)
        print_line(behind.message)
        typer.echo("What the store has forgotten is not restored: its watermarks stay where they are.")
        if not yes and not typer.confirm("Have you compared tables and watermarks, and adopt it?"):
            typer.echo("nothing was changed")
            raise typer.Exit(DECLINED_EXIT_CODE)
        about = {"dataset": dataset}
        noted = project.noting(NotedAction.ADOPT, reason, about, _writers(project, dataset)).commits
        for commit in unknown:
            _record(noted, commit, dataset, token)
        noted.raise_token(dataset, token, now())
        print_line(f"{dataset}: adopted; the next token is larger than {token}")


def _writers(project: CommitsProject, dataset: str) -> list[str]:
    """Return the programs that write a dataset."""
    return [
        f"{app.name}/{program.name}"
        for app in project.apps()
        for program in app.programs.values()
        if dataset in {whole_name(app.name, each) for each in program.writes}
    ]


def _record(store: CommitStepStore, commit: str, dataset: str, token: int) -> None:
    """Record a commit as finished. After a crash in between, recovery does so."""
    own = store.begin(commit, [dataset], until=now() + LEASE, at_least=token)
    sequence = CommitSequence(id=commit, datasets=(dataset,), token=own, steps=(), result=())
    if store.put(commit, sequence.datasets, own, encode_sequence(sequence)) == "stored":
        store.remove(commit, encode_result(sequence.result))
    store.end(own)
