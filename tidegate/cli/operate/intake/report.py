"""`tidegate report`: what a pipeline elsewhere has landed: partitions of a dataset, or instances of a task.

    tidegate report sales/orders --key 2026-03-09 --rows 1200
    tidegate report sales/feed 2026-03-10-10:00 --status failed

One call is one transaction: a wrong key or time refuses all of it.
"""

from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from shlex import quote
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.printing import Format, FormatOption, ReasonOption, instant, print_json, print_line
from tidegate.domain.part_name import Ref

if TYPE_CHECKING:
    from tidegate.domain.model import App
    from tidegate.scheduler.intake.report import Accepted
    from tidegate.scheduler.intake.report_partitions import Landed
    from tidegate.scheduler.model.journal import By

SIZE_MAX = 2**63 - 1
"""The largest number that every database stores."""

Sizes = list[int] | None


class ReportedStatus(StrEnum):
    """The status that is reported."""

    SUCCESSFUL = "successful"
    FAILED = "failed"


def report(
    name: Annotated[
        str,
        typer.Argument(help='The dataset or the task, as "app/name" or alone.', metavar="DATASET|TASK"),
    ],
    keys: Annotated[
        list[str] | None,
        typer.Argument(help="Scheduled times of a task, for example 2026-03-10-10:00.", metavar="TIME…"),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(help="A partition of a dataset; may be repeated.", metavar="KEY", show_default=False),
    ] = None,
    rows: Annotated[
        Sizes,
        typer.Option(
            help="Its number of rows: once for each --key.", min=0, max=SIZE_MAX, show_default=False
        ),
    ] = None,
    bytes_: Annotated[
        Sizes,
        typer.Option(
            "--bytes", help="Its bytes: once for each --key.", min=0, max=SIZE_MAX, show_default=False
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="When the data came to be, with an offset. Default: now.", metavar="INSTANT"),
    ] = None,
    status: Annotated[
        ReportedStatus | None,
        typer.Option(help="Of instances of a task. Default: successful.", case_sensitive=False),
    ] = None,
    from_: Annotated[
        str | None, typer.Option("--from", help="In place of times: the first one.", metavar="TIME")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="The last one, included.", metavar="TIME")] = None,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Also where files lack or are bad, or a program writes it."),
    ] = False,
    request: Annotated[
        str, typer.Option(help="A key of yours: a second call with it does nothing.", metavar="KEY")
    ] = "",
    reason: ReasonOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Report partitions of a dataset that have landed, or instances of a source or an external task."""

    of_task = bool(keys) or status is not None or from_ is not None or to is not None
    of_dataset = bool(key) or rows is not None or bytes_ is not None or at is not None
    if of_task and of_dataset:
        raise typer.BadParameter(
            "--key, --rows, --bytes and --at belong to a dataset; times, --from, --to and --status to a task"
        )
    by = by_hand(reason)
    if of_dataset or (not of_task and _is_dataset(name)):
        landed = _landed(key or [None], rows, bytes_, at)
        _report_partitions(name, landed, request, by, format, anyway=anyway)
        return
    if bool(keys) == (from_ is not None or to is not None):
        raise typer.BadParameter("give scheduled times, or a range with --from and --to")
    if (from_ is None) != (to is None):
        raise typer.BadParameter("a range needs both --from and --to")
    _report_instances(name, keys or [], (from_, to), status or ReportedStatus.SUCCESSFUL, request, by, format)


def _is_dataset(name: str) -> bool:
    """Return whether a name alone means a dataset, one without partitions perhaps, and not a task."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.explain.names import find_dataset, find_task
    from tidegate.scheduler.model.refused import UnknownName

    with opened_store() as store, store.reading() as reader:
        try:
            find_dataset(reader, name)
        except UnknownName as error:
            try:
                find_task(reader, name)
            except UnknownName:
                raise error from None
            return False
    return True


