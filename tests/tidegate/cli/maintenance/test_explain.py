"""`tidegate maintenance explain`: which policy counts for each operation on a table, and why."""

import pytest

from tests.tidegate.tables import EVENTS, ORDERS, TableProject

pytestmark = pytest.mark.slow  # whole commands


def test_each_operation_has_its_policies_in_their_order_and_says_why(tables: TableProject) -> None:
    printed = tables.project.run("maintenance", "explain", ORDERS)
    rewrite = [line for line in printed.splitlines() if line.startswith("rewrite_data_files")]
    assert [line.split()[1] for line in rewrite] == ["shop/hot", "shop/nightly", "shop/idle"]
    assert "exact, exact, exact" in rewrite[0]
    assert "priority 10, before 0 of shop/nightly" in rewrite[0]
    assert "exact, exact, any" in rewrite[1]
    assert "outranked" in rewrite[1]
    assert "is disabled" in rewrite[2]
    manifests = [line for line in printed.splitlines() if line.startswith("rewrite_manifests")]
    assert "has it with `enabled: false`" in manifests[0]
    assert "does not configure it" in printed


def test_as_json(tables: TableProject) -> None:
    found = tables.project.json("maintenance", "explain", ORDERS)
    assert found["table"] == ORDERS
    by_operation = {each["operation"]: each["policies"] for each in found["operations"]}
    assert list(by_operation) == [
        "rewrite_data_files",
        "rewrite_manifests",
        "expire_snapshots",
        "remove_orphan_files",
    ]
    first, second, disabled = by_operation["rewrite_data_files"]
    assert (first["policy"], first["priority"], first["specificity"], first["status"]) == (
        "shop/hot",
        10,
        [2, 2, 2],
        "counts",
    )
    assert (second["status"], second["pattern"]) == ("outranked", "warehouse.analytics.*")
    assert disabled["status"] == "policy disabled"
    assert {each["status"] for each in by_operation["remove_orphan_files"]} == {
        "not configured",
        "policy disabled",
    }


def test_the_only_one_the_more_specific_one_and_the_first_name(tables: TableProject) -> None:
    (policy,) = (
        each
        for each in tables.project.json("maintenance", "explain", EVENTS)["operations"][0]["policies"]
        if each["status"] == "counts"
    )
    assert policy["because"] == "no other policy configures it"
    tables.project.write("shop", tables.yaml.replace("priority: 10", "priority: 0"))
    tables.project.run("deploy")
    assert "a more specific pattern than that of shop/nightly" in tables.project.run(
        "maintenance", "explain", ORDERS
    )
    tables.project.write(
        "shop",
        tables.yaml.replace("priority: 10", "priority: 0").replace("[warehouse.analytics.*", f"[{ORDERS}"),
    )
    tables.project.run("deploy")
    assert "its name comes before that of shop/nightly" in tables.project.run(
        "maintenance", "explain", ORDERS
    )


def test_a_table_without_policies_says_so(tables: TableProject) -> None:
    assert tables.project.run("maintenance", "explain", "shop/raw") == "No policy matches shop/raw.\n"
    assert "E-TABLE" in tables.project.refused("maintenance", "explain", "nowhere").message
