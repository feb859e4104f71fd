"""The partitions of a program against those of its job: whether each key of the program is a key of the job.

the same cycle, timezone and keys, and a start that is not earlier     all keys of the program are there
a part of the keys of a list                                          likewise
keys that the job gets while it is at work                            not known, and no fault

and whether a run may have the several partitions that a schedule launches at once.
"""

from collections.abc import Iterator, Mapping

from dagster import (
    DynamicPartitionsDefinition,
    MultiPartitionsDefinition,
    PartitionsDefinition,
    StaticPartitionsDefinition,
    TimeWindowPartitionsDefinition,
)

from tidegate.dagster_defs.compare.question import Fault, Key, Question
from tidegate.dagster_defs.deployed.partitions import CLOCKS, partitions_of
from tidegate.dagster_defs.existing.loaded import Target
from tidegate.dagster_defs.existing.request import KEYS_SHOWN, Cut
from tidegate.domain.time.cycle import DAYS_OF_WEEK
from tidegate.domain.wording import first_of, listed


def partition_faults(question: Question, theirs: PartitionsDefinition | None) -> Iterator[Fault]:
    """Yield what is other between the partitions of a program and of its job."""
    title = question.existing.title
    if theirs is None:
        for scheme in question.schemes[:1]:
            summary = f"{title} has no partitions, got {described(partitions_of(scheme))}"
            hint = "delete `partitions`, or write datasets without partitions"
            yield Fault(code="N336", key="partitions", summary=summary, hint=hint)
        return
    if not question.schemes:
        summary = f"a run of {title} has one of its partitions, {described(theirs)}, got none"
        yield Fault(code="N336", key="partitions", summary=summary, hint=_hint(question, theirs))
        return
    for scheme in question.schemes:
        ours = partitions_of(scheme)
        if not _has_all(theirs, ours):
            summary = f"the partitions of {title} are {described(theirs)}, got {described(ours)}"
            yield Fault(code="N336", key="partitions", summary=summary, hint=_hint(question, theirs))
            return


def range_faults(question: Question, target: Target, cut: Cut) -> Iterator[Fault]:
    """Yield that a schedule may launch several partitions at once, where a run has one of them."""
    if not question.several or cut.definition is None or cut.ranges:
        return
    why = f"a run of {target.title} has one partition"
    if cut.without_ranges:
        without = first_of(cut.without_ranges, KEYS_SHOWN)
        why = f"{why}, because {without} has no BackfillPolicy.single_run()"
    word = "schedule" if len(question.several) == 1 else "schedules"
    summary = f"{why}, got several by {word} {listed(question.several, 'and')}"
    hint = "write `for_each: partition` in the schedule"
    if cut.without_ranges:
        hint = f"{hint}, or add the policy"
    key: Key = "job" if question.existing.job else "assets"
    yield Fault(code="L481", key=key, summary=summary, hint=hint)


def _has_all(theirs: PartitionsDefinition, ours: PartitionsDefinition) -> bool:
    """Return whether each key of one definition is a key of the other."""
    match theirs, ours:
        case DynamicPartitionsDefinition(), _:
            return not isinstance(ours, MultiPartitionsDefinition)
        case MultiPartitionsDefinition(), MultiPartitionsDefinition():
            one, other = dimensions(theirs), dimensions(ours)
            return one.keys() == other.keys() and all(_has_all(one[name], other[name]) for name in one)
        case TimeWindowPartitionsDefinition(), TimeWindowPartitionsDefinition():
            same = (theirs.cron_schedule, theirs.timezone, theirs.fmt) == (
                ours.cron_schedule,
                ours.timezone,
                ours.fmt,
            )
            return same and theirs.start.timestamp() <= ours.start.timestamp()
        case StaticPartitionsDefinition(), StaticPartitionsDefinition():
            return set(ours.get_partition_keys()) <= set(theirs.get_partition_keys())
        case _:
            return False


def dimensions(definition: MultiPartitionsDefinition) -> Mapping[str, PartitionsDefinition]:
    """Return the definitions of the dimensions by their names."""
    return {each.name: each.partitions_def for each in definition.partitions_defs}


def described(definition: PartitionsDefinition) -> str:
    """Return partitions in words."""
    match definition:
        case TimeWindowPartitionsDefinition():
            each = cycle_of(definition)
            length = f"each {each}" if each else f'each of cron "{definition.cron_schedule}"'
            return f"{length} from {_start(definition)} in {definition.timezone}"
        case MultiPartitionsDefinition():
            parts = (f"{name}: {described(each)}" for name, each in sorted(dimensions(definition).items()))
            return " and ".join(parts)
        case StaticPartitionsDefinition():
            return first_of(definition.get_partition_keys(), KEYS_SHOWN)
        case _:
            return "keys that are added"


def _hint(question: Question, theirs: PartitionsDefinition) -> str:
    if question.existing.partitions is None and question.schemes:
        return "correct `partitions` of the datasets that it writes, or those of the job"
    written = spelled(theirs)
    if written is None:
        return "correct the partitions of the job: they cannot be written as `partitions` here"
    return f"write `partitions: {{{written}}}`"


def spelled(definition: PartitionsDefinition) -> str | None:
    """Return the members of `partitions` that say the same; None if there are none."""
    match definition:
        case TimeWindowPartitionsDefinition():
            cycle = cycle_of(definition)
            if not cycle:
                return None
            zone = "" if definition.timezone == "UTC" else f", timezone: {definition.timezone}"
            day = definition.cron_schedule.split()[-1]
            begins = "" if cycle != "week" or day == "0" else f", week_starts: {DAYS_OF_WEEK[int(day)]}"
            return f"cycle: {cycle}, start: {_start(definition)}{zone}{begins}"
        case StaticPartitionsDefinition():
            return f"KEY: [{', '.join(definition.get_partition_keys()[:KEYS_SHOWN])}]"
        case MultiPartitionsDefinition():
            parts = {name: (each, spelled(each)) for name, each in sorted(dimensions(definition).items())}
            if any(text is None for _, text in parts.values()):
                return None
            return ", ".join(
                f"{name}: {{{text}}}"
                if isinstance(each, TimeWindowPartitionsDefinition)
                else str(text).replace("KEY", name)
                for name, (each, text) in parts.items()
            )
        case _:
            return None


def cycle_of(definition: TimeWindowPartitionsDefinition) -> str:
    """Return the cycle that has these partitions; "" if none has."""
    for cycle, clock in CLOCKS.items():
        crons = [clock.cron.format(week_starts=day) for day in range(len(DAYS_OF_WEEK))]
        if definition.cron_schedule in crons and definition.fmt == clock.format:
            return cycle
    return ""


def _start(definition: TimeWindowPartitionsDefinition) -> str:
    return definition.start.strftime(definition.fmt)
