"""Lists in a terminal: the command of a listing, with its filters as options, as a table or for tools."""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tidegate.cli.item_table import print_items
from tidegate.cli.printing import NUMBER_MAX, Format, ListFormatOption, print_for_tools
from tidegate.domain.wording import plural
from tidegate.listings.listing import EVERYTHING, Filter, Listing

if TYPE_CHECKING:
    from tidegate.listings.read import Source
    from tidegate.scheduler.store.engine_reader import EngineReader

COUNTED = 1000
"""Of what is listed only if it is asked for, so many are counted."""

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


class Aside(NamedTuple):
    """What is not in a table unless it is asked for, but counted below it.

    Attributes:
        filter: the flag by which it is asked for.
        noun: what one of them is; `of` follows the noun.
    """

    filter: str
    noun: str
    of: str


class Parts(NamedTuple):
    """What a command lists, part by part; for tools one after the other.

    Attributes:
        nothing: what it says if nothing is listed.
        below: says something of all that is listed; None for nothing.
        total: counts what there is, for a line on what is cut; None where that is not known.
        aside: what is for tools, but not in a table; None for nothing.
    """

    parts: Sequence[Part]
    nothing: str
    below: Callable[[Sequence[Any]], str] | None = None
    total: "Callable[[EngineReader], int] | None" = None
    aside: Aside | None = None


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
        json_limit: the same as `limit` for tools; None for `limit` there too.
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
        most = options["limit"] or (None if format is Format.TEXT else json_limit) or limit
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
                shown = Shown(format, most, oldest_first=oldest_first, wide=options["wide"])
                _print(listing, source, asked, shown)
        except StoreMissing:
            if not missing_is_empty:
                raise
            if format is Format.TEXT:
                typer.echo(asked.nothing)
            else:
                print_for_tools([], format, listing.item.__struct_encode_fields__)

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


def _paging(limit: int, json_limit: int | None) -> Iterator[inspect.Parameter]:
    for_tools = {None: "", NUMBER_MAX: "; for tools all"}.get(json_limit, f"; for tools {json_limit}")
    most = "all" if limit == NUMBER_MAX else limit
    said = typer.Option(min=1, max=NUMBER_MAX, help=f"The most lines, by default {most}{for_tools}.")
    yield _parameter("limit", None, int | None, said)
    wide = typer.Option("--wide", help="All columns, whole ids and texts: lines as long as they are.")
    yield _parameter("wide", False, bool, wide)
    yield inspect.Parameter("format", KEPT, default=Format.TEXT, annotation=ListFormatOption)


def _parameter(name: str, default: Any, kind: Any, said: Any) -> inspect.Parameter:
    return inspect.Parameter(name, KEPT, default=default, annotation=Annotated[kind, said])


class Shown(NamedTuple):
    """How a list is printed.

    Attributes:
        most: so many items, those that come first.
    """

    format: Format
    most: int
    oldest_first: bool
    wide: bool


def _print(listing: Listing, source: "Source", asked: Parts, how: Shown) -> None:
    from tidegate.listings.read import read
    from tidegate.project.local_time import use_zone_of_apps

    aside = asked.aside if how.format is Format.TEXT else None
    without = {} if aside is None else {aside.filter: False}
    found = [
        (part, read(listing, source, EVERYTHING, {**without, **part.given}, limit=how.most))
        for part in asked.parts
    ]
    shown = [(part, rows, rows.items[::-1] if how.oldest_first else rows.items) for part, rows in found]
    cut = ""
    if any(rows.next is not None for _, rows, _ in shown):
        of_all = "" if asked.total is None else f" of {asked.total(source.reader):,}"
        cut = f"The {'newest' if how.oldest_first else 'first'} {how.most:,}{of_all}; --limit shows more."
    if how.format is not Format.TEXT:
        print_for_tools(
            [item for _, _, items in shown for item in items],
            how.format,
            listing.item.__struct_encode_fields__,
        )
        if cut:
            typer.echo(cut, err=True)
        return
    use_zone_of_apps(source.reader, {app for _, rows, _ in shown for app in rows.apps})
    if not shown[0][2]:
        typer.echo(asked.nothing)
    left: set[str] = set()
    for number, (part, rows, items) in enumerate(shown):
        if items:
            if part.heading:
                typer.echo(f"\n{part.heading}" if number else part.heading)
            left |= set(print_items(listing, items, source.reader, source.now, wide=how.wide))
        if asked.below is not None and (below := asked.below(items)):
            typer.echo(f"\n{below}")
        if rows.next is not None:
            typer.echo(f"\n{cut}")
    if left:
        typer.echo(f"\nThere is no room for {', '.join(sorted(left))}: --wide")
    if aside is not None and (line := _counted(listing, source, asked.parts, aside)):
        typer.echo(f"\n{line}")


def _counted(listing: Listing, source: "Source", parts: Sequence[Part], aside: Aside) -> str:
    """Return the line on what is listed only if it is asked for; "" for nothing."""
    from tidegate.listings.read import read

    only = {aside.filter: True}
    each = [read(listing, source, EVERYTHING, {**part.given, **only}, limit=COUNTED) for part in parts]
    number, more = sum(len(rows.items) for rows in each), any(rows.next is not None for rows in each)
    what = f"{'more than ' * more}{plural(number, aside.noun)} {aside.of}"
    return f"{what}: --{aside.filter}" if number else ""


def _option(of: Filter, *, positional: bool = False) -> inspect.Parameter:
    """Return a filter as an option, or as the argument; a shell completes it by its kind."""

    def complete(incomplete: str) -> list[str]:
        from tidegate.cli.names import complete_filter

        return complete_filter(of, incomplete)

    kinds: dict[str, Any] = {"flag": bool | None, "number": int | None, "state": list[str] | None}
    metavars: dict[str, dict[str, Any]] = {"flag": {}, "number": {"min": 1, "max": NUMBER_MAX}}
    said = metavars.get(of.kind, {"metavar": of.kind.upper(), "autocompletion": complete})
    option = of.name.replace("_", "-")
    name = f"--{option}/--no-{option}" if of.kind == "flag" else f"--{option}"
    shown = typer.Argument(help=of.help, **said) if positional else typer.Option(name, help=of.help, **said)
    return _parameter(
        "argument" if positional else _word(of.name), None, kinds.get(of.kind, str | None), shown
    )


def _word(name: str) -> str:
    """Return the name of an option as one of Python that is none of its words."""
    return f"{name.replace('-', '_')}_"
