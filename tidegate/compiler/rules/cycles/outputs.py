"""The rule for the partitions that a run of a task writes: those that contain its business date.

So every output is partitioned by time alone, in the unit of the business date (a minute, an hour or a day) or
coarser, or has no partitions. A week task that writes weeks runs on the day on which they begin: its
business date is then the last day of the week before.
"""

from tidegate.compiler.reader.node import Node, ScalarNode
from tidegate.compiler.rules.times.not_begun import check_task_begun
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import (
    Dataset,
    OutputPartition,
    PartitionScheme,
    Program,
    TaskTrigger,
)
from tidegate.domain.tasks.key import unit_of
from tidegate.domain.time.cycle import is_finer
from tidegate.domain.wording import listed, with_article


def task_output_partition(
    written: Node | None, key: ScalarNode, program: Program | None, trigger: TaskTrigger, scope: Scope
) -> OutputPartition:
    """Return the kind of output partition of a task; report outputs that it cannot write.

    Args:
        written: the value of `output_partition`, None without the key.
    """
    outputs = () if program is None else program.outputs(scope.datasets)
    cut = [(dataset, dataset.partitions) for dataset in outputs if dataset.partitions is not None]
    for dataset, scheme in cut:
        _check(dataset, scheme, key, trigger, scope)
    check_task_begun(trigger, outputs, key, scope)
    if written is not None and program is not None and not cut:
        scope.findings.add(
            "L404",
            written,
            "`business_date` needs outputs with partitions, got a program that writes none",
            "delete `output_partition`",
        )
    return "business_date" if cut else "none"


def _check(
    dataset: Dataset, scheme: PartitionScheme, key: ScalarNode, trigger: TaskTrigger, scope: Scope
) -> None:
    unit = unit_of(trigger)
    if scheme.static is not None or scheme.time is None:
        names = scheme.static.name if scheme.static is not None else ""
        scope.findings.add(
            "L404",
            key,
            f"a run of a task writes the partition of its business date, got {dataset.name}"
            f" with partitions for each {names}",
            f"partition {dataset.name} by time alone, or run its program by a schedule",
        )
    elif is_finer(scheme.time.cycle, unit):
        scope.findings.add(
            "L404",
            key,
            f"the business date of a task with `cycle: {trigger.cycle}` is {with_article(unit)}, got"
            f" {dataset.name} with a partition for each {scheme.time.cycle}",
            f"partition {dataset.name} by {unit} or coarser, or choose `cycle: {scheme.time.cycle}`",
        )
    elif trigger.cycle == "week" and scheme.time.cycle == "week":
        begins = scheme.time.week_starts
        others = [day for day in trigger.times.weekdays if day != begins]
        if others:
            scope.findings.add(
                "L445",
                key,
                "a task that writes whole weeks runs on the day on which they begin, got"
                f" {listed(others, 'and')} for {dataset.name} with weeks from {begins}",
                f"write weekdays: [{begins}], or week_starts: {others[0]} for {dataset.name}",
            )
