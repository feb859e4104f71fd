"""`tidegate report` of a dataset: what has landed, all or none, and what is refused with which remedy."""

import pytest

from tests.tidegate.project import Project
from tests.worlds.by import ME
from tidegate.scheduler.model.journal import EntryKind


@pytest.fixture
def flagged(deployed: Project) -> Project:
    """The project with a dataset that has no partitions."""
    deployed.edit("programs:\n", "  flag: {}\n\nprograms:\n")
    deployed.run("deploy")
    return deployed


def test_days_are_reported_with_their_sizes_and_routed_at_once(deployed: Project) -> None:
    printed = deployed.run(
        *("report", "sales/orders", "--key", "2026-03-08", "--key", "2026-03-09"),
        *("--rows", "1200", "--rows", "7", "--at", "2026-03-10T01:00:00+02:00", "--reason", "landed by hand"),
        "--anyway",
    )

    assert printed == (
        "sales/orders 2026-03-08: reported, landed at 2026-03-09 23:00:00Z, 1,200 rows\n"
        "sales/orders 2026-03-09: reported, landed at 2026-03-09 23:00:00Z, 7 rows\n"
    )
    (job,) = deployed.json("jobs", "list", "--schedule", "report_daily")
    assert len(deployed.json("jobs", "show", job["id"])["collected"]) == 2
    assert [each["rows"] for each in deployed.json("events", "list")] == [7, 1200]
    store = deployed.store()
    with store.reading() as reader:
        (entry,) = (each for each in reader.journal() if each.kind is EntryKind.PARTITIONS)
    store.close()
    assert (entry.data["by"], entry.data["why"]) == (ME, "landed by hand")


def test_a_request_counts_once_and_is_another_with_other_keys(deployed: Project) -> None:
    first = deployed.json(
        "report", "orders", "--key", "2026-03-08", "--bytes", "5", "--request", "r1", "--anyway"
    )
    again = deployed.json(
        "report", "orders", "--key", "2026-03-08", "--bytes", "5", "--request", "r1", "--anyway"
    )

    assert first["partitions"][0]["bytes"] == 5
    assert "there are no files in" in first["warnings"][0]
    assert again == {**first, "repeated": True}
    assert len(deployed.json("events", "list")) == 1
    assert (
        "another report"
        in deployed.refused("report", "orders", "--key", "2026-03-09", "--request", "r1").message
    )


def test_a_dataset_without_partitions_is_reported_by_its_name(flagged: Project) -> None:
    assert flagged.run("report", "flag").startswith("sales/flag: reported, landed at ")
    assert flagged.run("report", "flag", "--rows", "3").endswith(", 3 rows\n")
    refused = flagged.refused("report", "flag", "--key", "2026-03-09")
    assert ("has no partitions" in refused.message, refused.hint) == (True, "leave the key out")


def test_one_wrong_key_refuses_all_and_says_how_keys_are_written(deployed: Project) -> None:
    refused = deployed.refused(
        "report", "orders", "--key", "2026-03-09", "--key", "9 March", "--key", "2025-12-31"
    )

    assert '"9 March" is not the key of a day; write it as' in refused.message
    assert '"2025-12-31" is before the first day' in refused.message
    assert 'write for example "2026-01-01"' in refused.hint
    assert deployed.json("events", "list") == []
    assert "has partitions, and the report has none" in deployed.refused("report", "orders").message


def test_an_unknown_dataset_is_refused_with_the_closest(deployed: Project) -> None:
    for arguments in (("ordres", "--key", "2026-03-09"), ("ordres",)):
        refused = deployed.refused("report", *arguments)
        assert ('dataset "ordres" is not deployed' in refused.message, refused.hint) == (
            True,
            'did you mean "orders"?',
        )
    assert "offset" in deployed.refused("report", "orders", "--at", "2026-03-10T01:00:00").message


@pytest.mark.parametrize(
    "arguments",
    [
        ("--key", "2026-03-08", "--key", "2026-03-09", "--rows", "7"),
        ("--key", "2026-03-08", "--rows", "-1"),
        ("--key", "2026-03-08", "--bytes", "many"),
        ("--key", "2026-03-08", "--status", "failed"),
        ("2026-03-08", "--key", "2026-03-08"),
    ],
)
def test_wrong_usage_ends_with_64(deployed: Project, arguments: tuple[str, ...]) -> None:
    deployed.run("report", "orders", *arguments, exit_code=64)
    assert deployed.json("events", "list") == []
