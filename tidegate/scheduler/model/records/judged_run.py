"""What the checks of a dataset have found in the rows of its runs: those of the newest run, and a history.

The store of commits writes them, in the transactions that publish or withhold the rows, and keeps the newest
`KEPT_RUNS` of each dataset. A run that could not judge its rows has failed, and is none of these.
"""

from datetime import datetime

from tidegate.domain.commits import CheckVerdict
from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind

KEPT_RUNS = 20
"""Of each dataset; a verdict has up to five keys of bad rows, so a long history would outgrow all else."""


class JudgedRun(Value, kw_only=True):
    """What the checks of a dataset have found in the rows of one run.

    Attributes:
        dataset: "app/dataset".
        token: fencing token of the run; a later run has a larger one.
        commit: commit id.
        verdicts: of all checks of the dataset, in their order.
        withheld: whether the rows were withheld and have not been released since.
        at: when they were judged. Aware, UTC.
        newest_at: the same for the newest run of the dataset; None for the others.
    """

    dataset: str
    token: int
    commit: str
    verdicts: tuple[CheckVerdict, ...]
    withheld: bool
    at: datetime
    newest_at: datetime | None = None


CHECK_RESULTS = Kind(name="check_results", value=JudgedRun, key=("dataset", "token"), due="newest_at")
