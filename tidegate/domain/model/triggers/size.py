"""The `size` trigger: fires when enough bytes or rows of a dataset have arrived."""

from tidegate.domain.model.triggers.facts import Checks, LeafTrigger
from tidegate.domain.size import size_text


class SizeTrigger(LeafTrigger, kw_only=True, tag="size"):
    """Fires when the reported sizes reach a total. Exactly one of `bytes` and `rows` is set.

    Attributes:
        bytes, rows: the total that is needed.
        distinct: a partition that arrives twice counts once, with its newest size. Without it, and for a
            dataset without partitions, every write adds its size.
        checks: "passed" to count a materialisation of an asset only once its checks have passed.
    """

    dataset: str
    bytes: int | None = None
    rows: int | None = None
    distinct: bool = True
    checks: Checks | None = None

    @property
    def dataset_collected(self) -> str:
        return self.dataset

    @property
    def counts_checked(self) -> bool:
        return self.checks == "passed"

    @property
    def counts_each_write(self) -> bool:
        return not self.distinct

    @property
    def any_event_satisfies(self) -> bool:
        return False

    def one_line(self) -> str:
        wanted = size_text(self.bytes) if self.bytes is not None else f"{self.rows} rows"
        return f"{wanted} of {self.dataset}"
