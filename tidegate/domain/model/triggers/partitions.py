"""The `partitions` trigger: fires when enough, or certain, partitions of a dataset have arrived."""

from tidegate.domain.model.dataset import Cycle
from tidegate.domain.model.triggers.facts import Checks, LeafTrigger
from tidegate.domain.wording import plural


class PartitionsTrigger(LeafTrigger, kw_only=True, tag="partitions"):
    """Fires when partitions of a dataset have arrived.

    It counts in exactly one of three ways: `keys` (all of these), `complete` (all parts of the
    enclosing period), else `count`.

    Attributes:
        dataset: name of the dataset within the app.
        count: how many partitions are needed.
        distinct: a key that arrives twice counts once (rule 3).
        keys: partition keys that must all arrive.
        complete: the period of which every part must have arrived.
        checks: "passed" to count a materialisation of an asset only once its checks have passed.
    """

    dataset: str
    count: int = 1
    distinct: bool = True
    keys: tuple[str, ...] = ()
    complete: Cycle | None = None
    checks: Checks | None = None

    @property
    def dataset_collected(self) -> str:
        return self.dataset

    @property
    def counts_checked(self) -> bool:
        return self.checks == "passed"

    @property
    def names_keys(self) -> bool:
        return bool(self.keys)

    @property
    def period(self) -> Cycle | None:
        return self.complete

    @property
    def counts_each_write(self) -> bool:
        return not self.distinct

    @property
    def least_events(self) -> int:
        return max(self.count, len(self.keys))

    @property
    def any_event_satisfies(self) -> bool:
        return self.period is None and self.least_events == 1

    def one_line(self) -> str:
        if self.keys:
            return f"partitions of {self.dataset}: {', '.join(self.keys)}"
        if self.complete is not None:
            return f"a complete {self.complete} of {self.dataset}"
        return f"{plural(self.count, 'partition')} of {self.dataset}"
