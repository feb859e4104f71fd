"""A commit sequence: all steps of one publish, in order.

The whole sequence is put into the store before its first step and removed after its last. Its id
comes from the cause (the job's key, or the id of a run started by hand), so a second
attempt of the same job finds the first one's sequence instead of creating another.
"""

import json
from typing import Any, cast

import msgspec

from tidegate.domain.published import PublishedPartition
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.step import CommitStep, decode_step, encode_step

READS = " <- "
"""Between a consumer and its source; no name of a dataset has spaces."""


class CommitSequence(Value, kw_only=True):
    """The steps of one publish.

    Attributes:
        id: commit id.
        datasets: the datasets written, as "app/name", and the watermarks moved, as `watermark_resource`
            names them; the next run that uses one of them finishes this sequence first.
        token: fencing token of the attempt that put it.
        staged: fencing token of the run that staged its output, if that is another: a person has released it.
        steps: in the order of execution.
        result: the published partitions, reported once every step is done.
    """

    id: str
    datasets: tuple[str, ...]
    token: int
    staged: int = 0
    steps: tuple[CommitStep, ...]
    result: tuple[PublishedPartition, ...]

    @property
    def tokens(self) -> frozenset[int]:
        """The tokens whose staging it needs."""
        return frozenset({self.token, self.staged} - {0})


def watermark_resource(consumer: str, source: str) -> str:
    """Return the name under which a sequence lists the watermarks of `consumer` in `source`.

    It differs from every dataset name. The next run of the consumer looks for it, as for its outputs.
    """
    return f"{consumer}{READS}{source}"


def is_watermark_resource(name: str) -> bool:
    """Return whether a name of a sequence's `datasets` is that of watermarks."""
    return READS in name


def encode_sequence(sequence: CommitSequence) -> str:
    """The sequence as JSON text."""
    return json.dumps(
        {
            "id": sequence.id,
            "datasets": list(sequence.datasets),
            "token": sequence.token,
            **({"staged": sequence.staged} if sequence.staged else {}),
            "steps": [encode_step(step) for step in sequence.steps],
            "result": msgspec.to_builtins(sequence.result),
        },
        sort_keys=True,
        ensure_ascii=False,
    )


def decode_sequence(body: str) -> CommitSequence:
    """Return the sequence that `encode_sequence` wrote.

    Raises:
        ValueError: another version of this program wrote it.
    """
    fields = cast(dict[str, Any], json.loads(body))
    return CommitSequence(
        id=fields["id"],
        datasets=tuple(fields["datasets"]),
        token=fields["token"],
        staged=fields.get("staged", 0),
        steps=tuple(decode_step(step) for step in fields["steps"]),
        result=msgspec.convert(fields["result"], tuple[PublishedPartition, ...]),
    )


def encode_result(result: tuple[PublishedPartition, ...]) -> str:
    """A result as JSON text."""
    return msgspec.json.encode(result).decode()


def decode_result(text: str) -> tuple[PublishedPartition, ...]:
    """The result that `encode_result` wrote."""
    return msgspec.json.decode(text, type=tuple[PublishedPartition, ...])
