"""The outputs of a commit sequence one by one: what of each is published, and the sequence without one.

Each output has one step that publishes it, in the order of the sequence's datasets. When a person abandons
a whole commit, the outputs that are published by then are not written again by the next run of the same work.
When a person abandons one output, the sequence goes on without its steps.
"""

from dataclasses import dataclass

import msgspec

from tidegate.domain.part_name import name_of
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.sequence import CommitSequence, is_watermark_resource
from tidegate.spark_jobs.commit.step import CommitStep, Effect, OutputStep
from tidegate.spark_jobs.commit.steps.report_event import ReportEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class SequenceOutput:
    """One output of a sequence.

    Attributes:
        dataset: "app/dataset".
        step: the step that publishes it.
        parts: its partitions, once it is published.
    """

    dataset: str
    step: OutputStep
    parts: tuple[PublishedPartition, ...]


def outputs_in(sequence: CommitSequence) -> tuple[SequenceOutput, ...]:
    """Return the outputs of a sequence, in the order in which they are published."""
    # `sequence_of` lists the datasets in the order of the steps that publish them: only that joins the two.
    names = [name for name in sequence.datasets if not is_watermark_resource(name)]
    steps = [step for step in sequence.steps if step.effect is Effect.PUBLISHES]
    return tuple(
        SequenceOutput(dataset=name, step=step, parts=_parts(sequence, name))
        for name, step in zip(names, steps, strict=False)
        if isinstance(step, OutputStep)
    )


def without_output(sequence: CommitSequence, output: SequenceOutput) -> CommitSequence:
    """Return the sequence without the steps and the result of an output; watermarks still move."""
    steps = (_without(step, output) for step in sequence.steps if not output.step.owns(step))
    return msgspec.structs.replace(
        sequence,
        datasets=tuple(name for name in sequence.datasets if name != output.dataset),
        steps=tuple(step for step in steps if step is not None),
        result=tuple(part for part in sequence.result if part not in output.parts),
    )


def steps_of(sequence: CommitSequence, output: SequenceOutput) -> tuple[CommitStep, ...]:
    """Return the steps that concern an output alone."""
    return tuple(step for step in sequence.steps if output.step.owns(step))


def _parts(sequence: CommitSequence, dataset: str) -> tuple[PublishedPartition, ...]:
    """Return the partitions of a dataset, which the result names without its app."""
    name = name_of(dataset)
    return tuple(part for part in sequence.result if part.dataset == name)


def _without(step: CommitStep, output: SequenceOutput) -> CommitStep | None:
    if not isinstance(step, ReportEvent):
        return step
    others = tuple(fact for fact in step.partitions if fact.dataset != output.dataset)
    return msgspec.structs.replace(step, partitions=others) if others else None
