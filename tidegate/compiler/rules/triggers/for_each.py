"""The rule for `for_each`: every member of the trigger must have a key, and the keys must match.

`for_each: partition` uses the partition keys, so all datasets of the trigger must have the same
partitions. `for_each: day` maps finer keys to their day. A cron has no key; inside `all` its fire
counts for each key (rule 24).
"""

from typing import Literal

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import (
    Composite,
    Cycle,
    Dataset,
    LeafTrigger,
    PartitionScheme,
    Schedule,
    TimeDimension,
    Trigger,
    leaves,
)
from tidegate.domain.partition_key import same_partitions
from tidegate.domain.time.cycle import nests_in
from tidegate.domain.wording import with_article

ForEach = Literal["partition"] | Cycle
"""The values of `for_each`."""


def check_for_each(schedule: Schedule, place: Place, scope: Scope) -> bool:
    """Return whether every member of the trigger can be evaluated for each key; reports those that cannot."""
    if schedule.for_each is None:
        return True
    members = _members(schedule.trigger, inside_all=False)
    if not any(member.has_keys for member, _ in members):
        scope.findings.add(
            "L402",
            place,
            f"`for_each: {schedule.for_each}` needs a member with keys, got neither `partitions` nor `size`",
            "delete `for_each`, or wait for the partitions that the run writes",
        )
        return False
    good = [_has_key(member, inside_all, schedule.for_each, place, scope) for member, inside_all in members]
    if not all(good):
        return False
    return (
        _alike(schedule, place, scope)
        if schedule.for_each == "partition"
        else _one_week(schedule, place, scope)
    )


def _has_key(member: LeafTrigger, inside_all: bool, for_each: ForEach, place: Place, scope: Scope) -> bool:
    if member.dataset_collected is not None:
        dataset = scope.datasets[member.dataset_collected]
        return _check_member(member, dataset, for_each, _place(member, place), scope)
    if member.wall_clock is not None and inside_all:
        return True
    what = member.noun if member.wall_clock is None else f"{member.noun} outside `all`"
    scope.findings.add(
        "L402",
        _place(member, place),
        f"with `for_each` every member has a key, got {what}",
        "wait for the partitions that it writes, put a cron into `all`, or delete `for_each`",
    )
    return False


def _members(trigger: Trigger, *, inside_all: bool) -> list[tuple[LeafTrigger, bool]]:
    """Return the leaves, each with whether its nearest composite is an `all`."""
    if not isinstance(trigger, Composite):
        return [(trigger, inside_all)]
    in_all = trigger.shares_fires
    return [found for member in trigger.of for found in _members(member, inside_all=in_all)]


def _place(trigger: LeafTrigger, otherwise: Place) -> Place:
    return trigger.at if trigger.at is not None else otherwise


def _check_member(
    member: LeafTrigger, dataset: Dataset, for_each: ForEach, place: Place, scope: Scope
) -> bool:
    scheme = dataset.partitions
    if scheme is None:
        scope.findings.add(
            "L402",
            place,
            f'with `for_each` every member has a key, got "{dataset.name}", a dataset without partitions',
            "give `partitions` to the dataset, or remove the member from the trigger",
        )
        return False
    if member.names_keys:
        scope.findings.add(
            "V208",
            place,
            "`keys` waits for several keys and `for_each` handles each key separately, got both",
            "delete `for_each`, or delete `keys` to handle every key",
        )
        return False
    if for_each != "partition" and not _mapped(scheme, for_each):
        got = f"one for each {scheme.time.cycle}" if scheme.time else "keys without time"
        scope.findings.add(
            "L408",
            place,
            f"{with_article(for_each)} is not made of the partitions of {dataset.name}, got {got}",
            "choose a longer cycle, or `for_each: partition`",
        )
        return False
    if member.period is not None and member.period != for_each:
        _clash(place, for_each, member.period, scope)
        return False
    return True


def _clash(place: Place, for_each: ForEach, complete: Cycle, scope: Scope) -> None:
    scope.findings.add(
        "L408",
        place,
        f"`complete: {complete}` is evaluated for each {complete}, got `for_each: {for_each}`",
        f"write `for_each: {complete}`",
    )


def _mapped(scheme: PartitionScheme, for_each: Cycle) -> bool:
    """Return whether each key of a scheme belongs to one period of the cycle."""
    return scheme.time is not None and nests_in(scheme.time.cycle, for_each)


def _one_week(schedule: Schedule, place: Place, scope: Scope) -> bool:
    """Return whether the weeks of all members begin on the same day, as `for_each: week` needs."""
    if schedule.for_each != "week":
        return True
    first: TimeDimension | None = None
    for leaf in leaves(schedule.trigger):
        dataset = scope.datasets.get(leaf.trigger.dataset_collected or "")
        time = None if dataset is None or dataset.partitions is None else dataset.partitions.time
        if dataset is None or time is None:
            continue
        if first is None:
            first = time
        elif first.week_starts != time.week_starts:
            scope.findings.add(
                "L408",
                _place(leaf.trigger, place),
                f"with `for_each: week` the weeks of every member begin on the same day,"
                f" got {dataset.name} with `week_starts: {time.week_starts}` beside {first.week_starts}",
                f"write `week_starts: {first.week_starts}` for {dataset.name}, or once for the app",
            )
            return False
    return True


def _alike(schedule: Schedule, place: Place, scope: Scope) -> bool:
    """Return whether all datasets have the same keys, as `for_each: partition` needs; report others."""
    first: tuple[str, PartitionScheme] | None = None
    good = True
    for leaf in leaves(schedule.trigger):
        dataset = scope.datasets.get(leaf.trigger.dataset_collected or "")
        if dataset is None or dataset.partitions is None:
            continue
        if first is None:
            first = (dataset.name, dataset.partitions)
        elif not same_partitions(first[1], dataset.partitions):
            good = False
            scope.findings.add(
                "L408",
                _place(leaf.trigger, place),
                f"`for_each: partition` needs the same partitions in every member, got {dataset.name}"
                f" beside {first[0]}, which has other partitions",
                "write a cycle to which both can be mapped, such as `for_each: day`",
            )
    return good
