"""Names of parts: with the namespace of their app, and what only looks like that."""

import pytest

from tidegate.domain.part_name import namespace_of, without_namespace


@pytest.mark.parametrize(
    ("name", "namespace", "rest"),
    [
        ("revenue", None, "revenue"),
        ("sales/revenue", None, "sales/revenue"),
        ("team-a/sales/revenue", "team-a", "sales/revenue"),
        ("a/b/c/d", None, "a/b/c/d"),
        # Patterns of tables.
        ("lake.form./r[0-9]+/", None, "lake.form./r[0-9]+/"),
        ("/sea\\.(north|south)/", None, "/sea\\.(north|south)/"),
    ],
)
def test_a_name_with_three_parts_has_a_namespace(name: str, namespace: str | None, rest: str) -> None:
    assert (namespace_of(name), without_namespace(name)) == (namespace, rest)
