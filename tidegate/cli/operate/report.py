"""`tidegate report`: tell the scheduler that instances of a source or an external task are done, or failed.

A pipeline elsewhere calls it when its data has landed. One call is one transaction: a wrong time refuses all.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from tidegate.cli.printing import Format, FormatOption, print_json


class ReportedStatus(StrEnum):
    """The status that is reported."""

    SUCCESSFUL = "successful"
    FAILED = "failed"


def report(
    task: Annotated[str, typer.Argument(help='The task, as "app/task" or alone.')],
    keys: Annotated[
        list[str] | None,
        typer.Argument(help="Scheduled times, for example 2026-03-10-10:00.", metavar="KEY…"),
    ] = None,
    status: Annotated[
        ReportedStatus, typer.Option(help="What is reported.", case_sensitive=False)
    ] = ReportedStatus.SUCCESSFUL,
    from_: Annotated[
        str | None, typer.Option("--from", help="In place of keys: the first scheduled time.", metavar="KEY")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The last scheduled time, included.", metavar="KEY")
    ] = None,
    request: Annotated[
        str, typer.Option(help="A key of yours: a second call with it does nothing.", metavar="KEY")
    ] = "",
    reason: Annotated[str, typer.Option(help="Why, for the journal.", metavar="TEXT")] = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Report instances of a source or an external task as successful or failed."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands import reports
    from tidegate.scheduler.explain.names import find_task
    from tidegate.scheduler.model.journal import By

    if bool(keys) == (from_ is not None or to is not None):
        raise typer.BadParameter("give scheduled times, or a range with --from and --to")
    if (from_ is None) != (to is None):
        raise typer.BadParameter("a range needs both --from and --to")
    times = reports.Times(scheduled=keys or (), from_=from_, to=to)
    by = By(actor="cli", reason=reason)
    with opened_store() as store, store.transaction() as transaction:
        ref = find_task(transaction, task).ref
        answer = reports.report(transaction, ref, times, status.value, datetime.now(UTC), by, request)
    if format is Format.JSON:
        print_json(answer)
        return
    if answer.repeated:
        typer.echo(f"request {request} was reported before; nothing is changed")
    for key, became in answer.instances.items():
        typer.echo(f"{answer.task} {key} {answer.status}: {became}")
