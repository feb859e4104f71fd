"""What the checks of each dataset have found, written with the publish that they judged or withhold."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from tidegate.domain.commits import CheckVerdict
from tidegate.scheduler.model.records.judged_run import KEPT_RUNS
from tidegate.scheduler.store.sql.commit_tables import check_results


def keep_results(
    connection: Connection,
    commit: str,
    token: int,
    verdicts: Sequence[CheckVerdict],
    at: datetime,
    *,
    withheld: bool,
) -> None:
    """Keep the verdicts of a run as the newest of each dataset that has some, and forget the oldest ones."""
    table = check_results.c
    for dataset in dict.fromkeys(each.dataset for each in verdicts):
        own = table.dataset == dataset
        newest = update(check_results).where(own, table.newest_at.is_not(None))
        connection.execute(newest.values(newest_at=None))
        connection.execute(
            insert(check_results).values(
                dataset=dataset,
                token=token,
                commit=commit,
                verdicts=tuple(each for each in verdicts if each.dataset == dataset),
                withheld=withheld,
                at=at,
                newest_at=at,
            )
        )
        by_age = select(table.token).where(own).order_by(table.token.desc())
        oldest = connection.scalar(by_age.limit(1).offset(KEPT_RUNS - 1))
        if oldest is not None:
            connection.execute(delete(check_results).where(own, table.token < oldest))


def note_release(connection: Connection, commit: str, datasets: Sequence[str]) -> None:
    """Say of the results of a withheld publish that a person has released it."""
    table = check_results.c
    of_commit = update(check_results).where(
        table.dataset.in_([*datasets]), table.commit == commit, table.withheld
    )
    connection.execute(of_commit.values(withheld=False))
