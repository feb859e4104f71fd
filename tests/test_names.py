"""The rules on names, on the product and on planted breaches."""

import pytest

from tests.test_tidy import report, sources
from tests.tidy.finding import Source
from tests.tidy.names import check_names

JOB = "tidegate/scheduler/model/job.py"


def test_functions_that_write_are_verbs_and_whole_names_are_split_in_one_place() -> None:
    report(finding for source in sources() for finding in check_names(source))


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("def renewed(transaction: EngineTransaction) -> Lease: ...", "renewed() writes"),
        ("def started_again() -> None: ...", "started_again() writes"),
        ("app, _, name = ref.partition('/')", "ref.partition of a whole name"),
        ("app = job.schedule.split('/', 1)[0]", "job.schedule.split of a whole name"),
    ],
)
def test_rules_on_names_catch(line: str, caught: str) -> None:
    found = [str(finding) for finding in check_names(Source(path=JOB, text=f"{line}\n"))]
    assert len(found) == 1, found
    assert caught in found[0]
