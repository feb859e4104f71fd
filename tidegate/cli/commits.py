"""`tidegate commits`: the publishes that a dead run has left unfinished, and how to finish them.

The next run that writes a dataset finishes them by itself; these commands are for whoever
does not want to wait for it, or has to find out why it cannot. They start Spark only for a
sequence that publishes Iceberg, and change nothing that is not a step of a stored sequence.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from scheduler.store.commit_steps import SqlCommitStepStore
from scheduler.store.error import StoreError
from scheduler.store.open_sql import open_sql_store
from spark_jobs.commit.context import CommitContext
from spark_jobs.commit.publish import finish
from spark_jobs.commit.sequence import CommitSequence, decode_result, decode_sequence
from spark_jobs.commit.step import CommitStep, Verdict, Verified, unknown
from spark_jobs.errors import SparkJobError
from spark_jobs.io.filesystem import LocalFiles
from tidegate.errors import UserError
from tidegate.settings import load_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

app = typer.Typer(help="List and finish commit sequences.", no_args_is_help=True)

COLUMNS = "{:<44} {:>6}  {:<11} {}"


@app.command("list")
def list_commits(
    dataset: Annotated[str | None, typer.Argument(help='Only those that write it, as "app/name".')] = None,
) -> None:
    """List the unfinished commit sequences, the oldest first."""
    store, context = _store(), _context()
    commits = store.list_unfinished(dataset)
    if not commits:
        typer.echo("no unfinished commits")
        return
    typer.echo(COLUMNS.format("COMMIT", "TOKEN", "STEPS DONE", "DATASETS"))
    for commit in commits:
        sequence = _sequence(store, commit)
        if sequence is not None:
            done = sum(_look(step, context).verdict is Verdict.DONE for step in sequence.steps)
            progress = f"{done} of {len(sequence.steps)}"
            typer.echo(COLUMNS.format(commit, sequence.token, progress, ", ".join(sequence.datasets)))


@app.command()
def show(commit: Annotated[str, typer.Argument(help="The commit id, from `commits list`.")]) -> None:
    """Show every step of a commit sequence and whether it has happened."""
    store, context = _store(), _context()
    sequence = _sequence(store, commit)
    if sequence is None:
        _show_finished(commit, store.result(commit))
        return
    typer.echo(f"{commit}: unfinished, token {sequence.token}, writes {', '.join(sequence.datasets)}")
    for number, step in enumerate(sequence.steps, start=1):
        answer = _look(step, context)
        typer.echo(f"{number:>4}  {answer.verdict:<9} {step.describe()}")
        if answer.seen:
            typer.echo(f"                {answer.seen}")


@app.command()
def recover(
    dataset: Annotated[str | None, typer.Argument(help='Only those that write it, as "app/name".')] = None,
) -> None:
    """Finish the unfinished commit sequences; one that cannot be finished does not stop the others."""
    store, context = _store(), _context()
    failures: list[str] = []
    commits = store.list_unfinished(dataset)
    for commit in commits:
        try:
            sequence = _sequence(store, commit)
            if sequence is not None:
                published = finish(sequence, store, context)
                typer.echo(f"{commit}: finished, {len(published)} partitions published")
        except (SparkJobError, UserError, OSError) as error:
            failures.append(commit)
            typer.echo(f"{commit}: {error}", err=True)
    if failures:
        raise UserError(
            f"{len(failures)} of {len(commits)} commits could not be finished: {', '.join(failures)}",
            "their datasets stay blocked; see what is wrong with: tidegate commits show COMMIT",
        )
    if not commits:
        typer.echo("no unfinished commits")


def _store() -> SqlCommitStepStore:
    try:
        return SqlCommitStepStore(open_sql_store(load_settings().store_url, create=False).engine)
    except StoreError as error:
        raise UserError(error.message, error.hint) from error


def _sequence(store: SqlCommitStepStore, commit: str) -> CommitSequence | None:
    """The unfinished sequence of this id, or None when it is finished or never was."""
    body = store.get(commit)
    if body is None:
        return None
    try:
        return decode_sequence(body)
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"commit {commit} cannot be read: {error}",
            "look at it with the version of tidegate that wrote it",
        ) from error


def _look(step: CommitStep, context: CommitContext) -> Verified:
    """What a step says of itself; that it cannot be asked is an answer too."""
    try:
        return step.verify(context)
    except (SparkJobError, OSError) as error:
        return unknown(f"it cannot be looked at: {error}")


def _context() -> CommitContext:
    """Where the project's steps act. Spark starts when a step asks for it."""
    settings = load_settings()

    def start() -> "SparkSession":
        from spark_jobs.session import session
        from tidegate.spark_settings import spark_settings

        return session(spark_settings(settings))

    return CommitContext(files=LocalFiles(), spark=start)


def _show_finished(commit: str, result: str | None) -> None:
    if result is None:
        raise UserError(
            f"there is no commit {commit}", "list the unfinished ones with: tidegate commits list"
        )
    typer.echo(f"{commit}: finished")
    for one in decode_result(result):
        name = f"{one.dataset} {one.key}".strip()
        typer.echo(f"      {name}: {one.rows} rows, {one.bytes} bytes, {one.files} files")
