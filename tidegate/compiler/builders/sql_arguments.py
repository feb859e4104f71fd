"""The arguments of schedules and tasks that launch SQL programs, judged by the parameters of the queries.

`:NAME` is an arg of what launches the program, or one of the parameters that every run has. A parameter that
nothing gives is a mistake in the query; one that a schedule gives and another lacks is one of the other.
"""

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, Any

from tidegate.compiler.builders.sql_program import add_fault, sql_findings
from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.rules.references import Launch
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.template import Reference, TemplateError, parse
from tidegate.domain.model import Program, Schedule
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown

if TYPE_CHECKING:
    from tidegate.domain.sql.query import Query

_BOUND = "an arg of an SQL program is a text, a number, true, false, null or a list of one of them"


def check_sql_arguments(launches: Iterable[Launch], scope: Scope) -> None:
    """Report parameters without a value, and args that a query cannot have.

    Args:
        launches: the schedules of the app that are checked, tasks among them.
    """
    by_program: dict[str, list[Launch]] = {}
    for launch in launches:
        by_program.setdefault(launch.schedule.program, []).append(launch)
    for name, program in scope.programs.items():
        if not program.sql:
            continue
        mine = by_program.get(name, [])
        given = set[str]().union(*(each.schedule.args for each in mine))
        _check_parameters(program, [each.schedule for each in mine], given, scope)
        for launch in mine:
            _check_args(launch, scope)
            # What none of them gives is a mistake of the query.
            _check_given(launch, _parameters(program) & given, scope)


def check_sql_schedule(launch: Launch, scope: Scope) -> None:
    """Report the same for one schedule of a deployed app, whose queries are not judged again."""
    program = scope.programs.get(launch.schedule.program)
    if program is not None and program.sql:
        _check_args(launch, scope)
        _check_given(launch, _parameters(program), scope)


def _check_args(launch: Launch, scope: Scope) -> None:
    """Report args that have the name of a parameter of every run, or a value that cannot be bound."""
    from tidegate.domain.sql.parameters import OF_EVERY_RUN, wrong_values

    schedule, key, args = launch
    places = args.keys if isinstance(args, MappingNode) else {}
    for name in schedule.args:
        if name in OF_EVERY_RUN:
            summary = f"every run of an SQL program has the parameter `:{name}`, got an arg of this name"
            scope.findings.add("V262", places.get(name, key), summary, "give the arg another name")
    for name, what in wrong_values(schedule.args):
        summary = f"{_BOUND}, got {what}"
        hint = f"write the members that the query needs as args of their own, in place of {shown(name)}"
        scope.findings.add("V262", places.get(name, key), summary, hint)


def _check_parameters(program: Program, schedules: list[Schedule], given: set[str], scope: Scope) -> None:
    """Report, in the queries, parameters that nothing gives, and lists in `IN (…)`."""
    from tidegate.domain.sql.parameters import OF_EVERY_RUN, in_list_hint

    known = {*OF_EVERY_RUN, *given}
    lists = {name for name, kind in OF_EVERY_RUN.items() if kind == "list"}
    lists |= {name for each in schedules for name, value in each.args.items() if _is_list(value)}
    for query in program.sql:
        read = _query(query.text)
        findings = sql_findings(query.file, query.text, scope)
        for use in {use.name: use for use in reversed(read.parameters)}.values():
            if use.name not in known:
                what = f"`args` of what launches {program.name}, or one that every run has"
                summary = f"a parameter is one of the {what}, got :{use.name}"
                hint = did_you_mean(use.name, sorted(known), "parameters")
                add_fault(findings, query.text, use.fault("Q107", summary, hint))
        for use in read.alone_in:
            if use.name in lists:
                summary = f"a list is compared as a whole in IN, got IN (:{use.name})"
                add_fault(findings, query.text, use.fault("Q109", summary, in_list_hint(use.name)))


def _check_given(launch: Launch, parameters: Set[str], scope: Scope) -> None:
    """Report parameters of the queries that a schedule has to give and lacks."""
    schedule = launch.schedule
    for name in sorted(parameters - schedule.args.keys()):
        summary = f"the query of {schedule.program} has the parameter :{name}, got {schedule.name} without it"
        hint = f"add it to `args` of {schedule.name}: {name}: null where it has no value"
        scope.findings.add("Q108", launch.key, summary, hint)


def _parameters(program: Program) -> Set[str]:
    """Return the parameters of the queries, without those that every run has."""
    from tidegate.domain.sql.parameters import OF_EVERY_RUN

    used = {use.name for query in program.sql for use in _query(query.text).parameters}
    return used - OF_EVERY_RUN.keys()


def _query(text: str) -> "Query":
    from tidegate.domain.sql.query import read_query

    return read_query(text)


def _is_list(value: Any) -> bool:
    """Whether an arg is a list, or a reference whose value is one."""
    if isinstance(value, list | tuple):
        return True
    try:
        parts = parse(value).parts if isinstance(value, str) else ()
    except TemplateError:
        return False
    reference = parts[0] if len(parts) == 1 else ""
    if not isinstance(reference, Reference):
        return False
    steps = reference.name.split(".")
    return steps == ["business_dates"] or "partitions" in steps or "outputs" in steps
