"""What an expiry leaves, counted by reason."""

from tidegate.spark_jobs.maintenance.kept import SHOWN_REASONS, among_the_last, counted, younger_than

DAY = 86_400.0


def test_snapshots_are_counted_by_reason_with_the_oldest_one() -> None:
    why = [younger_than(7 * DAY), among_the_last(5), "the tag audit"]
    assert why == ["younger than 7d", "among the last 5", "the tag audit"]
    found = counted([(1, why[2]), (2, why[0]), (3, why[0]), (4, why[1])])
    assert found["kept_because"] == {why[0]: 2, why[1]: 1, why[2]: 1}
    assert found["kept_oldest"] == {why[0]: "2", why[1]: "4", why[2]: "1"}


def test_of_thousands_of_tags_those_come_first_that_keep_most() -> None:
    tags = [(number, f"the tag t{number}") for number in range(1000)]
    found = counted([*tags, (1000, among_the_last(2)), (1001, among_the_last(2))])
    assert len(found["kept_because"]) == len(found["kept_oldest"]) == SHOWN_REASONS
    assert found["kept_because"]["among the last 2"] == 2


def test_nothing_left() -> None:
    assert counted([]) == {"kept_because": {}, "kept_oldest": {}}
