"""Triggers by chance: trees of any shape over the leaves and options that a test draws from."""

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from tidegate.domain.model import AllTrigger, AnyTrigger, AtLeastTrigger, SequenceTrigger, Trigger

Options = st.SearchStrategy[dict[str, timedelta | None]]

MAX_LEAVES = 5
"""About so many; more make no other mistakes, and take longer."""


def trigger_trees(
    leaves: st.SearchStrategy[Trigger], options: Options, *, members: tuple[int, int], needed: tuple[int, int]
) -> st.SearchStrategy[Trigger]:
    """Return triggers, each a leaf or a composite of other ones.

    Args:
        options: of each composite.
        members: the least and the largest number of members of a composite.
        needed: the same of what `at_least` needs, if it has so many.
    """

    def composites(inside: st.SearchStrategy[Trigger]) -> st.SearchStrategy[Trigger]:
        of = st.lists(inside, min_size=members[0], max_size=members[1]).map(tuple)
        return st.one_of(
            *(st.builds(_made(kind), of, options) for kind in (AllTrigger, AnyTrigger, SequenceTrigger)),
            st.builds(_at_least, of, st.integers(*needed), options),
        )

    return st.recursive(leaves, composites, max_leaves=MAX_LEAVES)


def _made(kind: Any) -> Any:
    return lambda of, options: kind(of=of, **options)


def _at_least(of: tuple[Trigger, ...], n: int, options: dict[str, Any]) -> Trigger:
    return AtLeastTrigger(n=min(n, len(of)), of=of, **options)