def _landed(keys: list[str] | list[None], rows: Sizes, sizes: Sizes, at: str | None) -> "list[Landed]":
    """Return the partitions as they are reported.

    Raises:
        BadParameter: a size could be that of another partition.
    """
    from tidegate.domain.time.instant import instant_of
    from tidegate.scheduler.intake.report_partitions import Landed

    for name, given in (("--rows", rows), ("--bytes", sizes)):
        if given and len(given) != len(keys):
            raise typer.BadParameter(
                f"{name} is given {len(given)} times for {len(keys)} partitions: give it once for each --key,"
                " in the same order, or not at all"
            )
    moment = None if at is None else instant_of(at)
    nothing = [None] * len(keys)
    return [
        Landed(key=key, rows=number, bytes=size, at=moment)
        for key, number, size in zip(keys, rows or nothing, sizes or nothing, strict=True)
    ]


def _report_partitions(
    name: str, landed: "list[Landed]", request: str, by: "By", format: Format, *, anyway: bool
) -> None:
    """Report partitions; one that is most likely a mistake is refused, unless it is meant."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.error import UserError
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.explain.names import find_dataset
    from tidegate.scheduler.intake.report import accepted
    from tidegate.scheduler.intake.report_partitions import report_partitions
    from tidegate.scheduler.tick.load import load_app
    from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
    from tidegate.watcher.unlanded import faults_of_report

    settings = load_settings()
    with opened_store(settings) as store, store.transaction() as transaction:
        app, dataset = Ref.of(find_dataset(transaction, name))
        found, repeated = report_partitions(
            transaction,
            settings.name,
            app,
            dataset,
            landed,
            datetime.now(UTC),
            by,
            request or uuid4().hex,
        )
        deployed = load_app(transaction, app)
        assert deployed is not None, "its dataset was found"
        keys = [each.key for each in found.partitions]
        places = Warehouse(path=settings.warehouse, project=settings.paths_from)
        faults = faults_of_report(deployed, dataset, keys, places)
        if faults and not anyway and not repeated:
            raise UserError("; ".join(faults), _hint(deployed, dataset))
    _warn(deployed, dataset, faults)
    answer = accepted(found, app, dataset, request, repeated, faults)
    if format is Format.JSON:
        print_json(answer)
        return
    _print_partitions(answer)


def _hint(app: "App", dataset: str) -> str:
    if dataset in app.owners():
        return "let the program run, or add --anyway"
    return "put the files there, write `allow_empty: true` for the dataset, or add --anyway"


def _warn(app: "App", dataset: str, faults: list[str]) -> None:
    """Warn of what is reported anyway, and of a report of what is watched."""
    if app.datasets[dataset].watch is not None:
        text = (
            "its folder is watched, so that complete partitions are reported already; this report counts too"
        )
        print_line(f"warning: {app.name}/{dataset}: {text}", err=True)
    for fault in faults:
        print_line(f"warning: {fault}", err=True)


def _print_partitions(answer: "Accepted") -> None:
    if answer.repeated:
        print_line(f"request {answer.request} was reported before; nothing is changed")
    for each in answer.partitions:
        sizes = {"rows": each.rows, "bytes": each.bytes}
        said = "".join(f", {size:,} {unit}" for unit, size in sizes.items() if size is not None)
        name = f"{answer.app}/{answer.dataset} {each.key}".strip()
        print_line(f"{name}: reported, landed at {instant(each.at)}{said}")


def _report_instances(
    name: str,
    scheduled: list[str],
    span: tuple[str | None, str | None],
    status: ReportedStatus,
    request: str,
    by: "By",
    format: Format,
) -> None:
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.error import UserError
    from tidegate.scheduler.commands.tasks import reports
    from tidegate.scheduler.explain.names import find_dataset, find_task
    from tidegate.scheduler.model.refused import UnknownName

    times = reports.Times(scheduled=scheduled, from_=span[0], to=span[1])
    with opened_store() as store, store.transaction() as transaction:
        try:
            ref = find_task(transaction, name).ref
        except UnknownName:
            with suppress(UnknownName):
                find_dataset(transaction, name)
                key = quote(scheduled[0] if scheduled else "KEY")
                hint = f"give each partition by --key: `tidegate report {name} --key {key}`"
                raise UserError(f'"{name}" is a dataset, and no task', hint) from None
            raise
        answer = reports.report(transaction, ref, times, status.value, datetime.now(UTC), by, request)
    if format is Format.JSON:
        print_json(answer)
        return
    if answer.repeated:
        print_line(f"request {request} was reported before; nothing is changed")
    for key, became in answer.instances.items():
        print_line(f"{answer.task} {key} {answer.status}: {became}")
