"""The rule for `output_partition`: the partitions of its outputs that a run writes.

The default follows from the trigger and the outputs (docs/rules.md, "What a run writes"):

    no output has partitions                                     none
    for_each                                                     key
    partitions and size triggers like every output               manifest
    a run trigger whose program writes a dataset like them       run
    a clock, and outputs with time partitions only               business_date
    outputs with time partitions only                            current
    anything else                                                refused

A run without a partition to write cannot be launched (`scheduler.decision.launch.check`).
"""

from collections.abc import Iterator

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.rules.references import RUN_OUTPUT
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import (
    Day,
    OutputPartition,
    PartitionScheme,
    Program,
    TimeDimension,
    Trigger,
    leaves,
)
from tidegate.domain.partition_key import same_partitions
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.time.calendar import has_every_week
from tidegate.domain.wording import shown

_HINTS: dict[str, str] = {
    "key": "partition the outputs by the keys of `for_each`, or write another `output_partition`",
    "manifest": "delete `output_partition`, or partition the outputs like the datasets of the trigger",
    "run": "name a dataset with the same partitions as the outputs, or delete `output_partition`",
    "business_date": "delete `output_partition`; it needs a clock, and outputs with time partitions only",
    "business_day": "partition the outputs by the day, or write `output_partition: business_date`",
    "current": "delete `output_partition`; it needs outputs with time partitions only",
    "none": "delete `output_partition`; `none` is for outputs without partitions",
    "default": "write `for_each`, or wait for a dataset or a run with the same partitions as the outputs",
}

_DEFAULTS: tuple[OutputPartition, ...] = ("manifest", "run", "business_date", "current")
"""In this order, where there is no `for_each`."""


def output_partition(
    wanted: str,
    program: Program,
    trigger: Trigger,
    for_each: str | None,
    place: Place,
    scope: Scope,
) -> OutputPartition:
    """Return the kind of output partition of a schedule.

    Args:
        wanted: the value in the YAML; "" without one; "trigger.run.outputs.DATASET" for those of a dataset.
        place: where to report an impossible value.
    """
    if not scope.datasets.keys() >= set(program.writes):
        return "none"
    schemes = list(program.schemes(scope.datasets))
    if wanted.startswith(RUN_OUTPUT):
        return _from_run(wanted.removeprefix(RUN_OUTPUT), program, trigger, schemes, place, scope)
    by_time = bool(schemes) and all(s.time is not None and s.static is None for s in schemes)
    possible: dict[OutputPartition, bool] = {
        "key": bool(schemes) and for_each is not None and _key_fits(for_each, trigger, schemes, scope),
        "manifest": bool(schemes) and _manifest_fits(trigger, schemes, scope),
        "run": any(_all_like(name, schemes, scope) for name in _upstream_writes(trigger, scope)),
        "business_date": by_time and any(leaf.trigger.fires_by_clock for leaf in leaves(trigger)),
        "business_day": by_time and all(s.time is not None and s.time.cycle == "day" for s in schemes),
        "current": by_time,
        "none": not schemes,
    }
    for kind, fits in possible.items():
        if wanted == kind:
            if not fits:
                _refuse(kind, program, place, scope, wanted)
            elif kind == "business_day":
                _check_business_days(trigger, place, scope)
            return kind
    if not schemes:
        return "none"
    if for_each is not None:
        if not possible["key"]:
            _refuse("key", program, place, scope)
        return "key"
    for kind in _DEFAULTS:
        if possible[kind]:
            return kind
    _refuse("none", program, place, scope)
    return "none"


def _check_business_days(trigger: Trigger, place: Place, scope: Scope) -> None:
    """Report a cron whose calendar has a weekend of seven days: the last business day may be years ago."""
    crons = (leaf.trigger.wall_clock for leaf in leaves(trigger))
    for calendar in [cron.calendar for cron in crons if cron is not None]:
        if calendar is not None and not has_every_week(calendar):
            scope.findings.add(
                "L417",
                place,
                f'`business_day` needs business days in every week, got calendar "{calendar.name}" with a'
                " weekend of seven days",
                "choose another calendar, or write `output_partition: business_date`",
            )


