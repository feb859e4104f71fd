"""Withheld publishes as the engine and its faces read them: whose work, of which datasets, which checks.

The store of commits writes and removes them, in the transactions that withhold, publish or abandon the
commit, and keeps the text of the sequence beside them. "Withheld" is also the word for events that wait for
Dagster's asset checks (`records.withheld`), which have nothing to do with these.
"""

from datetime import datetime

from tidegate.domain.commits import CheckVerdict
from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind


class WithheldPublish(Value, kw_only=True):
    """A publish that is not put, because a check of its rows failed.

    Attributes:
        commit: commit id.
        job: id of the job whose work it is; for the commit of an external run the id of no job.
        token: fencing token of the run that staged it.
        datasets: the datasets that it would write, "app/dataset".
        verdicts: of all checks of its outputs, passed or not.
        at: since when it is withheld. Aware, UTC.
    """

    commit: str
    job: str
    token: int
    datasets: tuple[str, ...]
    verdicts: tuple[CheckVerdict, ...]
    at: datetime

    @property
    def failed(self) -> tuple[CheckVerdict, ...]:
        """The verdicts for which it is withheld."""
        return tuple(each for each in self.verdicts if each.blocks)


WITHHELD_PUBLISHES = Kind(
    name="withheld_publishes",
    value=WithheldPublish,
    key=("commit",),
    by=("job",),
    order=("at", "commit"),
    due="at",
)
