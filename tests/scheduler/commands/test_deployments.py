"""What a deployment has changed, and the way back to one, where not all of it is kept."""

import msgspec
import pytest

from tests.worlds.by import CLI
from tests.worlds.overriding import FIRST, NEW, OPS, Hands, S
from tests.worlds.world import at
from tidegate.compiler.plan.ownership import Scope
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployments import change_of, rollback
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.refused import Refused


def numbers(world: Hands) -> list[int]:
    with world.store.reading() as reader:
        return [row.number for row in reader.journal_page(kinds=[EntryKind.DEPLOY])]


def test_a_deployment_says_what_it_did_to_the_overrides_of_some_apps():
    world = Hands(S)
    world.put("10:00", FIRST)
    world.put("10:10", NEW)
    world.redeploy("11:00", S)
    last = numbers(world)[-1]
    with world.store.reading() as reader:
        for apps, refs in ((None, ["a/n", "a/s"]), (["a"], ["a/n", "a/s"]), (["b"], [])):
            found = change_of(reader, last, apps)
            assert found is not None
            assert sorted(each.ref for each in found.overrides) == refs


def test_an_app_that_did_not_exist_then_is_not_rolled_back_unless_it_may_be_removed():
    world = Hands(S)
    (first,) = numbers(world)
    other = msgspec.structs.replace(world.app, name="b")
    with world.store.transaction() as transaction:
        deploy(transaction, {"a": world.app, "b": other}, at("10:00"), by=CLI)
    scope = Scope(only=frozenset({"b"}))
    with world.store.transaction() as transaction:
        with pytest.raises(Refused, match=f"b did not exist after deployment {first}"):
            rollback(transaction, first, scope, at("11:00"), OPS)
        rollback(transaction, first, scope, at("11:00"), OPS, remove_apps=True)
        assert [app.name for app in transaction.records(APPS)] == ["a"]
