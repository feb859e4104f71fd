"""Where the columns of a query come from: for each of its columns the columns of its tables. Pure.

    text ─► tree ─► scopes of sqlglot ─► each column of the outermost SELECT, followed to tables

sqlglot's own `lineage` wants the columns of every table, and mostly none of ours are known. So its scopes are
followed here, and what the text does not say is unknown: a name that several tables may have, the `*` of a
table, a PIVOT. A value comes from what it is computed of, not from what only chooses or joins rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope, find_all_in_scope

from tidegate.domain.sql.column import ALL, Column, Columns, Source
from tidegate.domain.sql.query import read_tree

Tables = tuple[tuple[str, tuple[str, ...] | None], ...]
"""The tables of a query by name, each with its columns, or None where these are not known."""


@lru_cache(maxsize=1024)
def columns_of(text: str, tables: Tables) -> Columns | None:
    """Return the columns of a query, each with what it comes from; None where that is not known.

    Args:
        tables: their names are compared without case, and are those of the sources that are returned.
    """
    try:
        tree = read_tree(text)
        for identifier in tree.find_all(exp.Identifier):
            identifier.meta["written"] = identifier.name
            identifier.set("this", identifier.name.lower())
        if isinstance(tree, exp.Values):
            return tuple(_of_values(tree))
        scope = build_scope(tree)
        return None if scope is None else _Reader(tables).outputs(scope)
    except Exception:  # noqa: BLE001 -- what sqlglot cannot follow is unknown, and fails no run and no page
        return None


class _Place(NamedTuple):
    """A table, or a query, in the FROM of a query.

    Attributes:
        columns: those of known names, by these in lower case.
        rest: what its columns of unknown names come from; None where it has none.
    """

    columns: dict[str, Column]
    rest: tuple[Source, ...] | None

    def sources(self, name: Any) -> tuple[Source, ...]:
        """Return what a column comes from, if it is one of this place."""
        known = self.columns.get(name.name)
        if known is not None or self.rest is None:
            return known.sources if known is not None else ()
        if len(self.rest) == 1 and self.rest[0].column == ALL:
            return (Source(dataset=self.rest[0].dataset, column=_written(name)),)
        return _not_known(self.rest)

    def all_sources(self) -> Iterator[Source]:
        """Yield what any of its columns comes from."""
        yield from self.rest or ()
        for column in self.columns.values():
            yield from column.sources


class _Reader:
    """Follows the columns of one query from scope to scope."""

    def __init__(self, tables: Tables) -> None:
        self._tables = {name.lower(): (name, columns) for name, columns in tables}
        self._outputs: dict[int, Columns] = {}
        self._begun: set[int] = set()

    def outputs(self, scope: Scope) -> Columns:
        """Return the columns of a query, in its order."""
        if id(scope) not in self._outputs:
            self._begun.add(id(scope))
            self._outputs[id(scope)] = tuple(_renamed(tuple(self._read(scope)), scope.outer_columns))
        return self._outputs[id(scope)]

    def _read(self, scope: Scope) -> Iterator[Column]:
        expression: Any = scope.expression
        if isinstance(expression, exp.SetOperation):
            yield from _side_by_side([self.outputs(part) for part in scope.set_operation_scopes])
        elif isinstance(expression, exp.Values):
            yield from _of_values(expression)
        elif isinstance(expression, exp.UDTF):
            # What a function makes is of all that it is given; a name without an alias is Spark's.
            yield Column(name="", sources=self._computed(expression.this, scope.parent or scope))
        else:
            for index, projection in enumerate(expression.expressions):
                yield from self._projected(projection, scope, expression.expressions[:index])

    def _projected(self, projection: Any, scope: Scope, earlier: Sequence[Any]) -> Iterator[Column]:
        if _is_star(projection):
            yield from self._star(projection, scope)
            return
        several = isinstance(projection, exp.Aliases)
        sources = self._computed(projection, scope, earlier)
        for name in projection.args["expressions"] if several else [_name_of(projection)]:
            yield Column(name=_written(name), sources=sources)

    def _star(self, star: Any, scope: Scope) -> Iterator[Column]:
        options: Any = star.this if isinstance(star, exp.Column) else star
        wanted: str = star.text("table") if isinstance(star, exp.Column) else ""
        if any(options.args.values()):  # EXCEPT and its kin
            yield Column(name=ALL, sources=self._any_of(scope))
            return
        seen: set[str] = set()
        for node in _places(scope.expression):
            join: Any = node.parent if isinstance(node.parent, exp.Join) else None
            if wanted and node.alias_or_name != wanted:
                continue
            place = self._place(node, scope)
            twice: set[str] = set()
            if join is not None and not wanted:
                twice = seen if join.method == "NATURAL" else _using(join)
            yield from (column for name, column in place.columns.items() if name not in twice)
            seen |= place.columns.keys()
            if place.rest is not None:
                yield Column(name=ALL, sources=place.rest)

    def _computed(self, node: Any, scope: Scope, earlier: Sequence[Any] = ()) -> tuple[Source, ...]:
        """Return what a value is computed of."""
        found: list[Source] = []
        for column in find_all_in_scope(node, exp.Column):
            found += self._any_of(scope) if _is_star(column) else self._column(column, scope, earlier)
        inner = {id(each.expression): each for each in scope.subquery_scopes}
        for query in find_all_in_scope(node, *exp.UNWRAPPED_QUERIES):
            columns = self.outputs(inner[id(query)]) if id(query) in inner else ()
            found += chain.from_iterable(column.sources for column in columns)
        return _distinct(found)

    def _column(self, column: exp.Column, scope: Scope, earlier: Sequence[Any]) -> tuple[Source, ...]:
        """Return what `column`, `table.column`, or a field of one of these comes from."""
        parts: list[Any] = [part for part in column.parts if isinstance(part, exp.Identifier)]
        here: Scope | None = scope if len(parts) > 1 else None
        while here is not None:
            for node in _places(here.expression):
                if node.alias_or_name == parts[0].name:
                    return self._place(node, here).sources(parts[1])
            here = here.parent
        return self._unqualified(parts[0], scope, earlier)

    def _unqualified(self, name: Any, scope: Scope, earlier: Sequence[Any]) -> tuple[Source, ...]:
        """Return what a name without a table comes from: the innermost query whose tables may have it."""
        alias = next((p for p in earlier if isinstance(p, exp.Alias) and p.alias == name.name), None)
        here: Scope | None = scope
        while here is not None:
            nodes = [(node, self._place(node, here)) for node in _places(here.expression)]
            using = [node.parent is not None and name.name in _using(node.parent) for node, _ in nodes]
            if any(using):
                left = self._one_of(name, [place for _, place in nodes[: using.index(True)]]) or ()
                right = (nodes[at][1].sources(name) for at, joined in enumerate(using) if joined)
                return _distinct((*left, *chain.from_iterable(right)))
            found = self._one_of(name, [place for _, place in nodes])
            if alias is not None and here is scope:
                # A later column may name an earlier one, unless a table has a column of the name.
                named = self._computed(alias, scope, earlier[: earlier.index(alias)])
                known = any(name.name in place.columns for _, place in nodes)
                if found is None or set(found) <= set(named):
                    return named
                return found if known else _not_known((*found, *named))
            if found is not None:
                return found
            here = here.parent
        return self._any_of(scope)

    def _one_of(self, name: Any, places: Sequence[_Place]) -> tuple[Source, ...] | None:
        """Return what a name comes from that one of the places has; None if none of them can have it."""
        known = [place for place in places if name.name in place.columns]
        perhaps = known or [place for place in places if place.rest is not None]
        if len(perhaps) < 2:
            return perhaps[0].sources(name) if perhaps else None
        return _not_known(chain.from_iterable(place.sources(name) for place in perhaps))

    def _any_of(self, scope: Scope) -> tuple[Source, ...]:
        """Return the tables of a query, as what something comes from that is not known."""
        places = (self._place(node, scope) for node in _places(scope.expression))
        return _not_known(chain.from_iterable(place.all_sources() for place in places))

    def _place(self, node: Any, scope: Scope) -> _Place:
        source = scope.sources.get(node.alias_or_name)
        if isinstance(source, exp.Table):
            place = self._table(source)
        elif source is None:  # tables in brackets
            everything = (Source(dataset=name, column=None) for name, _ in self._tables.values())
            return _Place({}, tuple(everything))
        elif id(source) in self._begun - self._outputs.keys():  # it is being read: it does not name itself
            return _Place({}, None)
        else:
            columns = self.outputs(source)
            rest = [column for column in columns if column.name in ("", ALL)]
            named = {column.name.lower(): column for column in columns if column not in rest}
            unnamed = _distinct(chain.from_iterable(column.sources for column in rest))
            place = _Place(named, unnamed if rest else None)
        if node.args.get("pivots"):
            return _Place({}, _not_known(place.all_sources()))
        return place

    def _table(self, table: exp.Table) -> _Place:
        dataset, known = self._tables.get(table.name, ("", None))
        sources = (Source(dataset=dataset, column=ALL),) if dataset else ()
        columns: Columns = (Column(name=ALL if dataset else "", sources=sources),)
        if known is not None:
            own = ((each, Source(dataset=dataset, column=each)) for each in known)
            columns = tuple(Column(name=name, sources=(source,)) for name, source in own)
        named = _renamed(columns, table.alias_column_names)
        is_whole = known is not None or bool(table.alias_column_names)
        return _Place({each.name.lower(): each for each in named if is_whole}, None if is_whole else sources)


def _places(expression: Any) -> list[Any]:
    """Return what is in the FROM of a query and has columns there, in its order."""
    if not isinstance(expression, exp.Select):
        return []
    first: Any = expression.args.get("from_")
    joins: list[Any] = expression.args.get("joins") or []
    joined = [join.this for join in joins if not join.is_semi_or_anti_join]
    return [*([first.this] if first is not None else []), *joined, *(expression.args.get("laterals") or ())]


def _using(join: Any) -> set[str]:
    return {each.name for each in join.args.get("using") or ()}


def _is_star(node: Any) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def _name_of(projection: Any) -> Any:
    """Return the name of a column as it is written; "" where Spark makes one."""
    if isinstance(projection, exp.Alias):
        return projection.args["alias"]
    if isinstance(projection, exp.Column | exp.Dot):
        last = projection.this if isinstance(projection, exp.Column) else projection.expression
        return last if isinstance(last, exp.Identifier) else ""
    return ""


def _written(name: Any) -> str:
    return name if isinstance(name, str) else str(name.meta.get("written", name.name))


def _of_values(values: exp.Values) -> Iterator[Column]:
    first: Any = values.expressions[0]
    count = len(first.expressions) if isinstance(first, exp.Tuple) else 1
    names = values.alias_column_names or [f"col{number}" for number in range(1, count + 1)]
    yield from (Column(name=name, sources=()) for name in names)


def _renamed(columns: Columns, names: Sequence[str]) -> Columns:
    """Return columns under the names of an alias such as `t(a, b)`."""
    if not names:
        return columns
    if len(columns) == len(names) and not any(column.name == ALL for column in columns):
        return tuple(Column(name=n, sources=c.sources) for n, c in zip(names, columns, strict=True))
    sources = _distinct(chain.from_iterable(column.sources for column in columns))
    is_made = [column.name for column in columns] == [""]
    return tuple(Column(name=n, sources=sources if is_made else _not_known(sources)) for n in names)


def _side_by_side(parts: Sequence[Columns]) -> Iterator[Column]:
    """Yield the columns of a UNION or its kin, which are those of its parts by their places."""
    same = len({len(columns) for columns in parts}) == 1
    if same and not any(column.name == ALL for columns in parts for column in columns):
        for columns in zip(*parts, strict=True):
            yield Column(name=columns[0].name, sources=_distinct(s for c in columns for s in c.sources))
        return
    sources = chain.from_iterable(column.sources for columns in parts for column in columns)
    yield Column(name=ALL, sources=_not_known(sources))


def _not_known(sources: Iterable[Source]) -> tuple[Source, ...]:
    return _distinct(Source(dataset=source.dataset, column=None) for source in sources)


def _distinct(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the sources once each; names of columns are compared without case."""
    return tuple(
        {(each.dataset, (each.column or "").lower()): each for each in reversed([*sources])}.values()
    )[::-1]
