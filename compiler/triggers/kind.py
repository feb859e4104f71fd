"""What a kind of trigger is to the compiler: a key of the YAML and a function that builds it.

A new kind is one new file beside this one, one line in the registry (`compiler.triggers`),
one struct in the model and one property in the schema.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from compiler.build.scope import Scope
from compiler.model import At, Trigger
from compiler.reader.node import Mapping, Node


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A trigger as it was written.

    Attributes:
        node: the mapping that holds the kind's key and the options beside it.
        at: the place of the kind's key.
        wait_at_most: the option that every kind may have.
        member: builds a trigger inside this one; None if that has an error.
    """

    node: Mapping
    at: At
    wait_at_most: timedelta | None
    member: Callable[[Node], Trigger | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerKind:
    """One kind of trigger. `build` returns None after it has reported an error."""

    key: str
    build: Callable[[Written, Scope], Trigger | None]