def _from_run(
    dataset: str,
    program: Program,
    trigger: Trigger,
    schemes: list[PartitionScheme],
    place: Place,
    scope: Scope,
) -> OutputPartition:
    """Return `run`, and report where no upstream run can have written partitions of the outputs."""
    written = set(_upstream_writes(trigger, scope))
    if dataset not in written:
        scope.findings.add(
            "L411",
            place,
            f"the partitions of {shown(dataset)} need a `run` of a program that writes it in the trigger",
            did_you_mean(dataset, sorted(written), "datasets") if written else _HINTS["run"],
        )
    elif not _all_like(dataset, schemes, scope):
        _refuse("run", program, place, scope, RUN_OUTPUT + dataset)
    return "run"


def _key_fits(for_each: str, trigger: Trigger, schemes: list[PartitionScheme], scope: Scope) -> bool:
    if for_each != "partition":
        weeks: frozenset[Day] = _weeks(trigger, scope) if for_each == "week" else frozenset()
        return all(
            s.static is None
            and s.time is not None
            and s.time.cycle == for_each
            and weeks <= {s.time.week_starts}
            for s in schemes
        )
    return _manifest_fits(trigger, schemes, scope)


def _weeks(trigger: Trigger, scope: Scope) -> frozenset[Day]:
    """Return the days on which the weeks of the collected datasets begin."""
    collected = (scope.datasets.get(leaf.trigger.dataset_collected or "") for leaf in leaves(trigger))
    schemes = (dataset.partitions for dataset in collected if dataset is not None)
    return frozenset(s.time.week_starts for s in schemes if s is not None and s.time is not None)


def _manifest_fits(trigger: Trigger, schemes: list[PartitionScheme], scope: Scope) -> bool:
    """Return whether every key that the trigger can collect is a key of every output."""
    collected = (leaf.trigger.dataset_collected for leaf in leaves(trigger))
    inputs = [name for name in collected if name in scope.datasets]
    return bool(inputs) and all(_all_like(name, schemes, scope) for name in inputs)


def _all_like(dataset: str, schemes: list[PartitionScheme], scope: Scope) -> bool:
    """Return whether every output has the same partitions as a dataset."""
    like = scope.datasets[dataset].partitions
    return bool(schemes) and all(same_partitions(like, scheme) for scheme in schemes)


def _upstream_writes(trigger: Trigger, scope: Scope) -> Iterator[str]:
    for leaf in leaves(trigger):
        name = leaf.trigger.program_collected
        writes = () if name is None else scope.programs[name].writes
        yield from (dataset for dataset in writes if dataset in scope.datasets)


def _refuse(
    kind: OutputPartition, program: Program, place: Place, scope: Scope, written: str | None = None
) -> None:
    cuts = [f"{each.name} {_cut(each.partitions)}" for each in program.outputs(scope.datasets)]
    got = ", ".join(cuts) or "a program that writes nothing"
    if kind == "business_day":
        summary = f"`business_day` is the last business day before, got {got}"
        scope.findings.add("L417", place, summary, _HINTS[kind])
        return
    if kind == "none":
        scope.findings.add(
            "L417",
            place,
            f"a run must know which partitions of its outputs it writes, got {got}",
            _HINTS["none" if written else "default"],
        )
        return
    scope.findings.add(
        "L404",
        place,
        f"a run cannot write the partition `{written or kind}` of its outputs, got {got}",
        _HINTS[kind],
    )


def _cycle_text(time: TimeDimension) -> str:
    return f"week from {time.week_starts}" if time.cycle == "week" else time.cycle


def _cut(scheme: PartitionScheme | None) -> str:
    if scheme is None:
        return "without partitions"
    parts = [f"each {_cycle_text(scheme.time)}"] if scheme.time else []
    return "for " + " and ".join([*parts, f"each {scheme.static.name}"] if scheme.static else parts)
