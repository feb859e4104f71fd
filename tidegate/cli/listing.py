"""Lists in a terminal: the command of a listing, with its filters as options, as a table or as JSON."""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from msgspec import UNSET

from tidegate.cli.printing import NUMBER_MAX, Format, FormatOption, instant, print_json, print_table
from tidegate.listings.listing import EVERYTHING, Column, Filter, Listing

if TYPE_CHECKING:
    from tidegate.listings.read import Source
    from tidegate.scheduler.store.engine_reader import EngineReader

NAMED = 5
"""So many values of a list are in a cell."""

NOTHING = {"instant": "-", "measure": "-", "age": "unknown"}
"""What a column that is always shown has for no value."""

EMPTY = (None, UNSET, "", ())
"""Values for which a column of priority 2 is not shown."""

KEPT = inspect.Parameter.KEYWORD_ONLY

Given = dict[str, Any]


class Short(NamedTuple):
    """A short form of filters: an option without a value.

    Attributes:
        given: the filters that it replaces.
    """

    help: str
    given: Given


class Part(NamedTuple):
    """One table of what a command prints.

    Attributes:
        heading: before it, if there are several.
    """

    heading: str
    given: Given


class Parts(NamedTuple):
    """What a command lists, part by part; in JSON one after the other.

    Attributes:
        nothing: what it says if nothing is listed.
        below: says something of all that is listed; None for nothing.
        total: counts what there is, for a line on what is cut; None where that is not known.
    """

    parts: Sequence[Part]
    nothing: str
    below: Callable[[Sequence[Any]], str] | None = None
    total: "Callable[[EngineReader], int] | None" = None


def list_command(
    listing: Listing,
    parts: Callable[[Given, Collection[str]], Parts],
    *,
    limit: int,
    short: Mapping[str, Short] | None = None,
    help: str = "",
    argument: str = "",
    json_limit: int | None = None,
    oldest_first: bool = False,
    missing_is_empty: bool = False,
) -> Callable[..., None]:
    """Return the command that prints a list.

    Args:
        parts: which tables show what was asked for, of the filters and the short forms that were given.
        limit: the most items, if the command line does not say.
        short: the short forms, by option.
        help: what it lists without filters; "" for what the list is.
        argument: the filter that may also be written without its option; "" for none.
        json_limit: the same as `limit` in JSON; None for `limit` there too.
        oldest_first: print the items in the opposite order: the newest ones, the last at the end.
        missing_is_empty: without a store nothing is listed.
    """
    short = short or {}

    def command(**options: Any) -> None:
        from tidegate.cli.opened_store import opened_store
        from tidegate.listings.read import Source
        from tidegate.project.settings.settings import load_settings
        from tidegate.scheduler.store.error import StoreMissing

        settings, format = load_settings(), options["format"]
        most = options["limit"] or (json_limit if format is Format.JSON else None) or limit
        given = {each.name: options[_word(each.name)] for each in listing.filters}
        if argument:
            given[argument] = given[argument] or options["argument"]
        given = {name: value for name, value in given.items() if value not in (None, "", [])}
        chosen = [name for name in short if options[_word(name)]]
        for name in chosen:
            given |= short[name].given
        asked = parts(given, chosen)
        try:
            with opened_store(settings) as store, store.reading() as reader:
                source = Source(store=store, reader=reader, settings=settings, now=datetime.now(UTC))
                _print(listing, source, asked, most, format, oldest_first=oldest_first)
        except StoreMissing:
            if not missing_is_empty:
                raise
            if format is Format.JSON:
                print_json([])
            else:
                typer.echo(asked.nothing)

    parameters = [*_parameters(listing, short, argument), *_paging(limit, json_limit)]
    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__doc__ = help or listing.help
    return command


def _parameters(listing: Listing, short: Mapping[str, Short], argument: str) -> Iterator[inspect.Parameter]:
    """Yield the filters of a list, the one that is an argument too, and the short forms."""
    for each in listing.filters:
        yield _option(each)
        if each.name == argument:
            yield _option(each, positional=True)
    for name, form in short.items():
        yield _parameter(_word(name), False, bool, typer.Option(f"--{name}", help=form.help))


def _paging(limit: int, json_limit: int | None) -> tuple[inspect.Parameter, inspect.Parameter]:
    in_json = {None: "", NUMBER_MAX: "; in JSON all"}.get(json_limit, f"; in JSON {json_limit}")
    most = "all" if limit == NUMBER_MAX else limit
    said = typer.Option(min=1, max=NUMBER_MAX, help=f"The most lines, by default {most}{in_json}.")
    format = inspect.Parameter("format", KEPT, default=Format.TEXT, annotation=FormatOption)
    return _parameter("limit", None, int | None, said), format


