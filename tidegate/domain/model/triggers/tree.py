"""The tree of a trigger: the composites, the union of all kinds, and the walk over the leaves.

A composite contains triggers of any kind, so the union that the store decodes is here too. A new kind
of leaf is one line in it. A leaf is identified by its path, to which the engine delivers events.
"""

from collections.abc import Iterator
from typing import ClassVar

from tidegate.domain.model.triggers.cron import CronTrigger
from tidegate.domain.model.triggers.elapsed import ElapsedTrigger
from tidegate.domain.model.triggers.facts import LeafTrigger, TriggerBase
from tidegate.domain.model.triggers.partitions import PartitionsTrigger
from tidegate.domain.model.triggers.run import RunTrigger
from tidegate.domain.model.triggers.size import SizeTrigger
from tidegate.domain.model.triggers.task import TaskTrigger
from tidegate.domain.value import Value


class CompositeBase(TriggerBase, kw_only=True):
    """A trigger with members.

    Attributes:
        alternatives: each member alone satisfies it.
        in_turn: its members must be satisfied one after the other; a satisfied member keeps its events.
        shares_fires: with `for_each`, a fire of a member counts for each waiting key.
    """

    alternatives: ClassVar[bool] = False
    in_turn: ClassVar[bool] = False
    shares_fires: ClassVar[bool] = False


class AllTrigger(CompositeBase, kw_only=True, tag="all"):
    """Holds when every member holds."""

    shares_fires: ClassVar[bool] = True

    of: tuple["Trigger", ...]

    @property
    def needed(self) -> int:
        return len(self.of)

    def one_line(self) -> str:
        return f"all ({_members(self.of)})"


class AnyTrigger(CompositeBase, kw_only=True, tag="any"):
    """Holds when one member holds."""

    alternatives: ClassVar[bool] = True

    of: tuple["Trigger", ...]

    @property
    def needed(self) -> int:
        return 1

    def one_line(self) -> str:
        return f"any ({_members(self.of)})"


class AtLeastTrigger(CompositeBase, kw_only=True, tag="at_least"):
    """Holds when `n` of its members hold."""

    n: int
    of: tuple["Trigger", ...]

    @property
    def needed(self) -> int:
        return self.n

    def one_line(self) -> str:
        return f"at least {self.n} of ({_members(self.of)})"


class SequenceTrigger(CompositeBase, kw_only=True, tag="sequence"):
    """Holds when its members were satisfied one after the other.

    An event counts for a member only if it arrived after the previous member was satisfied.
    """

    in_turn: ClassVar[bool] = True

    of: tuple["Trigger", ...]

    @property
    def needed(self) -> int:
        return len(self.of)

    def one_line(self) -> str:
        return f"in sequence ({_members(self.of)})"


Composite = AllTrigger | AnyTrigger | AtLeastTrigger | SequenceTrigger
"""Each has `of`, its members, and `needed`, the number of members that must hold."""

Trigger = (
    CronTrigger
    | PartitionsTrigger
    | SizeTrigger
    | RunTrigger
    | ElapsedTrigger
    | TaskTrigger
    | AllTrigger
    | AnyTrigger
    | AtLeastTrigger
    | SequenceTrigger
)


class Leaf(Value, kw_only=True):
    """A trigger without members, with its path in the tree.

    Attributes:
        path: member numbers from the root joined by ".", "" for a root that is itself a leaf.
    """

    path: str
    trigger: LeafTrigger


def child_path(path: str, index: int) -> str:
    """Return the path of member `index` of the composite at `path`."""
    return f"{path}.{index}" if path else str(index)


def leaves(trigger: Trigger, path: str = "") -> Iterator[Leaf]:
    """Yield every leaf of a trigger, in the order of the YAML."""
    if isinstance(trigger, Composite):
        for index, member in enumerate(trigger.of):
            yield from leaves(member, child_path(path, index))
    else:
        yield Leaf(path=path, trigger=trigger)


def satisfies_alone(trigger: Trigger, path: str) -> bool:
    """Return whether the leaf at a path alone satisfies the whole trigger: it is below `any` only."""
    for step in path.split(".") if path else ():
        if not (isinstance(trigger, Composite) and trigger.alternatives):
            return False
        trigger = trigger.of[int(step)]
    return True


def leaves_with_existing(trigger: Trigger, path: str = "", *, asked: bool = False) -> Iterator[Leaf]:
    """Yield the leaves that collect what exists: those that say so, and the leaves of members that do."""
    asked = asked or trigger.collect_existing
    if isinstance(trigger, Composite):
        for index, member in enumerate(trigger.of):
            yield from leaves_with_existing(member, child_path(path, index), asked=asked)
    elif asked and trigger.dataset_collected is not None:
        yield Leaf(path=path, trigger=trigger)


def named_members(trigger: Trigger, path: str = "") -> Iterator[tuple[str, str, Trigger]]:
    """Yield every trigger of a tree that has a name: name, path and trigger, in the order of the YAML."""
    if trigger.as_ is not None:
        yield trigger.as_, path, trigger
    if isinstance(trigger, Composite):
        for index, member in enumerate(trigger.of):
            yield from named_members(member, child_path(path, index))


def _members(members: tuple[Trigger, ...]) -> str:
    return "; ".join(member.one_line() for member in members)
