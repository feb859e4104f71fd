"""What is withheld, as all faces show it: materialisations of others, and publishes of ours.

A materialisation waits for Dagster's checks of its asset, a publish for a person: a check of its dataset has
failed. `scheduler.explain.withheld` makes these values of the records of the store; `why`, lists and pages
have them.
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


class WithheldOutput(Value, kw_only=True):
    """A publish that is withheld, because checks of its rows failed.

    Attributes:
        commit: its id: `tidegate commits release` and `abandon` take it.
        job: whose work it is; "" for a run that is of no job.
        schedule: of that job, "app/name"; "" without one.
        key: of that job.
        datasets: that it would write, "app/name".
        checks: the names of those that have failed.
        since: when it was withheld.
        text: for people: all of that in one line, with what the checks have found.
    """

    commit: str
    job: str
    schedule: str
    key: str
    datasets: tuple[str, ...]
    checks: tuple[str, ...]
    since: datetime
    text: str
