"""The other apps that a file may name parts of: those of the other files, and those of the store.

A file is built after the parts of all files were read, so that the order of files does not matter. The
parts of another file are built here a second time, when a name needs them; its mistakes are reported once,
by its own build.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.domain.model import App, Dataset, Program
from tidegate.domain.model.others import renamed_datasets, renamed_programs
from tidegate.domain.part_name import SEPARATOR, app_of, is_of_other
from tidegate.domain.value import Value

Known = Callable[[], Mapping[str, App]]
"""Returns the deployed apps by name. It is called at most once, when a name is in no file."""


def nothing_known() -> Mapping[str, App]:
    """Return no apps: for checks without a store."""
    return {}


class OtherApp(Value, kw_only=True):
    """What another app offers.

    Attributes:
        app: the app; of a file without its schedules.
        broken: its parts with errors, for example "datasets.raw".
        arguments: the arguments that its schedules hand over, by program.
    """

    app: App
    broken: frozenset[str] = frozenset()
    arguments: dict[str, frozenset[str]] = {}

    def dataset(self, name: str) -> Dataset | None:
        """Return a dataset as other apps name it."""
        return dict(renamed_datasets(self.app)).get(name)

    def program(self, name: str) -> Program | None:
        """Return a program as other apps name it."""
        return dict(renamed_programs(self.app)).get(name)


@dataclass(kw_only=True, slots=True)
class Others:
    """The other apps by name.

    Attributes:
        files: builds the parts of the app of a file, by the app's name.
        known: the apps of the store; an app of a file comes first.
        asked: the names of those that were asked for since it was cleared.
    """

    files: Mapping[str, Callable[[], OtherApp]] = field(default_factory=dict[str, Callable[[], OtherApp]])
    known: Known = nothing_known
    asked: set[str] = field(default_factory=set[str])
    _built: dict[str, OtherApp | None] = field(default_factory=dict[str, OtherApp | None])
    _deployed: Mapping[str, App] | None = None

    def app(self, name: str) -> OtherApp | None:
        """Return another app; None if neither a file nor the store has it."""
        self.asked.add(name)
        if name not in self._built:
            self._built[name] = self.files[name]() if name in self.files else self._of_store(name)
        return self._built[name]

    def names(self) -> Collection[str]:
        """Return the names of all apps that can be named."""
        return sorted({*self.files, *self.deployed()})

    def arguments(self, program: str) -> frozenset[str]:
        """Return the arguments that schedules hand over to a program, by its whole name."""
        app, _, name = program.partition(SEPARATOR)
        other = self.app(app)
        return frozenset() if other is None else other.arguments.get(name, frozenset())

    def of_parts(self, names: Iterable[str]) -> tuple[App, ...]:
        """Return the apps of the parts of other apps among some names."""
        apps = sorted({app_of(name) for name in names if is_of_other(name)})
        return tuple(other.app for name in apps if (other := self.app(name)) is not None)

    def named(self) -> tuple[App, ...]:
        """Return the apps that were named so far, by name; those of files without their schedules."""
        return tuple(other.app for _, other in sorted(self._built.items()) if other is not None)

    def of_store(self) -> tuple[App, ...]:
        """Return the apps of the store that were named so far, by name."""
        return tuple(app for app in self.named() if app.name not in self.files)

    def deployed(self) -> Mapping[str, App]:
        """Return the apps of the store by name, with their schedules."""
        if self._deployed is None:
            self._deployed = self.known()
        return self._deployed

    def known_so_far(self) -> Mapping[str, App]:
        """Return the apps of the store that are in no file, if the store was looked at."""
        return {name: app for name, app in (self._deployed or {}).items() if name not in self.files}

    def _of_store(self, name: str) -> OtherApp | None:
        app = self.deployed().get(name)
        if app is None:
            return None
        arguments: dict[str, frozenset[str]] = {}
        for schedule in app.schedules.values():
            earlier = arguments.get(schedule.program, frozenset[str]())
            arguments[schedule.program] = earlier | schedule.args.keys()
        return OtherApp(app=app, arguments=arguments)


def handed_over(root: MappingNode) -> dict[str, frozenset[str]]:
    """Return the names of the arguments that the schedules and tasks of a file hand over, by program."""
    found: dict[str, frozenset[str]] = {}
    sections = (root.mapping("schedules"), root.mapping("tasks"))
    for node in (each for section in sections if section for each in section.values.values()):
        program = node.get("program") if isinstance(node, MappingNode) else None
        args = node.mapping("args") if isinstance(node, MappingNode) else None
        if isinstance(program, ScalarNode) and args is not None:
            name = str(program.value)
            found[name] = found.get(name, frozenset[str]()) | args.values.keys()
    return found
