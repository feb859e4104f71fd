"""The rules for references in `args` and in the config of a job: value and source of each exist.

    scheduled_time                              a cron, or a task
    business_date, business_dates               a cron, `output_partition: business_date`, or a task
    key                                         for_each
    trigger.partitions[.DATASET]                partitions or size, over partitions
    trigger.bytes, trigger.rows                 partitions or size
    trigger.count, trigger.first_event_time     any trigger
    trigger.run.id, .program, .status           run
    trigger.run.args.NAME                       run
    trigger.run.outputs.DATASET                 run of a program that writes it
    trigger.NAME.run.id and so on               a member with `as: NAME`, whose events alone count
    args.NAME                                   in the config of a job: an argument of that name

What is about a run must be about one program: with several, the reference names a member.
`compiler.template` parses them; `scheduler.decision.launch.references` computes their values.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.others import Others
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.template import OPENING, TemplateError, parse
from tidegate.domain.model import (
    App,
    Schedule,
    Trigger,
    leaves,
    named_members,
)
from tidegate.domain.part_name import is_of_other
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import listed, shown

RUN_ARGUMENT = "trigger.run.args."
RUN_OUTPUT = "trigger.run.outputs."
PARTITIONS_OF = "trigger.partitions."

REFERENCES = (
    "scheduled_time",
    "business_date",
    "business_dates",
    "key",
    "trigger.partitions",
    "trigger.bytes",
    "trigger.rows",
    "trigger.count",
    "trigger.first_event_time",
    "trigger.run.id",
    "trigger.run.program",
    "trigger.run.status",
)
"""The references that do not end in a name of the user."""

OF_DATES = ("business_date", "business_dates")
"""The references to what the fires of a job are about."""

OF_TASKS = ("scheduled_time", *OF_DATES)
"""The references that an instance of a task has: it collects no events."""

_NO_ARGUMENTS = "add it to the `args` of the upstream schedule; where it is missing the value is null"

OF_RUN = "trigger.run."

WITH_NAME = (f"{PARTITIONS_OF}DATASET", f"{RUN_ARGUMENT}NAME", f"{RUN_OUTPUT}DATASET")


class Launch(NamedTuple):
    """A schedule or task, with its name in the YAML, and its arguments as they are written."""

    schedule: Schedule
    key: ScalarNode
    args: Node | None


ARGUMENT = "args."
"""In the config of a job: an argument of the schedule or task that launches it."""


def check_references(schedule: Schedule, node: Node | None, scope: Scope, *, of_config: bool = False) -> None:
    """Report unknown references, and references whose value no job of the schedule has.

    Args:
        node: the arguments of the schedule, or the config of the job that it launches.
    """
    for place, written in references_at(node, scope.findings):
        if scope.findings.full:
            return
        if of_config and written.startswith(ARGUMENT):
            _check_argument(schedule, place, written, scope)
            continue
        reference, trigger = _of_member(written, schedule.trigger)
        if reference not in REFERENCES and _family(reference) is None:
            known = [*_known(schedule.trigger), *([f"{ARGUMENT}NAME"] if of_config else ())]
            hint = _with_run(written, reference) or did_you_mean(written, known, "references")
            summary = f"a reference names a known value, got {shown(written)}"
            scope.findings.add("N308", place, summary, hint)
            continue
        lacking = _lacking(reference, schedule, trigger, scope)
        if lacking is not None:
            needs, hint = lacking
            got = "a task" if schedule.task is not None else "a schedule"
            got = schedule.name if of_config else got
            summary = f"`{written}` needs {needs}, got {got} without it"
            scope.findings.add("L411", place, summary, hint)
            continue
        _check_unambiguous(place, written, reference, trigger, scope)


def _check_argument(schedule: Schedule, place: ScalarNode, written: str, scope: Scope) -> None:
    """Report a reference to an argument that the schedule does not have."""
    name, known = written.removeprefix(ARGUMENT), sorted(schedule.args)
    if name not in known:
        summary = f"what launches the program has the argument {shown(name)}, got {schedule.name} without it"
        hint = did_you_mean(name, known, "arguments") if known else f"add `args` to {schedule.name}"
        scope.findings.add("N308", place, summary, hint)


def _with_run(written: str, reference: str) -> str | None:
    """Return the hint for a fact of a run that is named without `run`; None for any other reference."""
    fact = reference.removeprefix("trigger.")
    longer = f"{OF_RUN}{fact}"
    if longer not in REFERENCES and _family(longer) is None:
        return None
    return f"write {{{{ {written.removesuffix(fact)}run.{fact} }}}}"


def _known(trigger: Trigger) -> list[str]:
    """Return all references, those to named members too."""
    values = [*REFERENCES, *WITH_NAME]
    return values + [
        value.replace("trigger.", f"trigger.{name}.", 1)
        for name, _, _ in named_members(trigger)
        for value in values
        if value.startswith("trigger.")
    ]


def check_member_names(trigger: MappingNode, findings: Findings) -> None:
    """Report a name that two members of a trigger have."""
    first: dict[str, Node] = {}
    for place in (node.get("as") for node in nested_triggers(trigger)):
        if not isinstance(place, ScalarNode):
            continue
        name = str(place.value)
        if name in first:
            summary = f"each member of a trigger has a name of its own, got {shown(name)} again"
            related = (Related(at=findings.at(first[name]), note="the first member of this name"),)
            findings.add("N315", place, summary, "rename one of them", related)
        first.setdefault(name, place)


def nested_triggers(node: MappingNode) -> list[MappingNode]:
    """Return a trigger and the triggers inside it, in the order of the YAML."""
    members = [member for key in ("all", "any", "sequence") for member in node.items(key)]
    inner = node.mapping("at_least")
    members += () if inner is None else inner.items("of")
    inside = [member for member in members if isinstance(member, MappingNode)]
    return [node, *(found for member in inside for found in nested_triggers(member))]


def _of_member(written: str, trigger: Trigger) -> tuple[str, Trigger]:
    """Return a reference without the name of a member, and the trigger whose events it is about."""
    start, _, rest = written.partition(".")
    name, _, value = rest.partition(".")
    members = {name: member for name, _, member in named_members(trigger)}
    if start == "trigger" and value and name in members:
        return f"trigger.{value}", members[name]
    return written, trigger


def _check_unambiguous(
    place: ScalarNode, written: str, reference: str, trigger: Trigger, scope: Scope
) -> None:
    """Report a reference to a run of which the trigger knows several: they end in any order."""
    upstream = _collected(trigger).programs
    if reference.startswith(RUN_OUTPUT):
        dataset = reference.removeprefix(RUN_OUTPUT)
        upstream = frozenset(name for name in upstream if dataset in scope.programs[name].writes)
    if not reference.startswith(OF_RUN) or len(upstream) < 2:
        return
    named = [
        name
        for name, _, member in named_members(trigger)
        if member is not trigger and len(_collected(member).programs) == 1
    ]
    value = reference.removeprefix("trigger.")
    hint = f"name the member with `as: NAME` beside its `run`, and write {{{{ trigger.NAME.{value} }}}}"
    if named:
        hint = "write " + " or ".join(f"{{{{ trigger.{name}.{value} }}}}" for name in named)
    summary = f"`{written}` is about one upstream program, got {listed(sorted(upstream))}"
    scope.findings.add("N314", place, summary, hint)


def check_upstream_arguments(
    app: App,
    written: Iterable[tuple[Schedule, Node | None]],
    findings: Findings,
    others: Others | None = None,
) -> None:
    """Warn of references to upstream arguments that no schedule of the upstream programs has.

    Args:
        written: schedules with the arguments, or the config, to check.
        others: the other apps; without them, the arguments of their schedules are not known.
    """
    handed_over: defaultdict[str, set[str]] = defaultdict(set)
    for schedule in app.schedules.values():
        handed_over[schedule.program].update(schedule.args)
    for schedule, node in written:
        for place, text in references_at(node, findings):
            reference, trigger = _of_member(text, schedule.trigger)
            upstream = sorted(_collected(trigger).programs)
            if not reference.startswith(RUN_ARGUMENT):
                continue
            if others is None and any(is_of_other(program) for program in upstream):
                continue
            known = set[str]().union(
                *(
                    others.arguments(program) if others and is_of_other(program) else handed_over[program]
                    for program in upstream
                )
            )
            listing = sorted(known)
            argument = reference.removeprefix(RUN_ARGUMENT)
            if upstream and argument not in known and not findings.full:
                summary = f"no schedule of {listed(upstream)} has this argument, got {shown(argument)}"
                hint = did_you_mean(argument, listing, "arguments") if known else _NO_ARGUMENTS
                findings.add("L412", place, summary, hint)


def references_at(node: Node | None, findings: Findings) -> Iterator[tuple[ScalarNode, str]]:
    """Yield the references in a tree with their texts; report texts that are not valid templates."""
    if isinstance(node, MappingNode):
        for member in node.values.values():
            yield from references_at(member, findings)
    elif isinstance(node, ScalarNode):
        if not isinstance(node.value, str) or OPENING not in node.value:
            return
        try:
            template = parse(node.value)
        except TemplateError as error:
            findings.add("V215", node, error.message, error.hint)
            return
        for reference in template.references:
            yield node, reference
    elif node is not None:
        for member in node.items:
            yield from references_at(member, findings)


def _family(reference: str) -> str | None:
    """Return the prefix of a reference that ends in a name of the user, else None."""
    families = (PARTITIONS_OF, RUN_ARGUMENT, RUN_OUTPUT)
    return next((f for f in families if reference.startswith(f) and len(reference) > len(f)), None)


class _Collected(NamedTuple):
    """The datasets and the upstream programs whose events a trigger collects; whether it has a cron."""

    datasets: frozenset[str]
    programs: frozenset[str]
    cron: bool


def _collected(trigger: Trigger) -> _Collected:
    members = [leaf.trigger for leaf in leaves(trigger)]
    return _Collected(
        datasets=frozenset(m.dataset_collected for m in members if m.dataset_collected is not None),
        programs=frozenset(m.program_collected for m in members if m.program_collected is not None),
        cron=any(m.wall_clock is not None for m in members),
    )


def _lacking(reference: str, schedule: Schedule, trigger: Trigger, scope: Scope) -> tuple[str, str] | None:
    """Return what a reference needs and the schedule lacks, with a hint; None if nothing is missing."""
    if schedule.task is not None:
        hint = "a task has {{ scheduled_time }} and {{ business_date }}"
        return None if reference in OF_TASKS else ("a trigger that collects events", hint)
    collected = _collected(trigger)
    cut = sorted(name for name in collected.datasets if _cut(name, scope))
    if reference == "scheduled_time" and not collected.cron:
        return "a `cron` in the trigger", "use {{ trigger.first_event_time }}, or add a cron"
    dated = schedule.output_partition in ("business_date", "business_day") or collected.cron
    if reference in OF_DATES and not dated:
        return "a `cron` in the trigger", "use {{ trigger.partitions }} or {{ key }}, or add a cron"
    if reference == "key" and schedule.for_each is None:
        return "`for_each`", "use {{ trigger.partitions }}, or add `for_each`"
    if reference == "trigger.partitions" and not cut:
        return "`partitions` or `size` over a dataset with partitions", "delete the reference"
    if reference in ("trigger.bytes", "trigger.rows") and not collected.datasets:
        return "`partitions` or `size` in the trigger", "delete the reference"
    if reference.startswith("trigger.run.") and not collected.programs:
        return (
            "a `run` in the trigger",
            "wait for the run with `run: {program: ...}`, or delete the reference",
        )
    return _lacking_name(reference, cut, collected.programs, scope)


def _lacking_name(
    reference: str, cut: list[str], upstream: frozenset[str], scope: Scope
) -> tuple[str, str] | None:
    """Return as `_lacking`, for the references that end in the name of a dataset."""
    family = _family(reference)
    name = reference.removeprefix(family or "")
    if family == PARTITIONS_OF and name not in cut:
        return f"{shown(name)} with its partitions in the trigger", _dataset_hint(name, cut)
    if family == RUN_OUTPUT:
        programs = [scope.programs[program] for program in upstream if program in scope.programs]
        written = sorted({dataset for program in programs for dataset in program.writes})
        if name not in written:
            needs = f"a `run` of a program that writes {shown(name)}"
            return needs, _dataset_hint(name, written)
    return None


def _dataset_hint(name: str, known: list[str]) -> str:
    return did_you_mean(name, known, "datasets") if known else "delete the reference"


def _cut(name: str, scope: Scope) -> bool:
    """Return whether events of a dataset have partition keys."""
    dataset = scope.datasets.get(name)
    return dataset is not None and dataset.partitions is not None
