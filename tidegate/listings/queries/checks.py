"""What checks have found: the newest results of all datasets, and the history of one."""

from collections.abc import Iterator

from tidegate.domain.error import UserError
from tidegate.domain.part_name import app_of
from tidegate.listings.checks import JudgedCheck
from tidegate.listings.read import Asked
from tidegate.scheduler.model.records.judged_run import CHECK_RESULTS, JudgedRun

MOST_DATASETS = 10_000
"""The datasets with checks of a large store; one of a larger store is listed by its name."""


def list_checks(asked: Asked) -> Iterator[JudgedCheck]:
    """Yield the results that match, of the datasets that the caller sees.

    Raises:
        UserError: the history of no dataset is asked for.
    """
    failed = asked.wanted.get("failed")
    for run in _runs(asked):
        if asked.sees(app_of(run.dataset)):
            yield from (each for each in _results(run) if failed in (None, each.state == "failed"))


def _runs(asked: Asked) -> tuple[JudgedRun, ...]:
    dataset, history = asked.wanted.get("dataset"), asked.wanted.get("history")
    if dataset is None and history:
        raise UserError("the history of checks is that of one dataset", "add the dataset")
    if dataset is None:
        return asked.reader.due_records(CHECK_RESULTS, None, MOST_DATASETS)
    found = asked.reader.records(CHECK_RESULTS, dataset=[dataset])
    return found if history else tuple(run for run in found if run.newest_at is not None)


def _results(run: JudgedRun) -> Iterator[JudgedCheck]:
    for each in run.verdicts:
        yield JudgedCheck(
            dataset=run.dataset,
            name=each.name,
            kind=each.kind,
            severity=each.severity,
            state="passed" if each.passed else "failed",
            found=each.found,
            rows=each.rows,
            bad=each.bad,
            partitions=each.partitions,
            samples=each.samples,
            at=run.at,
            commit=run.commit,
            token=run.token,
            withheld=run.withheld,
        )
