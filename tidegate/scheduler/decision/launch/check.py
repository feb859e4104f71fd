"""Launch check: whether a run can write the partitions that a launch plans for it.

The one place that says so. The dispatcher asks before a request goes to Dagster, the simulation before
it makes a run, and `tidegate schedules trigger` before it opens a job, so none of them accepts what
another refuses. Lint refuses before that whatever follows from the text of a schedule alone
(`compiler.rules.datasets.output_partition`). Pure.

    the outputs have partitions, the run would write none         never possible
    the outputs have no partitions, the run would write some      never possible
    a key that the outputs do not have, or before their `start`   never possible
    a key of a period that has not begun                          possible later
    the program is not part of the app                            possible after a reload
"""

from collections.abc import Collection, Iterator
from datetime import datetime

from tidegate.domain.model import App, PartitionScheme
from tidegate.domain.part_name import name_of
from tidegate.domain.partition_key import not_begun, validate_key
from tidegate.domain.value import Value
from tidegate.domain.wording import first_of

KEYS_SHOWN = 5
"""A message names at most so many keys."""


class ImpossibleLaunch(Value, kw_only=True):
    """Why a run cannot be launched as planned.

    Attributes:
        message: for people.
        final: neither time nor a reload of the definitions makes the launch possible.
    """

    message: str
    final: bool


def check_launch(
    app: App | None, ref: str, partitions: tuple[str, ...], now: datetime
) -> ImpossibleLaunch | None:
    """What is wrong with a launch at `now`, or None.

    The running period may be written, and none after it: these are the partitions that Dagster has.

    Args:
        app: with its datasets and programs; None for an app that is not known.
        ref: "app/program".
        partitions: the keys that the run is to write.
    """
    program = None if app is None else app.programs.get(name_of(ref))
    if app is None or program is None:
        message = f"program {ref} is not loaded in Dagster; reload the code location"
        return ImpossibleLaunch(message=message, final=False)
    schemes = program.schemes(app.datasets)
    if not schemes:
        if not partitions:
            return None
        message = f"the outputs of {ref} have no partitions, got {first_of(partitions, KEYS_SHOWN)}"
        return ImpossibleLaunch(message=message, final=True)
    if not partitions:
        message = (
            f"the outputs of {ref} have partitions, but the run would write none;"
            " set output_partition of the schedule"
        )
        return ImpossibleLaunch(message=message, final=True)
    return next(_wrong_keys(ref, schemes, partitions, now), None)


def _wrong_keys(
    ref: str, schemes: Collection[PartitionScheme], partitions: tuple[str, ...], now: datetime
) -> Iterator[ImpossibleLaunch]:
    for scheme in schemes:
        faults = {key: fault for key in partitions if (fault := validate_key(scheme, key)) is not None}
        if faults:
            first = next(iter(faults.values()))
            message = f"{ref} has no partition {first_of(tuple(faults), KEYS_SHOWN)}: {first}"
            yield ImpossibleLaunch(message=message, final=True)
    for scheme in schemes:
        early = tuple(key for key in partitions if not_begun(scheme, key, now))
        if early:
            message = f"{ref} has no partition {first_of(early, KEYS_SHOWN)} yet: its period has not begun"
            yield ImpossibleLaunch(message=message, final=False)
