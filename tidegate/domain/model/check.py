"""The checks of a dataset: what the rows of a run promise before any reader sees them.

A new kind is a struct here, a key of `check` in the schema, a line in `compiler.builders.checks`, and its
judge in `spark_jobs.checks`. A check reads the columns of `columns_read` in the rows that the run has staged.
"""

import re
from fractions import Fraction
from typing import Annotated, Any

from msgspec import Meta

from tidegate.domain.commits import Severity
from tidegate.domain.model.shared import At
from tidegate.domain.value import Value
from tidegate.domain.wording import listed

Scalar = bool | int | float | str

MAX_NAME_CHARACTERS = 100
"""The longest name of a check; a name that is made of many columns is cut."""


def check_name(*parts: str) -> str:
    """Return a name of what a name may have, for a check that was given none: its kind and columns."""
    return re.sub(r"[^a-z0-9_]", "_", "_".join(parts).lower())[:MAX_NAME_CHARACTERS]


def default_name(kind: str, written: Any) -> str:
    """Return the name of a check that was given none.

    Args:
        written: what its YAML has under its kind.
    """
    columns = written.get("columns", ()) if kind == "reference" else written
    return check_name(kind, *(map(str, columns) if kind not in WITHOUT_COLUMNS else ()))


class CheckBase(Value, kw_only=True, tag_field="kind"):
    """The base of every kind of check.

    Attributes:
        name: unique among the checks of its dataset.
        severity: whether a failure withholds the publish of all outputs of the run, or is only reported.
    """

    name: str
    severity: Severity = "block"
    at: At | None = None

    @property
    def kind(self) -> str:
        """Its key in the YAML, which is also its tag in the store."""
        return str(self.__struct_config__.tag)

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns that the rows need; none for a check that only counts rows."""
        return ()

    def rule(self) -> str:
        """Say in a few words what has to hold."""
        raise NotImplementedError

    def broken(self) -> str:
        """Say in a few words what a bad row is like."""
        raise NotImplementedError


class RowsCheck(CheckBase, kw_only=True, tag="rows"):
    """Each partition that the run writes has from `min` to `max` rows; None for no bound."""

    min: int | None = None
    max: int | None = None

    def rule(self) -> str:
        return f"{_bounds(self.min, self.max)} {'row' if (self.max or self.min) == 1 else 'rows'}"


class NotNullCheck(CheckBase, kw_only=True, tag="not_null"):
    """No row has null in one of the columns. NaN is a value."""

    columns: tuple[str, ...]

    @property
    def columns_read(self) -> tuple[str, ...]:
        return self.columns

    def rule(self) -> str:
        return f"{listed(self.columns, 'and')} never null"

    def broken(self) -> str:
        return f"{listed(self.columns)} is null"


class UniqueCheck(CheckBase, kw_only=True, tag="unique"):
    """No two rows have equal values in all of the columns. Rows with null in one of them are not compared."""

    columns: tuple[str, ...]

    @property
    def columns_read(self) -> tuple[str, ...]:
        return self.columns

    def rule(self) -> str:
        return f"{listed(self.columns, 'and')} unique"

    def broken(self) -> str:
        return f"{listed(self.columns, 'and')} not unique"


class ValuesCheck(CheckBase, kw_only=True, tag="values"):
    """Each column has only the values that it lists, or null."""

    values: dict[str, tuple[Scalar, ...]]

    @property
    def columns_read(self) -> tuple[str, ...]:
        return tuple(self.values)

    def rule(self) -> str:
        return "; ".join(f"{name} is one of {_some(values)}" for name, values in self.values.items())

    def broken(self) -> str:
        return " or ".join(f"{name} is not one of {_some(values)}" for name, values in self.values.items())


class Bounds(Value, kw_only=True):
    """The bounds of a value, both inclusive; None for no bound."""

    min: int | float | str | None = None
    max: int | float | str | None = None


class RangeCheck(CheckBase, kw_only=True, tag="range"):
    """The values of each column are within its bounds, or null. NaN is outside of all bounds."""

    range: dict[str, Bounds]

    @property
    def columns_read(self) -> tuple[str, ...]:
        return tuple(self.range)

    def rule(self) -> str:
        return "; ".join(f"{name} is {_bounds(of.min, of.max)}" for name, of in self.range.items())

    def broken(self) -> str:
        return " or ".join(f"{name} is not {_bounds(of.min, of.max)}" for name, of in self.range.items())


class MatchesCheck(CheckBase, kw_only=True, tag="matches"):
    """The whole text of each column matches its pattern, a regular expression of Java, or is null."""

    matches: dict[str, str]

    @property
    def columns_read(self) -> tuple[str, ...]:
        return tuple(self.matches)

    def rule(self) -> str:
        return "; ".join(f"{name} matches {pattern}" for name, pattern in self.matches.items())

    def broken(self) -> str:
        return " or ".join(f"{name} does not match {pattern}" for name, pattern in self.matches.items())


LEAST_KNOWN = 3
"""With fewer partitions, or publishes, before it a number of rows is not compared."""


class ChangeCheck(CheckBase, kw_only=True, tag="change"):
    """Each partition has about as many rows as those before it.

    Attributes:
        rows: how far it may be from their median, inclusive: "50%" of it.
        over: of how many periods before it the median is; without periods of how many publishes.
    """

    rows: Annotated[str, Meta(pattern=r"^[0-9]+(\.[0-9]+)?%$")]
    over: Annotated[int, Meta(ge=LEAST_KNOWN)] = 7

    @property
    def share(self) -> Fraction:
        """How far from the median a number of rows may be, as a part of it."""
        return Fraction(self.rows.removesuffix("%")) / 100

    def rule(self) -> str:
        return f"at most {self.rows} from the median of the {self.over} before"


class ReferenceCheck(CheckBase, kw_only=True, tag="reference"):
    """The values of the columns are together in a row of another dataset, or one of them is null.

    Attributes:
        dataset: as the app calls it: "carriers", or "feeds/carriers" of another app.
        to: its columns, one for each of `columns`; empty where they have the same names.
    """

    columns: tuple[str, ...]
    dataset: str
    to: tuple[str, ...] = ()

    @property
    def columns_read(self) -> tuple[str, ...]:
        return self.columns

    @property
    def target(self) -> tuple[str, ...]:
        """The columns of the other dataset."""
        return self.to or self.columns

    def rule(self) -> str:
        return f"{listed(self.columns, 'and')} in {self.dataset}"

    def broken(self) -> str:
        return f"{listed(self.columns, 'and')} not in {self.dataset}"


class SqlCheck(CheckBase, kw_only=True, tag="sql"):
    """A query of Spark SQL returns no row: each one that it returns is bad."""

    sql: str

    def rule(self) -> str:
        return "its query returns no row"

    def broken(self) -> str:
        return "returned by its query"


class RunCheck(CheckBase, kw_only=True, tag="run"):
    """A function, by its dotted path, returns no row: it returns the bad ones, or None."""

    run: str

    def rule(self) -> str:
        return f"{self.run} returns no row"

    def broken(self) -> str:
        return f"returned by {self.run}"


Check = (
    RowsCheck
    | NotNullCheck
    | UniqueCheck
    | ValuesCheck
    | RangeCheck
    | MatchesCheck
    | ChangeCheck
    | ReferenceCheck
    | SqlCheck
    | RunCheck
)

WITHOUT_COLUMNS = ("rows", "change", "sql", "run")
"""Kinds whose default name is the kind alone."""

PUBLISHED = "__published"
"""Ends the name under which a query has the rows of its own dataset that readers see now."""

LISTED_VALUES = 10
"""The most values that a rule lists."""


def _bounds(least: object, most: object) -> str:
    if least is None:
        return f"at most {most}"
    return f"at least {least}" if most is None else f"from {least} to {most}"


def _some(values: tuple[Scalar, ...]) -> str:
    more = ", …" if len(values) > LISTED_VALUES else ""
    return ", ".join(str(value) for value in values[:LISTED_VALUES]) + more
