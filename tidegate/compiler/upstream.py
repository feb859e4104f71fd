"""The upstream tasks of every task: the names that `depends_on` has, and the tasks that are detected.

Without `depends_on` a task waits for the tasks that write a dataset which its program reads, and for the
source and external tasks of such a dataset. They may be in any app, of the files or of the store, so this
comes after all files are built. A program that reads what it writes is not detected as its own upstream.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from tidegate.compiler.builders.dependencies import DependsOn, Named, read_depends_on
from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.others import Others
from tidegate.compiler.values.texts import renamed_from
from tidegate.domain.model import App, Day, Dependency, Schedule, TaskTrigger
from tidegate.domain.part_name import app_of, is_of_other, name_in, whole_name
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import listed, shown

OUT_OF_NOTHING = "or write `depends_on` ([] to wait for nothing)"
OUT_OF_A_LIST = "and name it in `depends_on`; or write `{detected: false, add: [...]}` to wait for no more"
"""What else a task may say that reads what no task writes: without `depends_on`, and with a list there."""


class FileApp(NamedTuple):
    """The app of a file, with what its nodes are needed for."""

    root: MappingNode
    app: App
    findings: Findings


class Tasks:
    """The tasks of several apps, by whole name.

    Attributes:
        schedules: the tasks.
        broken: declared tasks that have errors: a reference to one of them is not reported.
    """

    def __init__(self, apps: Iterable[App], broken: frozenset[str] = frozenset()) -> None:
        self.schedules: dict[str, Schedule] = {}
        self.broken = broken
        self._of_dataset: defaultdict[str, list[str]] = defaultdict(list)
        for app in apps:
            for schedule in app.schedules.values():
                if schedule.task is not None:
                    self._add(app, schedule, schedule.task)

    def _add(self, app: App, schedule: Schedule, task: TaskTrigger) -> None:
        name = whole_name(app.name, schedule.name)
        self.schedules[name] = schedule
        program = app.programs.get(schedule.program)
        own = () if task.dataset is None else (task.dataset,)
        for dataset in own if program is None else program.writes:
            self._of_dataset[whole_name(app.name, dataset)].append(name)

    def upstream_of(self, schedule: Schedule, app: App) -> list[str]:
        """Return the tasks that write what a task reads, by whole name, sorted; not the task itself."""
        program = app.programs.get(schedule.program)
        reads = () if program is None else program.reads
        found = {task for name in reads for task in self._of_dataset.get(whole_name(app.name, name), ())}
        return sorted(found - {whole_name(app.name, schedule.name)})

    def unwritten(self, schedule: Schedule, app: App) -> tuple[str, ...]:
        """Return the datasets that a task reads and no task writes or provides, as its app names them."""
        program = app.programs.get(schedule.program)
        reads = () if program is None else program.reads
        return tuple(name for name in reads if not self._of_dataset.get(whole_name(app.name, name)))

    def names(self, app: str) -> list[str]:
        """Return the tasks of an app, without its name."""
        return [name_in(app, name) for name in self.schedules if app_of(name) == app]


def link_files(files: Sequence[FileApp], others: Others, *, everywhere: bool = True) -> list[App]:
    """Return the apps of the files, in their order, with the upstream tasks of each of their tasks.

    Args:
        everywhere: look for tasks in all apps of the store; else only if a file names one of its apps.
    """
    first: dict[str, App] = {}
    for file in files:
        first.setdefault(file.app.name, file.app)
    former = {name for file in files for name in renamed_from(file.root)}
    asked = any(_asks_store(file, first, everywhere=everywhere) for file in files)
    deployed = others.deployed() if asked else dict[str, App]()
    rest = [app for name, app in deployed.items() if name not in first and name not in former]
    broken = frozenset(whole_name(file.app.name, name) for file in files for name in _nodes(file.root))
    tasks = Tasks((*first.values(), *rest), broken)
    return [_linked(file, tasks) for file in files]


def _nodes(root: MappingNode) -> Mapping[str, MappingNode]:
    section = root.mapping("tasks")
    values = {} if section is None else section.values
    return {name: node for name, node in values.items() if isinstance(node, MappingNode)}


def _asks_store(file: FileApp, known: Mapping[str, App], *, everywhere: bool) -> bool:
    """Return whether a task of a file may wait for one of an app that is in no file."""
    for name, node in _nodes(file.root).items():
        written = read_depends_on(node, name, file.app.name)
        program = file.app.programs.get(node.text("program")) if written.detected else None
        reads = () if program is None else program.reads
        parts = (*(each.dependency.task for each in written.named), *written.dropped, *reads)
        if (everywhere and reads) or any(is_of_other(part) and app_of(part) not in known for part in parts):
            return True
    return False


def _linked(file: FileApp, tasks: Tasks) -> App:
    nodes = _nodes(file.root)
    if not nodes:
        return file.app
    schedules = dict(file.app.schedules)
    for name, node in nodes.items():
        schedule = schedules.get(name)
        if schedule is not None and schedule.task is not None:
            schedules[name] = link(schedule, node, file.app, tasks, file.findings)
    return msgspec.structs.replace(file.app, schedules=schedules)


def link(schedule: Schedule, node: MappingNode, app: App, tasks: Tasks, findings: Findings) -> Schedule:
    """Return a task with its upstream tasks; report names that are not known."""
    task = schedule.task
    assert task is not None, "only tasks have upstream tasks"
    # The builder knows the first day of the app's weeks.
    weeks: list[Day] = [each.week_starts for each in task.depends_on if each.period == "week"]
    written = read_depends_on(node, schedule.name, app.name, weeks[0] if weeks else "sun")
    named = _named(written.named, app, tasks, findings)
    detected = _detected(schedule, written, app, tasks, findings)
    runs = _is_list_of_runs(node, named, app, tasks)
    if written.detected or runs:
        ways = OUT_OF_A_LIST if runs else OUT_OF_NOTHING
        _warn_of_unwritten(schedule, node, app, tasks, findings, ways)
    added = {each.task for each in named}
    found = (*(each for each in detected if each.task not in added), *named)
    return msgspec.structs.replace(schedule, trigger=msgspec.structs.replace(task, depends_on=found))


def _detected(
    schedule: Schedule, written: DependsOn, app: App, tasks: Tasks, findings: Findings
) -> tuple[Dependency, ...]:
    names = [name_in(app.name, name) for name in tasks.upstream_of(schedule, app)] if written.detected else []
    for name, place in written.dropped.items():
        if name not in names and _known(name, place, app, tasks, findings):
            findings.add(
                "V209",
                place,
                f"`drop` takes away a detected task, got {shown(place.value)}, which is not detected",
                "delete it",
            )
    kept = sorted(name for name in names if name not in written.dropped)
    return tuple(Dependency(task=name, detected=True) for name in kept)


def _is_list_of_runs(node: MappingNode, named: tuple[Dependency, ...], app: App, tasks: Tasks) -> bool:
    """Return whether `depends_on` lists tasks, and neither a source nor an external one.

    An empty list says that nothing is waited for, and so does `detected: false`.
    """
    if node.mapping("depends_on") is not None or not named:
        return False
    known = [tasks.schedules.get(whole_name(app.name, each.task)) for each in named]
    return all(task is not None and task.as_task.launches for task in known)


def _warn_of_unwritten(
    schedule: Schedule, node: MappingNode, app: App, tasks: Tasks, findings: Findings, ways: str
) -> None:
    """Warn of a task that reads what no task writes: it does not wait for that."""
    unwritten = tasks.unwritten(schedule, app)
    if not unwritten:
        return
    dataset = app.datasets.get(unwritten[0])
    time = None if dataset is None or dataset.partitions is None else dataset.partitions.time
    cycle = schedule.as_task.cycle if time is None else time.cycle
    place = node.values.get("program", node)
    findings.add(
        "L447",
        place,
        f"a task waits for the tasks that write what it reads, got {listed(unwritten, 'and')}, written by no"
        " task: its instances run at their start times, whether that data is there or not",
        f"declare a source, `{{type: source, dataset: {unwritten[0]}, cycle: {cycle}, update: outside,"
        f" status: active}}`, {ways}",
    )


def _named(named: tuple[Named, ...], app: App, tasks: Tasks, findings: Findings) -> tuple[Dependency, ...]:
    first: dict[Dependency, Named] = {}
    for each in named:
        earlier = first.setdefault(each.dependency, each)
        if earlier is not each:
            findings.add(
                "L444",
                each.place,
                f"an upstream task is named once, got {shown(each.place.value)} again",
                "delete one of the two",
                (Related(at=findings.at(earlier.place), note="the first one is here"),),
            )
        elif not each.dependency.itself:
            _known(each.dependency.task, each.place, app, tasks, findings)
    return tuple(first)


def _known(name: str, place: ScalarNode, app: App, tasks: Tasks, findings: Findings) -> bool:
    """Return whether a task exists; report one that does not, unless it is declared with errors."""
    whole = whole_name(app.name, name)
    if whole in tasks.schedules:
        return True
    if whole in tasks.broken or findings.full:
        return False
    if name in app.schedules:
        hint = f"{name} is a schedule: wait for a task that writes the same dataset"
    elif is_of_other(name):
        hint = _hint_of_other(name, tasks)
    else:
        hint = did_you_mean(name, tasks.names(app.name), "tasks")
    where = f"app {app_of(name)}" if is_of_other(name) else "`tasks`"
    findings.add(
        "N316", place, f"an upstream task must be declared in {where}, got {shown(place.value)}", hint
    )
    return False


def _hint_of_other(name: str, tasks: Tasks) -> str:
    names = [whole_name(app_of(name), each) for each in tasks.names(app_of(name))]
    if not names:
        return f"no task of app {app_of(name)} is in these files or in the store; deploy it first"
    return did_you_mean(name, names, "tasks")


def stages(app: App, named: Sequence[App], apps: Mapping[str, App]) -> tuple[App, ...]:
    """Return the other apps that an app names, with the tasks for which its tasks wait, directly or not.

    Args:
        named: the other apps of which it names parts.
        apps: all apps, by name, with their tasks.
    """
    wanted: dict[str, dict[str, Schedule]] = {}
    waiting = [(app, schedule) for schedule in app.schedules.values()]
    seen: set[str] = set()
    while waiting:
        holder, schedule = waiting.pop()
        for each in schedule.task.depends_on if schedule.task is not None else ():
            whole = whole_name(holder.name, each.task)
            other = apps.get(app_of(whole))
            upstream = None if other is None else other.schedules.get(name_in(app_of(whole), whole))
            if other is None or upstream is None or whole in seen:
                continue
            seen.add(whole)
            waiting.append((other, upstream))
            if other.name != app.name:
                wanted.setdefault(other.name, {})[upstream.name] = upstream
    found = {each.name: each for each in named}
    for name, schedules in wanted.items():
        base = found.get(name, apps[name])
        found[name] = msgspec.structs.replace(base, schedules=schedules)
    return tuple(found[name] for name in sorted(found))
