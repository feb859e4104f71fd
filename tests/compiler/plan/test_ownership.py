"""Which apps of a shared store a deployment touches."""

import msgspec
import pytest

from tidegate.compiler.plan.diff import diff
from tidegate.compiler.plan.ownership import Scope, TakenApp, reach
from tidegate.compiler.render.diff_text import diff_text

OWNERS = {"mine": "shop", "gone": "shop", "lost": "shop", "theirs": "flights", "old": "", "older": ""}
WANTED = ("mine", "new", "old", "theirs")


def scope(only: set[str] | None = None, removable: set[str] | None = None) -> Scope:
    def frozen(names: set[str] | None) -> frozenset[str] | None:
        return None if names is None else frozenset(names)

    return Scope(project="shop", only=frozen(only), removable=frozen(removable))


def test_apps_of_the_project_new_ones_and_those_without_an_owner_are_deployed_and_others_never() -> None:
    found = reach(OWNERS, WANTED, scope())
    assert found.wanted == {"mine", "new", "old"}
    assert found.removed == {"gone", "lost"}
    assert found.stays == ()
    assert found.adopted == ("old",)
    assert found.taken == (TakenApp(name="theirs", owner="flights"),)


@pytest.mark.parametrize(
    ("removable", "removed", "stays"),
    [
        (None, {"gone", "lost"}, ()),
        (set[str](), set[str](), ("gone", "lost")),
        ({"lost"}, {"lost"}, ("gone",)),
        ({"lost", "theirs", "older", "mine"}, {"lost"}, ("gone",)),
    ],
)
def test_only_what_may_be_removed_is_removed(
    removable: set[str] | None, removed: set[str], stays: tuple[str, ...]
) -> None:
    found = reach(OWNERS, WANTED, scope(removable=removable))
    assert (found.removed, found.stays) == (removed, stays)


def test_apps_that_are_not_named_are_left_alone() -> None:
    found = reach(OWNERS, WANTED, scope(only={"new", "lost"}))
    assert (found.wanted, found.removed, found.stays) == ({"new"}, {"lost"}, ())
    assert (found.adopted, found.taken) == ((), ())


def test_a_deployment_without_a_project_is_about_apps_without_an_owner() -> None:
    found = reach(OWNERS, ("mine", "old"), Scope())
    assert (found.wanted, found.removed) == ({"old"}, {"older"})
    assert found.adopted == ()
    assert found.taken == (TakenApp(name="mine", owner="shop"),)


def test_the_remedy_names_the_owner_and_the_setting() -> None:
    (taken,) = reach(OWNERS, WANTED, scope()).taken
    assert taken.summary == 'app theirs belongs to project "flights"'
    assert 'name = "flights" below [project] in tidegate.toml' in taken.remedy


def test_a_difference_says_what_stays_what_is_adopted_and_what_is_refused() -> None:
    nothing = diff({}, {})
    assert not nothing.refused
    shared = msgspec.structs.replace(
        nothing, stays=("gone",), adopted=("old",), taken=(TakenApp(name="theirs", owner="flights"),)
    )
    assert shared.refused
    assert diff_text(shared).splitlines() == [
        "= app gone is not in the YAML and stays; `tidegate deploy --remove-apps` removes it",
        "  app old has no owner in the store; the deployment makes it one of this project",
        'refused: app theirs belongs to project "flights"',
        f"hint: {shared.taken[0].remedy}",
        "",
        "No changes.",
    ]
