"""A commit step: one idempotent effect which can say whether it has happened.

Steps are written into the store as JSON and read back by another process, so a step is a
plain value with a `kind`. A new kind of step is one file with the decorator `@step_kind`:
in `commit/steps/`, or among the steps of a table format. `load_kinds_with` brings the formats' kinds here,
so this package knows no format.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, ClassVar, Protocol, TypeVar

import msgspec

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext


class Verdict(StrEnum):
    """The three answers to "has this step happened?"."""

    DONE = "done"
    NOT_DONE = "not done"
    UNKNOWN = "unknown"


class Effect(StrEnum):
    """What a step is to the readers of the datasets."""

    PREPARES = "prepares"
    """It brings data where no reader looks yet."""
    PUBLISHES = "publishes"
    """It changes what readers see."""
    FOLLOWS = "follows"
    """It tells others of what was published: watermarks, events."""
    CLEANS = "cleans"
    """It removes what no reader and no later step needs."""


class Verified(Value, kw_only=True):
    """A verdict, with what was seen; the text is shown when the verdict is UNKNOWN."""

    verdict: Verdict
    seen: str = ""


DONE = Verified(verdict=Verdict.DONE)
NOT_DONE = Verified(verdict=Verdict.NOT_DONE)


def unknown(seen: str) -> Verified:
    """The answer of a step which cannot tell."""
    return Verified(verdict=Verdict.UNKNOWN, seen=seen)


class CommitStep(Protocol):
    """One effect of a publish. Its fields are its JSON; `context` is where it acts.

    Attributes:
        effect: what it is to readers. A step that only cleans and does not hold after it was executed is
            logged and passed over: all that matters is published.
    """

    effect: ClassVar[Effect]

    def verify(self, context: CommitContext) -> Verified:
        """Whether this very effect has happened. Looks only, changes nothing."""
        ...

    def execute(self, context: CommitContext) -> None:
        """Makes it happen. Called when `verify` said NOT_DONE; may be called by two processes at once."""
        ...

    def describe(self) -> str:
        """One line for a person who looks at an unfinished sequence."""
        ...


StepType = TypeVar("StepType", bound=Value)

_kinds: dict[str, type[Value]] = {}
_loaders: list[Callable[[], None]] = []


def load_kinds_with(load: Callable[[], None]) -> None:
    """Add a function that imports further kinds of steps; it is called before a step is decoded."""
    if load not in _loaders:
        _loaders.append(load)


def step_kind(kind: str) -> Callable[[type[StepType]], type[StepType]]:
    """Registers a class of steps under the name that its JSON carries."""

    def register(cls: type[StepType]) -> type[StepType]:
        assert _kinds.get(kind, cls).__qualname__ == cls.__qualname__, f"two kinds of step are called {kind}"
        _kinds[kind] = cls
        return cls

    return register


def encode_step(step: CommitStep) -> dict[str, Any]:
    """The step as plain JSON values, with its kind."""
    for kind, cls in _kinds.items():
        if type(step) is cls:
            return {"kind": kind, **msgspec.to_builtins(step)}
    raise TypeError(f"{type(step).__name__} is not a registered kind of commit step")


def decode_step(spec: dict[str, Any]) -> CommitStep:
    """The step that `encode_step` wrote.

    Raises:
        ValueError: the kind is not known here, or the fields do not fit: the sequence was
            written by another version of this program.
    """

    for load in _loaders:
        load()
    fields = dict(spec)
    kind = fields.pop("kind", None)
    if kind not in _kinds:
        raise ValueError(f"unknown kind of commit step {kind!r}; known are {', '.join(sorted(_kinds))}")
    step: Any = msgspec.convert(fields, _kinds[kind])
    return step
