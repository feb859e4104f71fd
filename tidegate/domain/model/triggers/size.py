"""The `size` trigger: fires when enough bytes or rows of a dataset have come."""

from tidegate.domain.model.triggers.facts import LeafTrigger
from tidegate.domain.size import size_text


class SizeTrigger(LeafTrigger, kw_only=True, tag="size"):
    """Fires when enough has come, as the partitions' metadata say. Exactly one of bytes and rows is set.

    Attributes:
        bytes, rows: how much is needed.
        distinct: a partition that comes twice counts once, with its newest size; without it, and for a
            dataset without partitions, every write adds its own.
    """

    dataset: str
    bytes: int | None = None
    rows: int | None = None
    distinct: bool = True

    @property
    def dataset_collected(self) -> str:
        return self.dataset

    @property
    def counts_each_write(self) -> bool:
        return not self.distinct

    @property
    def any_event_satisfies(self) -> bool:
        return False

    def one_line(self) -> str:
        wanted = size_text(self.bytes) if self.bytes is not None else f"{self.rows} rows"
        return f"{wanted} of {self.dataset}"
