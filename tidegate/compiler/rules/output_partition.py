"""The rule for `output_partition`: the partitions of its outputs that a run writes.

The default follows from the trigger and the outputs (docs/rules.md, "What a run writes"):

    no output has partitions                             none
    for_each                                             key
    partitions and size triggers like every output       manifest
    a clock, and outputs with time partitions only       business_date
    anything else                                        none
"""

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.rules.for_each import same_partitions
from tidegate.domain.model import (
    OutputPartition,
    PartitionScheme,
    Program,
    Trigger,
    leaves,
)

_HINTS: dict[str, str] = {
    "key": "write `output_partition: none`, or partition the outputs by the keys of `for_each`",
    "manifest": "delete `output_partition`, or partition the outputs like the datasets of the trigger",
    "business_date": "delete `output_partition`; it needs a clock, and outputs with time partitions only",
}


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
        wanted: the value in the YAML; "" without one.
        place: where to report an impossible value.
    """
    outputs = [scope.datasets[name].partitions for name in program.writes if name in scope.datasets]
    if len(outputs) < len(program.writes):
        return "none"
    schemes = [scheme for scheme in outputs if scheme is not None]
    possible: dict[OutputPartition, bool] = {
        "key": bool(schemes) and for_each is not None and _key_fits(for_each, trigger, schemes, scope),
        "manifest": bool(schemes) and _manifest_fits(trigger, schemes, scope),
        "business_date": bool(schemes)
        and any(leaf.trigger.fires_by_clock for leaf in leaves(trigger))
        and all(scheme.time is not None and scheme.static is None for scheme in schemes),
        "none": True,
    }
    for kind, fits in possible.items():
        if wanted == kind:
            if not fits:
                _refuse(kind, program, place, scope)
            return kind
    if not schemes:
        return "none"
    if for_each is not None:
        if not possible["key"]:
            _refuse("key", program, place, scope)
        return "key"
    return next(kind for kind in ("manifest", "business_date", "none") if possible[kind])


def _key_fits(for_each: str, trigger: Trigger, schemes: list[PartitionScheme], scope: Scope) -> bool:
    if for_each != "partition":
        return all(s.static is None and s.time is not None and s.time.cycle == for_each for s in schemes)
    return _manifest_fits(trigger, schemes, scope)


def _manifest_fits(trigger: Trigger, schemes: list[PartitionScheme], scope: Scope) -> bool:
    """Return whether every key that the trigger can collect is a key of every output."""
    collected = (leaf.trigger.dataset_collected for leaf in leaves(trigger))
    inputs = [scope.datasets[name].partitions for name in collected if name in scope.datasets]
    return bool(inputs) and all(same_partitions(one, other) for one in inputs for other in schemes)


def _refuse(kind: OutputPartition, program: Program, place: Place, scope: Scope) -> None:
    cuts = [f"{name} {_cut(scope.datasets[name].partitions)}" for name in program.writes]
    got = ", ".join(cuts) or "a program that writes nothing"
    scope.findings.add(
        "L404",
        place,
        f"a run cannot write the partition `{kind}` of its outputs, got {got}",
        _HINTS[kind],
    )


def _cut(scheme: PartitionScheme | None) -> str:
    if scheme is None:
        return "without partitions"
    parts = [f"each {scheme.time.cycle}"] if scheme.time else []
    return "for " + " and ".join([*parts, f"each {scheme.static.name}"] if scheme.static else parts)
