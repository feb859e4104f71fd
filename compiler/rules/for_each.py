"""`for_each`: every member of the trigger must have a key, and the keys must be able to meet.

`for_each: partition` takes the partition keys as they are, so all datasets of the trigger
must be cut alike. `for_each: day` maps finer keys to their day. A cron has no key; inside
`all` it counts for each (DESIGN rule 24).
"""

from compiler.build.scope import Scope
from compiler.cycle import CYCLES, nests_in
from compiler.diagnostic import Place
from compiler.model import (
    AllTrigger,
    Cycle,
    PartitionScheme,
    PartitionsTrigger,
    RunTrigger,
    Schedule,
    Trigger,
    leaves,
)


def same_partitions(one: PartitionScheme | None, other: PartitionScheme | None) -> bool:
    """Whether two datasets are cut into the same keys; where they begin does not matter."""
    if one is None or other is None:
        return False
    return _shape(one) == _shape(other)


def _shape(scheme: PartitionScheme) -> tuple[object, ...]:
    time = (scheme.time.name, scheme.time.cycle, scheme.time.timezone) if scheme.time else None
    static = (scheme.static.name, frozenset(scheme.static.keys)) if scheme.static else None
    # In one dimension the name is no part of the key.
    if static is None and time is not None:
        return time[1:]
    return static[1:] if time is None and static is not None else (time, static)


def check_for_each(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Reports every member of the trigger that cannot be evaluated for each key."""
    if schedule.for_each is None:
        return
    members = list(_members(schedule.trigger, inside_all=False))
    if not any(isinstance(member, PartitionsTrigger) for member, _ in members):
        scope.findings.add(
            "L402",
            place,
            f"`for_each: {schedule.for_each}` needs a member with keys, got a trigger without `partitions`",
            "delete `for_each`, or wait for the partitions that the run writes",
        )
        return
    for member, inside_all in members:
        if isinstance(member, PartitionsTrigger):
            _check_member(member, schedule.for_each, scope)
        elif isinstance(member, RunTrigger) or not inside_all:
            what = "a run" if isinstance(member, RunTrigger) else "a cron outside `all`"
            scope.findings.add(
                "L402",
                _place(member, place),
                f"with `for_each` every member has a key, got {what}",
                "wait for the partitions that it writes, put a cron into `all`, or delete `for_each`",
            )
    if schedule.for_each == "partition":
        _check_alike(schedule, place, scope)


def _members(trigger: Trigger, *, inside_all: bool) -> "list[tuple[Trigger, bool]]":
    if isinstance(trigger, PartitionsTrigger | RunTrigger) or not hasattr(trigger, "of"):
        return [(trigger, inside_all)]
    found: list[tuple[Trigger, bool]] = []
    for member in getattr(trigger, "of", ()):
        found.extend(_members(member, inside_all=isinstance(trigger, AllTrigger)))
    return found


def _place(trigger: Trigger, otherwise: Place) -> Place:
    return trigger.at if trigger.at is not None else otherwise


def _check_member(member: PartitionsTrigger, for_each: str, scope: Scope) -> None:
    dataset = scope.datasets.get(member.dataset)
    place = member.at
    if dataset is None or place is None:
        return
    scheme = dataset.partitions
    if scheme is None:
        scope.findings.add(
            "L402",
            place,
            f'with `for_each` every member has a key, got "{dataset.name}", a dataset without partitions',
            "give `partitions` to the dataset, or take the member out of the trigger",
        )
    elif member.keys:
        scope.findings.add(
            "V208",
            place,
            "`keys` names keys and `for_each` takes each by itself, got both",
            "delete `for_each`, or delete `keys` to take every key",
        )
    elif for_each == "partition":
        if member.complete is not None:
            _clash(place, for_each, member.complete, scope)
    elif scheme.time is None or not nests_in(scheme.time.cycle, _cycle(for_each)):
        got = f"one for each {scheme.time.cycle}" if scheme.time else "keys without time"
        scope.findings.add(
            "L408",
            place,
            f"a {for_each} is not made of the partitions of {dataset.name}, got {got}",
            "choose a longer cycle, or `for_each: partition`",
        )
    elif member.complete is not None and member.complete != for_each:
        _clash(place, for_each, member.complete, scope)


def _clash(place: Place, for_each: str, complete: Cycle, scope: Scope) -> None:
    scope.findings.add(
        "L408",
        place,
        f"`complete: {complete}` is judged for each {complete}, got `for_each: {for_each}`",
        f"write `for_each: {complete}`",
    )


def _cycle(for_each: str) -> Cycle:
    return next(cycle for cycle in CYCLES if cycle == for_each)


def _check_alike(schedule: Schedule, place: Place, scope: Scope) -> None:
    """With `for_each: partition` all datasets must have the same keys, or no key would ever meet."""
    first: tuple[str, PartitionScheme] | None = None
    for leaf in leaves(schedule.trigger):
        trigger = leaf.trigger
        dataset = scope.datasets.get(trigger.dataset) if isinstance(trigger, PartitionsTrigger) else None
        if dataset is None or dataset.partitions is None:
            continue
        if first is None:
            first = (dataset.name, dataset.partitions)
        elif not same_partitions(first[1], dataset.partitions):
            scope.findings.add(
                "L408",
                _place(trigger, place),
                f"`for_each: partition` needs the same partitions in every member, got {dataset.name}"
                f" beside {first[0]}, which is cut differently",
                "write a cycle that both can be mapped to, such as `for_each: day`",
            )
