"""Moves one watermark, after the output of the data read up to it has been published.

All watermarks that a sequence moves one after the other move in one transaction of the store.

A watermark has a number that counts its moves, and the store accepted the sequence only because the
watermark was at the preceding number. So each move happens once and never back, whatever the positions
mean: a step that finds its number reached has happened, even when later commits have moved on.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from tidegate.domain.commits import NewWatermark, Watermark
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind, unknown

SHOWN_CHARACTERS = 100
"""A position may list thousands of files; its beginning identifies it."""


@step_kind("set_watermark")
class SetWatermark(Value, kw_only=True):
    """Records that `consumer` has read `part` of `source` up to `position`.

    Attributes:
        consumer: "app/program".
        source: "app/dataset".
        part: the part of the source, for example a partition key; "" for a source without parts.
        number: the number of this move of the watermark, from 1.
        position: text that only the source interprets.
        commit: commit id of the publish.
    """

    effect: ClassVar[Effect] = Effect.FOLLOWS

    consumer: str
    source: str
    part: str
    number: int
    position: str
    commit: str

    def verify(self, context: CommitContext) -> Verified:
        # Only of this part: a source may have thousands of parts.
        return self._verify(context.watermarks.watermarks(self.consumer, self.source, self.part))

    @staticmethod
    def verify_all(steps: Sequence["SetWatermark"], context: CommitContext) -> tuple[Verified, ...]:
        followed = dict.fromkeys((step.consumer, step.source) for step in steps)
        marks = {both: context.watermarks.watermarks(*both) for both in followed}
        return tuple(step._verify(marks[step.consumer, step.source]) for step in steps)

    @staticmethod
    def execute_all(steps: Sequence["SetWatermark"], context: CommitContext) -> None:
        """In one transaction."""
        context.watermarks.set_watermarks([step._move() for step in steps])

    def _verify(self, marks: Mapping[str, Watermark]) -> Verified:
        mark = marks.get(self.part)
        number = 0 if mark is None else mark.number
        if number == self.number - 1:
            return NOT_DONE
        if number < self.number:
            # A move in between is missing, so what was read in it is not known.
            return unknown(f"{self._label()} is at move {number}, and was at {self.number - 1}")
        if mark is not None and number == self.number and mark.commit != self.commit:
            # The store takes one commit for each move: the row was changed by other means.
            return unknown(f"{self._label()} was moved by commit {mark.commit}")
        return DONE

    def execute(self, context: CommitContext) -> None:
        context.watermarks.set_watermark(*self._move())

    def _move(self) -> NewWatermark:
        move = (self.consumer, self.source, self.part, self.number)
        return NewWatermark(move, self.position, self.commit)

    def describe(self) -> str:
        shown = (
            self.position
            if len(self.position) <= SHOWN_CHARACTERS
            else f"{self.position[:SHOWN_CHARACTERS]}…"
        )
        return f"set {self._label()} to {shown or 'the beginning'}"

    def _label(self) -> str:
        part = f", part {self.part}" if self.part else ""
        return f"the watermark of {self.consumer} in {self.source}{part}"
