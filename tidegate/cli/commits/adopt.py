"""`tidegate commits adopt`: accepts a table whose newest token is larger than any that the store has given.

Runs refuse such a table, because the store may have forgotten commits and watermarks, so that rows would
come twice. The command raises the token of the store and changes nothing else.
"""

from typing import Annotated

import typer

from tidegate.cli.commits.project import now, opened_project
from tidegate.domain.error import UserError
from tidegate.domain.suggest import did_you_mean
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
from tidegate.spark_jobs.publication.table import store_behind, top_token

DECLINED_EXIT_CODE = 1


def adopt(
    dataset: Annotated[str, typer.Argument(help='The dataset, as "app/dataset".')],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Let runs write a table again that is newer than the schedule store."""
    with opened_project() as project:
        refs = {
            ref.id: ref
            for app in project.apps()
            for ref in (dataset_ref(app.name, one) for one in app.datasets.values())
        }
        if dataset not in refs:
            raise UserError(f"there is no dataset {dataset}", did_you_mean(dataset, refs, "datasets"))
        token = top_token(refs[dataset], project.warehouse, project.spark)
        given = project.commits.last_token()
        if token <= given:
            typer.echo(
                f"{dataset}: nothing to do, its newest token is {token} and the store has given {given}"
            )
            return
        typer.echo(store_behind(refs[dataset], token, given).message)
        typer.echo("What the store has forgotten is not restored: its watermarks stay where they are.")
        if not yes and not typer.confirm("Have you compared tables and watermarks, and adopt it?"):
            typer.echo("nothing was changed")
            raise typer.Exit(DECLINED_EXIT_CODE)
        # An attempt of no commit: it only raises the token.
        project.commits.end(project.commits.begin("adopt", [dataset], until=now(), at_least=token))
        typer.echo(f"{dataset}: adopted; the next token is larger than {token}")
