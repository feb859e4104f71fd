"""A column of a dataset, what it comes from, and the program that writes it."""

from tidegate.domain.value import Value

ALL = "*"
"""In place of the name of a column: each of the others, under its own name."""


class Source(Value, kw_only=True):
    """What a column comes from.

    Attributes:
        dataset: "app/dataset".
        column: `*` for all columns under their names; None for a column of it that is not known.
    """

    dataset: str
    column: str | None


class Column(Value, kw_only=True):
    """A column of a dataset, as the query that makes it writes its name.

    Attributes:
        name: `*` for all columns of its sources; "" where Spark makes a name of the expression.
        sources: what its value is computed of; empty for what is in the text, or a parameter.
    """

    name: str
    sources: tuple[Source, ...]


Columns = tuple[Column, ...]


class Writer(Value, kw_only=True):
    """A program that writes a dataset.

    Attributes:
        program: "app/program".
        file: of the query, for an SQL program.
        reads: the datasets that it reads, "app/dataset".
        columns: in the order of the query; None where they are not known, as of a Python program.
    """

    program: str
    file: str
    reads: tuple[str, ...]
    columns: Columns | None

    def datasets(self) -> tuple[str, ...]:
        """Return the datasets that its columns come from."""
        return tuple(dict.fromkeys(s.dataset for each in self.columns or () for s in each.sources))

    def column(self, name: str) -> Column | None:
        """Return the column of a name, in any case; None if there is none."""
        for each in self.columns or ():
            if each.name.lower() == name.lower() and each.name not in ("", ALL):
                return each
        sources = tuple(source for each in self.columns or () if each.name == ALL for source in each.sources)
        if not sources:
            return None
        if len(sources) == 1 and sources[0].column == ALL:
            return Column(name=name, sources=(Source(dataset=sources[0].dataset, column=name),))
        datasets = dict.fromkeys(source.dataset for source in sources)
        return Column(name=name, sources=tuple(Source(dataset=each, column=None) for each in datasets))


class Step(Value, kw_only=True):
    """A column on the way to what it comes from.

    Attributes:
        column: as in `Source`.
        programs: those that write the dataset, "app/program".
        known: whether the columns of each of them are known.
        sources: what it comes from; the datasets that a program reads, where its columns are not known.
    """

    dataset: str
    column: str | None
    programs: tuple[str, ...]
    known: bool
    sources: tuple[Source, ...]
