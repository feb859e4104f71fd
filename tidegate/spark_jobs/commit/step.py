"""A commit step: one idempotent effect that can verify whether it has happened.

Steps are written into the store as JSON and read back by another process, so a step is a
plain value with a `kind`. A new kind of step is one file with the decorator `@step_kind`:
in `commit/steps/`, or in the `steps/` folder of a table format. The formats register theirs through
`load_kinds_with`, so this package does not depend on any format.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import msgspec

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.errors import CommitConflict, SparkJobError


class Verdict(StrEnum):
    """The three answers to "has this step happened?"."""

    DONE = "done"
    NOT_DONE = "not done"
    UNKNOWN = "unknown"


class Effect(StrEnum):
    """The effect of a step on the readers of the datasets."""

    PREPARES = "prepares"
    """It moves data to a place that no reader uses yet."""
    PUBLISHES = "publishes"
    """It changes what readers see."""
    FOLLOWS = "follows"
    """It records what was published: watermarks, events."""
    CLEANS = "cleans"
    """It removes data that no reader and no later step needs."""


class Verified(Value, kw_only=True):
    """A verdict and its reason; the reason is shown when the verdict is UNKNOWN.

    Attributes:
        refused: the table refuses the step, whichever process executes it. Its verdict is UNKNOWN.
    """

    verdict: Verdict
    reason: str = ""
    refused: bool = False


DONE = Verified(verdict=Verdict.DONE)
NOT_DONE = Verified(verdict=Verdict.NOT_DONE)


def unknown(reason: str, *, refused: bool = False) -> Verified:
    """Return the answer of a step that cannot determine whether it has happened."""
    return Verified(verdict=Verdict.UNKNOWN, reason=reason, refused=refused)


class CommitStep(Protocol):
    """One effect of a publish. Its fields are its JSON; `context` is where it acts.

    Attributes:
        effect: the effect on readers. A step with the effect CLEANS that fails is logged and skipped: the
            output is already published.
    """

    effect: ClassVar[Effect]

    def verify(self, context: CommitContext) -> Verified:
        """Return whether exactly this effect has happened. Must not change anything."""
        ...

    def execute(self, context: CommitContext) -> None:
        """Perform the effect. Called after `verify` returned NOT_DONE, possibly by two processes at once."""
        ...

    def describe(self) -> str:
        """Return one line for a person who inspects an unfinished sequence."""
        ...


@runtime_checkable
class ComparingStep(Protocol):
    """A step whose `execute` looks for itself whether the step is done or unknown, and then has no effect.

    It is verified after it only, which saves a look at the table.
    """

    compares: ClassVar[bool]


@runtime_checkable
class JoinedStep(Protocol):
    """A step of which several in a row are verified and executed together; the steps are all of its class."""

    @staticmethod
    def verify_all(steps: Any, context: CommitContext) -> tuple[Verified, ...]:
        """Return the answer of each step; see `CommitStep.verify`."""
        ...

    @staticmethod
    def execute_all(steps: Any, context: CommitContext) -> None:
        """Perform the effects of steps that are not done; see `CommitStep.execute`."""
        ...


@runtime_checkable
class RefusableStep(Protocol):
    """A step whose table can be made to refuse it, whichever process executes it later."""

    def refuse(self, context: CommitContext) -> None:
        """Make the table refuse this step. Do nothing if the step is done.

        Raises:
            OSError: the table could not be changed.
        """
        ...


@runtime_checkable
class PublishStep(CommitStep, RefusableStep, Protocol):
    """A step that shows the rows of one output to readers.

    Its `execute` raises CommitConflict, without an effect, when `conflict` would return one.
    """

    @property
    def repeatable(self) -> bool:
        """Whether the same work, computed again under another commit id, replaces what the step published."""
        ...

    def conflict(self, context: CommitContext) -> CommitConflict | None:
        """Return what others have changed, since the run began, of what this step replaces; None for nothing.

        Must not change anything.
        """
        ...


@runtime_checkable
class OutputStep(PublishStep, Protocol):
    """The step that publishes one output of a sequence, and knows the other steps of that output."""

    def owns(self, step: CommitStep) -> bool:
        """Return whether a step concerns this output alone; this step does."""
        ...


StepType = TypeVar("StepType", bound=Value)

_kinds: dict[str, type[Value]] = {}
_loaders: list[Callable[[], None]] = []


def verify_step(step: CommitStep, context: CommitContext) -> Verified:
    """Verify a step. Return `unknown` with the reason when that fails."""
    try:
        return step.verify(context)
    except (SparkJobError, OSError, msgspec.MsgspecError) as error:
        return unknown(f"it cannot be verified: {error}")


def load_kinds_with(load: Callable[[], None]) -> None:
    """Add a function that imports further kinds of steps; it is called before a step is decoded."""
    if load not in _loaders:
        _loaders.append(load)


def step_kind(kind: str) -> Callable[[type[StepType]], type[StepType]]:
    """Register a class of steps under the `kind` in its JSON."""

    def register(cls: type[StepType]) -> type[StepType]:
        assert _kinds.get(kind, cls).__qualname__ == cls.__qualname__, f"two kinds of step are called {kind}"
        _kinds[kind] = cls
        return cls

    return register


def encode_step(step: CommitStep) -> dict[str, Any]:
    """Return the step as plain JSON values, with its kind."""
    for kind, cls in _kinds.items():
        if type(step) is cls:
            return {"kind": kind, **msgspec.to_builtins(step)}
    raise TypeError(f"{type(step).__name__} is not a registered kind of commit step")


def decode_step(spec: dict[str, Any]) -> CommitStep:
    """Return the step that `encode_step` wrote.

    Raises:
        ValueError: the kind is unknown, or the fields do not fit: the sequence was
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
