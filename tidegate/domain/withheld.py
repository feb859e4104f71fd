"""Withheld materialisations as all faces show them: a partition, and the checks that hold it back.

`scheduler.explain.withheld` makes these values of the records of the store; `why`, lists and pages have them.
"""

from datetime import datetime
from typing import Literal

from tidegate.domain.value import Value


class WithheldCheck(Value, kw_only=True):
    """A check that withholds a materialisation.

    Attributes:
        check: its name.
        state: failed, or missing if it was not evaluated.
        description: what its evaluation says; "" without one.
        run_id: the run that evaluated it; of a missing one the run that should have; "" without a run.
    """

    check: str
    state: Literal["failed", "missing"]
    description: str
    run_id: str


class WithheldPartition(Value, kw_only=True):
    """A materialisation that `checks: passed` does not count yet.

    Attributes:
        dataset: "app/name".
        partition: its key; "" for a dataset without partitions.
        time: when it was made.
        run_id: the run that made it.
        running: that run has not ended, so its checks may still pass.
        checks: what withholds it, by name.
        text: for people: all of that in one line.
    """

    dataset: str
    partition: str
    time: datetime
    run_id: str
    running: bool
    checks: tuple[WithheldCheck, ...]
    text: str
