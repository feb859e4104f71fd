"""Where the columns of datasets come from, by the queries of the SQL programs that write them. Pure.

An earlier output of a program is a table of a later query, and is shown as that: its own columns come from
the inputs. Of what Python and existing jobs write only the datasets are known that their programs read, and
the names of the columns that a dataset declares.
`columns` follows a query by sqlglot, which is imported only where there is one.
"""

from collections.abc import Iterator, Mapping

from tidegate.domain.model import App, Program
from tidegate.domain.part_name import whole_name
from tidegate.domain.sql.column import ALL, Column, Columns, Source, Step, Writer

DEPTH_MAX = 50
"""So many queries are asked behind each other for the columns of a table; what is behind them is unknown."""


class Lineage:
    """The lineage of the datasets of some apps."""

    def __init__(self, apps: Mapping[str, App]) -> None:
        self._writers: dict[str, list[tuple[App, Program]]] = {}
        self._found: dict[str, tuple[Writer, ...]] = {}
        self._declared: dict[str, tuple[str, ...]] = {}
        self.datasets = {f"{app.name}/{name}" for app in apps.values() for name in app.datasets}
        for app in apps.values():
            for _, program in sorted(app.programs.items()):
                for output in program.writes:
                    self._writers.setdefault(whole_name(app.name, output), []).append((app, program))
                    dataset = app.datasets.get(output)
                    # Only what programs write is known to have no other columns.
                    if dataset is not None and dataset.columns and dataset.on_new_column == "refuse":
                        names = tuple(column.name for column in dataset.all_columns())
                        self._declared[whole_name(app.name, output)] = names

    def writers(self, dataset: str) -> tuple[Writer, ...]:
        """Return the programs that write a dataset ("app/dataset"), by name."""
        if dataset not in self._found:
            self._found[dataset] = tuple(_Asked(self._writers, self._declared).writers(dataset))
        return self._found[dataset]

    def upstream(self, dataset: str, column: str = "") -> tuple[Step, ...]:
        """Return a column, or those of a dataset, and all that they come from, the nearest first.

        Args:
            column: "" for the dataset: its columns, and itself as far as they are not known.
        """
        waiting: list[tuple[str, str | None]] = [
            (dataset, each) for each in ([column] if column else self.columns(dataset))
        ]
        found: dict[tuple[str, str | None], Step] = {}
        for name, each in waiting:  # it grows
            key = (name, each if each is None else each.lower())
            if key not in found:
                found[key] = self._step(name, each)
                waiting += ((source.dataset, source.column) for source in found[key].sources)
        return tuple(found.values())

    def columns(self, dataset: str) -> list[str | None]:
        """Return the columns of a dataset, once each; None for those whose names are not known."""
        writers = self.writers(dataset)
        names = {column.name.lower(): column.name for each in writers for column in each.columns or ()}
        is_whole = bool(writers) and all(writer.columns is not None for writer in writers)
        found: list[str | None] = [name for name in names.values() if name]
        return found if is_whole and "" not in names else [*found, None]

    def _step(self, dataset: str, column: str | None) -> Step:
        writers = self.writers(dataset)
        found: list[Source] = []
        for writer in writers:
            if writer.columns is None:
                found += (Source(dataset=each, column=None) for each in writer.reads)
            elif column is None:
                found += (Source(dataset=each, column=None) for each in writer.datasets())
            elif column == ALL:
                found += (source for each in writer.columns for source in each.sources)
            else:
                known = writer.column(column)
                found += () if known is None else known.sources
                column = column if known is None else known.name
        return Step(
            dataset=dataset,
            column=column,
            programs=tuple(writer.program for writer in writers),
            known=all(writer.columns is not None for writer in writers),
            sources=tuple(dict.fromkeys(found)),
        )


class _Asked:
    """One question: what the columns of tables are is found once for it."""

    def __init__(
        self, writers: Mapping[str, list[tuple[App, Program]]], declared: Mapping[str, tuple[str, ...]]
    ) -> None:
        self._writers = writers
        self._known: dict[str, tuple[str, ...] | None] = {**declared}
        self._depth = 0

    def writers(self, dataset: str) -> Iterator[Writer]:
        for app, program in self._writers.get(dataset, ()):
            query = next((q for q in program.sql if whole_name(app.name, q.output) == dataset), None)
            yield Writer(
                program=f"{app.name}/{program.name}",
                file="" if query is None else query.file,
                reads=tuple(whole_name(app.name, name) for name in program.reads),
                columns=None if query is None else self._columns(app, program, query.output),
            )

    def _columns(self, app: App, program: Program, output: str) -> Columns | None:
        from tidegate.domain.sql.columns import columns_of

        earlier: list[str] = []
        for query in program.sql:
            if query.output == output:
                names = (*program.reads, *earlier)
                tables = tuple((name, self._names(whole_name(app.name, name))) for name in names)
                found = columns_of(query.text, tables)
                return None if found is None else tuple(_in_whole(each, app) for each in found)
            earlier.append(query.output)
        return None

    def _names(self, dataset: str) -> tuple[str, ...] | None:
        """Return the columns of a dataset that declares them, or that one query makes alone; else None."""
        if dataset not in self._known:
            self._known[dataset] = None  # a program may read what it writes
            self._depth += 1
            if self._depth <= DEPTH_MAX:
                self._known[dataset] = _names_of(list(self.writers(dataset)))
            self._depth -= 1
        return self._known[dataset]


def _names_of(writers: list[Writer]) -> tuple[str, ...] | None:
    columns = writers[0].columns if len(writers) == 1 else None
    names = tuple(each.name for each in columns or ())
    return None if columns is None or {"", ALL} & set(names) else names


def _in_whole(column: Column, app: App) -> Column:
    sources = tuple(Source(dataset=whole_name(app.name, s.dataset), column=s.column) for s in column.sources)
    return Column(name=column.name, sources=sources)
