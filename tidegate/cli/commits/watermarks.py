"""`tidegate watermarks`: list, show, reset and forget the positions of incremental reads.

A reset is a commit sequence that moves watermarks. So it fails if the watermarks changed after
they were shown, it excludes runs that would move them, and `show` prints its commit id
afterwards. `list` and `show` change nothing.
"""

import hashlib
from typing import Annotated

import msgspec
import typer

from tidegate.cli.commits.project import opened_project
from tidegate.cli.listing import Part, Parts, list_command
from tidegate.cli.printing import (
    NUMBER_MAX,
    Format,
    ListFormatOption,
    ReasonOption,
    WideOption,
    print_for_tools,
    print_line,
    print_table,
)
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.error import UserError, WrongUsage
from tidegate.domain.part_name import Ref
from tidegate.domain.suggest import did_you_mean
from tidegate.listings.queries.watermarks import positions_of
from tidegate.listings.watermarks import WATERMARKS, Position
from tidegate.scheduler.store.commits.noted import NotedAction
from tidegate.spark_jobs.commit.positions import known_watermarks, set_watermarks
from tidegate.spark_jobs.commit.sequence import watermark_resource
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark

app = typer.Typer(help="List, show, reset and forget watermarks of incremental reads.", no_args_is_help=True)

SHOWN_CHARACTERS = 60
"""A position may contain thousands of files; --format json prints all of it."""
PARTS_NOTED = 20
"""A source may have thousands of parts; the commit of a reset has all of them."""
DIGEST_DIGITS = 16
DECLINED_EXIT_CODE = 1

ConsumerArgument = Annotated[str, typer.Argument(help='The reading program, as "app/program".')]
SourceArgument = Annotated[str, typer.Argument(help='The dataset that it reads, as "app/dataset".')]


app.command("list")(
    list_command(
        WATERMARKS,
        lambda given, _: Parts([Part("", given)], "no watermarks: no program has read incrementally"),
        limit=NUMBER_MAX,
    )
)


@app.command()
def show(
    consumer: ConsumerArgument,
    source: SourceArgument,
    wide: WideOption = False,
    format: ListFormatOption = Format.TEXT,
) -> None:
    """Show how far a program has read each part of a dataset."""
    with opened_project() as project:
        consumer, source = project.named(consumer), project.named(source)
        rows = positions_of(known_watermarks(project.commits, consumer, source))
    if format is not Format.TEXT:
        print_for_tools(rows, format, Position.__struct_encode_fields__)
        return
    columns = ("PART", "MOVES", "POSITION", "MOVED BY")
    cells = [(row.part or "(all of it)", str(row.moves), _short(row.position), row.commit) for row in rows]
    print_table(columns, cells, right=("MOVES",), wide=wide)


@app.command()
def reset(
    consumer: ConsumerArgument,
    source: SourceArgument,
    part: Annotated[
        str | None, typer.Option(help="Only this part; default: every part that has a watermark.")
    ] = None,
    to: Annotated[
        str, typer.Option(help="A position, as `show --format json` prints it; default: the beginning.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    reason: ReasonOption = "",
) -> None:
    """Reset watermarks to the beginning or to a position; the next run reads from there."""
    with opened_project() as project:
        commits = project.commits
        consumer, source = project.named(consumer), project.named(source)
        moving = commits.list_unfinished(watermark_resource(consumer, source))
        if moving:
            raise UserError(
                f"unfinished commit {', '.join(moving)} moves watermarks of {consumer} in {source}",
                "finish it first with: tidegate commits recover",
            )
        steps = _steps(commits, consumer, source, part, to)
        for step in steps:
            print_line(step.describe())
        print_line(f"The next run of {consumer} continues from there. Written data remains.")
        if not yes and not typer.confirm("Set it?" if len(steps) == 1 else f"Set these {len(steps)}?"):
            typer.echo("nothing was changed")
            raise typer.Exit(DECLINED_EXIT_CODE)
        moved = {"consumer": consumer, "source": source, "parts": [step.part for step in steps][:PARTS_NOTED]}
        data = {**moved, "to": _short(to)}
        noted = project.noting(NotedAction.RESET, reason, data, [consumer])
        set_watermarks(noted.commits, noted.context, steps)
        print_line(f"{steps[0].commit}: {len(steps)} watermark{'s' if len(steps) > 1 else ''} set")


@app.command()
def forget(
    consumer: ConsumerArgument,
    source: SourceArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    reason: ReasonOption = "",
) -> None:
    """Delete watermarks that no deployed program uses, such as those that a rename has left behind."""
    with opened_project() as project:
        commits = project.commits
        consumer, source = project.named(consumer), project.named(source)
        marks = known_watermarks(commits, consumer, source)
        app, program = Ref.of(consumer)
        for deployed in project.apps():
            found = deployed.programs.get(program) if deployed.name == app else None
            if found is not None and {source, source.removeprefix(f"{app}/")} & found.incremental.keys():
                raise UserError(
                    f"program {consumer} is deployed and reads {source} incrementally",
                    f"to read from the beginning: tidegate watermarks reset {consumer} {source}",
                )
        if commits.list_unfinished(watermark_resource(consumer, source)):
            raise UserError(
                f"an unfinished commit moves watermarks of {consumer} in {source}",
                "finish it first with: tidegate commits recover",
            )
        if not yes and not typer.confirm(f"Forget {len(marks)} of {consumer} in {source}?"):
            typer.echo("nothing was changed")
            raise typer.Exit(DECLINED_EXIT_CODE)
        of_both = {"consumer": consumer, "source": source}
        noted = project.noting(NotedAction.FORGET, reason, of_both, [consumer])
        forgotten = noted.commits.forget_watermarks(consumer, source)
        print_line(f"{forgotten} watermark{'s' if forgotten > 1 else ''} forgotten")


def _steps(
    commits: CommitStepStore, consumer: str, source: str, part: str | None, to: str
) -> tuple[SetWatermark, ...]:
    """Return the steps of a reset from the current watermarks."""
    if to:
        _check_position(to)
        # A position belongs to one part; the part "" is the whole dataset.
        part = part or ""
        mark = commits.watermarks(consumer, source, part).get(part)
        marks: dict[str, int] = {part: 0 if mark is None else mark.number}
    else:
        known = known_watermarks(commits, consumer, source)
        if part is not None and part not in known:
            hint = did_you_mean(part, known, "parts")
            raise UserError(f"{consumer} has no watermark in {source}, part {part!r}", hint)
        marks = {one: mark.number for one, mark in known.items() if part in (None, one)}
    moves = {one: number + 1 for one, number in sorted(marks.items())}
    content = msgspec.json.encode([consumer, source, moves, to])
    commit = f"reset-{hashlib.sha256(content).hexdigest()[:DIGEST_DIGITS]}"
    return tuple(
        SetWatermark(consumer=consumer, source=source, part=one, number=number, position=to, commit=commit)
        for one, number in moves.items()
    )


def _check_position(position: str) -> None:
    try:
        msgspec.json.decode(position)
    except msgspec.DecodeError as error:
        raise WrongUsage(
            f"a position must be JSON, got {_short(position)}: {error}",
            "copy it from: tidegate watermarks show --format json",
        ) from error


def _short(position: str) -> str:
    if not position:
        return "the beginning"
    return position if len(position) <= SHOWN_CHARACTERS else f"{position[:SHOWN_CHARACTERS]}…"