def _parameter(name: str, default: Any, kind: Any, said: Any) -> inspect.Parameter:
    return inspect.Parameter(name, KEPT, default=default, annotation=Annotated[kind, said])


def _print(
    listing: Listing, source: "Source", asked: Parts, most: int, format: Format, *, oldest_first: bool
) -> None:
    from tidegate.listings.read import read
    from tidegate.project.local_time import use_zone_of_apps

    found = [(part, read(listing, source, EVERYTHING, part.given, limit=most)) for part in asked.parts]
    shown = [(part, rows, rows.items[::-1] if oldest_first else rows.items) for part, rows in found]
    cut = ""
    if any(rows.next is not None for _, rows, _ in shown):
        of_all = "" if asked.total is None else f" of {asked.total(source.reader):,}"
        cut = f"The {'newest' if oldest_first else 'first'} {most:,}{of_all}; --limit shows more."
    if format is Format.JSON:
        print_json([item for _, _, items in shown for item in items])
        if cut:
            typer.echo(cut, err=True)
        return
    use_zone_of_apps(source.reader, {app for _, rows, _ in shown for app in rows.apps})
    if not shown[0][2]:
        typer.echo(asked.nothing)
    for number, (part, rows, items) in enumerate(shown):
        if items:
            if part.heading:
                typer.echo(f"\n{part.heading}" if number else part.heading)
            print_items(listing, items)
        if asked.below is not None and (below := asked.below(items)):
            typer.echo(f"\n{below}")
        if rows.next is not None:
            typer.echo(f"\n{cut}")


def print_items(listing: Listing, items: Sequence[Any]) -> None:
    """Print items as a table of the columns that have something to show."""
    columns = [
        column
        for column in listing.columns
        if column.priority == 1
        or (column.priority == 2 and any(getattr(item, column.name) not in EMPTY for item in items))
    ]
    print_table(
        [column.title for column in columns],
        [[_cell(column, item) for column in columns] for item in items],
        right=[column.title for column in columns if column.shown_as in ("number", "measure")],
    )


def _cell(column: Column, item: Any) -> str:
    value: Any = getattr(item, column.name)
    if value is None or value is UNSET:
        return NOTHING.get(column.shown_as, "") if column.priority == 1 else ""
    match column.shown_as:
        case "instant":
            return instant(value, getattr(item, "zone", getattr(item, "timezone", "")))
        case "status":
            return str(value).replace("_", " ")
        case "number":
            return f"{value:,}"
        case "flag":
            return "yes" if value else "no"
        case "measure":
            from tidegate.scheduler.explain.operations.measure_text import value_text

            return value_text(column.name, value)
        case "age":
            from tidegate.scheduler.explain.operations.measure_text import age_text

            return f"{age_text(timedelta(seconds=value))} ago"
        case "counts":
            parts = [f"{number:,} {status.replace('_', ' ')}" for status, number in value.items() if number]
            return ", ".join(parts) or "none left"
        case "list":
            return ", ".join(value[:NAMED]) + (", …" if len(value) > NAMED else "")
        case _:
            return str(value)


def _option(of: Filter, *, positional: bool = False) -> inspect.Parameter:
    """Return a filter as an option, or as the argument; a shell completes it by its kind."""

    def complete(incomplete: str) -> list[str]:
        from tidegate.cli.names import complete_filter

        return complete_filter(of, incomplete)

    kinds: dict[str, Any] = {"flag": bool | None, "number": int | None, "state": list[str] | None}
    metavars: dict[str, dict[str, Any]] = {"flag": {}, "number": {"min": 1, "max": NUMBER_MAX}}
    said = metavars.get(of.kind, {"metavar": of.kind.upper(), "autocompletion": complete})
    name = f"--{of.name}/--no-{of.name}" if of.kind == "flag" else f"--{of.name}"
    shown = typer.Argument(help=of.help, **said) if positional else typer.Option(name, help=of.help, **said)
    return _parameter(
        "argument" if positional else _word(of.name), None, kinds.get(of.kind, str | None), shown
    )


def _word(name: str) -> str:
    """Return the name of an option as one of Python that is none of its words."""
    return f"{name.replace('-', '_')}_"
