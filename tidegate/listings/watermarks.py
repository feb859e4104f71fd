"""*Watermarks*: who reads what incrementally, and how far."""

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.listings.listing import Column, Filter, Listing


class IncrementalRead(Value, kw_only=True):
    """A program that reads a dataset incrementally.

    Attributes:
        consumer: "app/program".
        source: "app/dataset".
        parts: how many have a watermark.
        moving: the unfinished commits that move them.
    """

    consumer: str
    source: str
    parts: int
    moving: tuple[str, ...]

    @property
    def app(self) -> str:
        return app_of(self.consumer)

    @property
    def unfinished(self) -> str:
        return ", ".join(self.moving) or "-"


class Position(Value, kw_only=True):
    """How far a program has read a part of a dataset.

    Attributes:
        part: of the dataset; "" for all of it.
        moves: how often it has moved.
        position: as `watermarks reset --to` takes it.
        commit: that moved it last.
    """

    part: str
    moves: int
    position: str
    commit: str


WATERMARKS = Listing(
    name="watermarks",
    title="Watermarks",
    help="List the incremental reads, by the program that reads, with the number of parts with a watermark.",
    item=IncrementalRead,
    query="tidegate.listings.queries.watermarks:list_watermarks",
    filters=(
        Filter("app", "app", "Only those of this app's programs."),
        Filter("dataset", "dataset", 'Only those of this "app/dataset".', gone=True),
    ),
    columns=(
        Column("consumer", "id", 1),
        Column("source", "dataset", 1),
        Column("parts", "number", 1),
        Column("unfinished", "id", 1, "unfinished commits"),
    ),
    order=("consumer", "source"),
)
