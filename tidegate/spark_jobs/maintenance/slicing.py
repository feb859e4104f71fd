"""Cuts the work of an operation into slices, each of which ends with a commit. Pure.

Slices are about equally large, at most as many as the option `max_commits` says, and not smaller than
`LEAST_SLICE_BYTES`: each commit adds a snapshot or a version, so small tables are compacted by one.
"""

from collections.abc import Sequence
from typing import Protocol, TypeVar

GIGABYTE = 1_000_000_000
LEAST_SLICE_BYTES = GIGABYTE


class Sized(Protocol):
    """A part of the work that cannot be cut further."""

    @property
    def bytes(self) -> int: ...


Part = TypeVar("Part", bound=Sized)


def slices(parts: Sequence[Part], commits: int) -> list[list[Part]]:
    """Cut parts, in their order, into slices.

    Args:
        commits: the most slices.
    """
    budget = max(sum(part.bytes for part in parts) / commits, LEAST_SLICE_BYTES)
    found: list[list[Part]] = []
    so_far = 0
    for part in parts:
        if not found or so_far >= budget:
            found.append([])
            so_far = 0
        found[-1].append(part)
        so_far += part.bytes
    return found
