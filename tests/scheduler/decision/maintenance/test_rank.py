"""Which policy counts for each operation on a table, and whose rules of health."""

import pytest

from tests.worlds.operations import EXPIRE, ORPHANS, REWRITE, plan, table
from tidegate.domain.model import HealthRules, Policy
from tidegate.scheduler.decision.maintenance.rank import counting, matches, ruling


def policy(name, *tables, operations=(REWRITE,), **what):
    return Policy(
        name=name,
        tables=tables or ("w.a.*",),
        operations={each: plan(each) for each in operations},
        **what,
    )


def ranked(*policies, of=None):
    named = {f"a/{each.name}": each for each in policies}
    return matches(named, of or table())


@pytest.mark.parametrize(
    ("sentence", "policies", "expected"),
    [
        (
            "the highest priority first",
            [policy("a", "w.a.x"), policy("b", "w.a.*", priority=1), policy("c", "x", priority=-1)],
            ["b", "a", "c"],
        ),
        (
            "then the more specific pattern: catalog, then namespace, then table",
            [
                policy("a", "x"),
                policy("b", "a.x"),
                policy("c", "w.*.*"),
                policy("d", "w.a.x"),
                policy("e", "w.a.?"),
                policy("f", "/w[.].*/"),
            ],
            ["d", "e", "c", "f", "b", "a"],
        ),
        ("then the name", [policy("z", "w.a.*"), policy("y", "w.a.*")], ["y", "z"]),
        ("of a list the most specific match", [policy("a", "w.a.*"), policy("b", "x", "w.a.x")], ["b", "a"]),
        ("one that does not match is left out", [policy("a", "w.b.*"), policy("b")], ["b"]),
        ("one that is disabled is left out", [policy("a", enabled=False), policy("b")], ["b"]),
    ],
)
def test_the_policies_that_match_are_ranked(sentence, policies, expected):
    assert [match.policy.name for match in ranked(*policies)] == expected, sentence


def test_policies_of_the_same_name_are_ranked_by_their_app():
    same = {"b/p": policy("p"), "a/p": policy("p")}
    assert [match.ref for match in matches(same, table())] == ["a/p", "b/p"]


def test_a_dataset_is_matched_by_both_of_its_names():
    dataset = table(name="a/orders", dataset="a/orders")
    dataset = type(dataset)(name="a/orders", dataset="a/orders", catalog_name="tidegate.a.orders")
    found = ranked(policy("catalog", "tidegate.a.*"), policy("own", "a/orders"), of=dataset)
    assert [match.policy.name for match in found] == ["own", "catalog"]


def test_the_policy_that_counts_is_found_for_each_operation():
    switched_off = Policy(
        name="off",
        tables=("w.a.x",),
        priority=9,
        operations={EXPIRE: plan(EXPIRE, enabled=False), ORPHANS: plan(ORPHANS)},
    )
    found = ranked(policy("low", operations=(REWRITE, EXPIRE, ORPHANS)), switched_off)
    assert {each: match.policy.name for each, match in counting(found).items()} == {
        REWRITE: "low",
        EXPIRE: "low",
        ORPHANS: "off",
    }
    assert list(counting(found)) == [REWRITE, EXPIRE, ORPHANS]
    assert found[0].plan(REWRITE) is None


def test_the_rules_of_health_are_those_of_the_first_policy_that_has_some():
    mine = HealthRules(small_file=1)
    silent = policy("first", priority=9)
    found = ranked(silent, policy("second", priority=5, health=mine), policy("third", health=HealthRules()))
    rules = ruling(found)
    assert rules is not None
    assert rules.policy.health == mine
    assert ruling(ranked(silent)) is None
