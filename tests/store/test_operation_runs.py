"""Every store finds the runs of operations by table, by start and by end, and counts the bytes of an hour."""

from typing import Any

from tests.worlds.samples import at, ended, operation_run
from tidegate.scheduler.store.protocol import Store


def test_tuples_in_the_results_of_a_run_come_back_as_json_has_them(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_operation_runs([operation_run("j", results={"kept": (1, ("a",))})])
        assert transaction.operation_runs()[0].results == {"kept": [1, ["a"]]}


def test_runs_match_all_filters_and_come_by_start_then_job(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_operation_runs(
            [
                operation_run("4", "t", 4),
                operation_run("2", "t", 2),
                operation_run("3", "u", 2),
                ended(operation_run("1", "t", 1)),
                ended(operation_run("5", "T", 5)),
            ]
        )
        cases: list[tuple[dict[str, Any], str]] = [
            ({}, "12345"),
            ({"limit": 2}, "45"),
            ({"limit": 0}, ""),
            ({"jobs": ["3", "1", "none"]}, "13"),
            ({"jobs": ["3", "1"], "limit": 1}, "3"),
            ({"tables": ["t"]}, "124"),
            ({"tables": ["t", "u"], "limit": 3}, "234"),
            ({"tables": []}, ""),
            ({"running": True}, "234"),
            ({"running": False}, "12345"),
            ({"running": True, "jobs": ["1", "2"]}, "2"),
            ({"running": True, "tables": ["t"], "limit": 1}, "4"),
            ({"started_since": at(2)}, "2345"),
            ({"started_since": at(2.000001)}, "45"),
            ({"started_since": at(2.000001), "running": True}, "4"),
            ({"before": (at(2), "3")}, "12"),
            ({"before": (at(2), "3"), "limit": 1}, "2"),
            ({"before": (at(4), ""), "tables": ["u"]}, "3"),
            ({"started_since": at(1), "tables": ["t"], "jobs": ["1", "2", "3"], "limit": 9}, "12"),
        ]
        for filters, expected in cases:
            found = transaction.operation_runs(**filters)
            assert "".join(run.job for run in found) == expected, filters


def test_bytes_are_those_of_the_runs_that_ended_from_an_instant_up_to_another(store: Store) -> None:
    with store.transaction() as transaction:
        assert transaction.bytes_rewritten(at(0), at(60)) == 0
        ends = {"before": -0.000001, "first": 0, "last": 59.99, "after": 60}
        transaction.put_operation_runs(
            [
                ended(operation_run(job, minutes=-9), minutes, bytes=10**place)
                for place, (job, minutes) in enumerate(ends.items())
            ]
        )
        transaction.put_operation_runs([operation_run("runs", bytes=10**9)])
        assert transaction.bytes_rewritten(at(0), at(60)) == 110
        assert transaction.bytes_rewritten(at(-60), at(61)) == 1111
        assert transaction.bytes_rewritten(at(0), at(0)) == 0
        huge = [ended(operation_run(job), 90, bytes=2**62) for job in ("h1", "h2")]
        transaction.put_operation_runs(huge[:1])
        assert transaction.bytes_rewritten(at(90), at(91)) == 2**62
        assert isinstance(transaction.bytes_rewritten(at(90), at(91)), int)
