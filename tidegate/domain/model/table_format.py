"""The registry of table formats, one entry each, with the facts that the language asks of a format.

How a format reads and writes is in its folder of `spark_jobs`, for which `publication/formats.py` has a line;
how it is maintained is in another one, with a line in `maintenance/formats.py`. Here is what the text of an
app depends on. The schema of the language has the same names.
"""

from typing import TYPE_CHECKING, Literal

from tidegate.domain.value import Value
from tidegate.domain.wording import with_article


class FormatFacts(Value, kw_only=True):
    """What the language and its messages ask of a table format.

    Attributes:
        title: its name in prose.
        in_catalog: whether a catalog chooses the path of its tables, so that a dataset names none.
        shows_new_rows: whether the rows that programs have appended to a table can be read by themselves.
    """

    title: str
    in_catalog: bool = False
    shows_new_rows: bool = False

    def a_table(self) -> str:
        """Return "a … table", with the article that fits."""
        return with_article(f"{self.title} table")


LANDED = "parquet"
"""The format of landed files, and of a dataset for which nothing says another one."""

FORMATS = {
    "parquet": FormatFacts(title="Parquet"),
    "iceberg": FormatFacts(title="Iceberg", in_catalog=True, shows_new_rows=True),
}

if TYPE_CHECKING:
    DatasetFormat = str
else:
    DatasetFormat = Literal[tuple(FORMATS)]
"""The name of a format; what is decoded from a store or from settings must be one of these."""


def format_facts(name: DatasetFormat) -> FormatFacts:
    """Return the facts of a format; of a name that is not known, those of landed files."""
    return FORMATS.get(name, FORMATS[LANDED])
