"""The scope of an example: the declared names, its start and end, and the readers of its values.

It checks what the JSON Schema cannot: values that depend on the app's names and partition schemes, or on
the start and end of the example. A name is known if the YAML declares it, even if that part has errors.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode, plain
from tidegate.compiler.schema.check import Broken, Path
from tidegate.domain.duration import DurationError, parse_duration
from tidegate.domain.model import App
from tidegate.domain.nearest_key import read_key
from tidegate.domain.part_name import SEPARATOR, is_of_other, name_in, whole_name
from tidegate.domain.size import SizeError, parse_size
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.value import Value
from tidegate.domain.wording import shown

V = TypeVar("V", bound=Value)

Brought = Mapping[str, frozenset[str]]
"""The schedules and tasks, the programs, and the datasets as "app/dataset", by their section."""

NO_DURATION = timedelta(0)

FIRST_YEAR, LAST_YEAR = 1970, 2199
"""Examples are in these years: far enough from the limits of `datetime` for any arithmetic."""


class ExampleScope:
    """The names that one example may use, and the readers of its values.

    A reader returns None after reporting a wrong value. The values have the shapes of the JSON Schema.
    """

    def __init__(
        self,
        root: MappingNode,
        app: App,
        findings: Findings,
        broken: Broken,
        brought: Brought | None,
    ) -> None:
        """Args:
        brought: the parts that deployments of the example bring; None if the files are not known here.
        """
        self.app = app
        self.findings = findings
        self.broken = broken
        self._declared = {
            section: frozenset(found.values) if (found := root.mapping(section)) else frozenset[str]()
            for section in ("schedules", "tasks", "datasets", "programs")
        }
        self._declared["schedules"] |= self._declared["tasks"]
        self._declared["datasets"] |= {name for name in app.datasets if is_of_other(name)}
        self._declared["programs"] |= {name for name in app.programs if is_of_other(name)}
        self._brought = brought
        self.start: datetime | None = None
        self.until: datetime | None = None
        self.instants: list[datetime] = []

    # --- values ---

    def sound(self, node: MappingNode, path: Path, key: str) -> Node | None:
        """Return the value at a key; None where it is absent, or where the schema found a mistake in it."""
        return None if (*path, key) in self.broken else node.get(key)

    def sound_members(self, node: MappingNode, path: Path, key: str) -> list[Any]:
        """Return the members of the list at a key in which the schema found no mistake."""
        members = enumerate(node.items(key))
        return [member for number, member in members if (*path, key, number) not in self.broken]

    def size(self, node: Node | None) -> int | None:
        """Return a number of bytes: a whole number, or a size such as 12MB."""
        if isinstance(node, ScalarNode) and isinstance(node.value, str):
            try:
                return parse_size(node.value)
            except SizeError as error:
                self.findings.add("V213", node, error.message, error.hint)
                return None
        return None if node is None else int(plain(node))

    # --- names ---

    def name(self, node: Node, what: str) -> str | None:
        """Return the name of a declared schedule, task, dataset or program; `what` says which.

        A task is a schedule too. All but datasets may also come with a deployment of the example.
        """
        found, declared = name_in(self.app.name, text_of(node)), self._declared[f"{what}s"]
        section = "schedules" if what == "task" else f"{what}s"
        if found in declared or (what != "dataset" and self._brings(section, found)):
            return found
        code = {"dataset": "N301", "program": "N302", "schedule": "N305", "task": "N305"}[what]
        summary = f"a {what} must be declared in `{what}s`, got {shown(found)}"
        self.findings.add(code, node, summary, did_you_mean(found, declared, f"{what}s"))
        return None

    def expecting(self, node: Node) -> str | None:
        """Return the name of what may have a deadline: a schedule, a task or a dataset."""
        found = name_in(self.app.name, text_of(node))
        return found if found in self._declared["datasets"] else self.name(node, "schedule")

    def task(self, node: Node) -> str | None:
        """Return the name of a task; one of another app is not looked up, since a deployment may bring it."""
        found = name_in(self.app.name, text_of(node))
        return found if is_of_other(found) else self.name(node, "task")

    def with_instances(self, node: Node) -> str | None:
        """Return the name of a task, or of a schedule, which has instances in backfills."""
        found = name_in(self.app.name, text_of(node))
        return found if found in self._declared["schedules"] else self.task(node)

    def table(self, node: Node) -> str | None:
        """Return the name of a table: as "app/dataset" if it is named as a dataset, else as it is written."""
        found = self.any_table(node)
        dataset = name_in(self.app.name, found)
        if "." in found or is_of_other(dataset) or self._may_be("datasets", dataset, found):
            return found
        summary = f"a table is catalog.namespace.table or a dataset of `datasets`, got {shown(text_of(node))}"
        self.findings.add(
            "N301", node, summary, did_you_mean(dataset, self._declared["datasets"], "datasets")
        )
        return None

    def any_table(self, node: Node) -> str:
        """Return the name of a table that may be unknown, in the form of `table`."""
        text = text_of(node)
        return text if "." in text else whole_name(self.app.name, text)

    def schedule_or_table(self, node: Node) -> tuple[str, ...] | None:
        """Return the schedule and the table of a name; one name may mean both.

        A name that a deployed file may bring means both, since the file is not known here.
        """
        name, table = name_in(self.app.name, text_of(node)), self.any_table(node)
        if "." in table or is_of_other(name):
            return (table,)
        found = (name,) if self._may_be("schedules", name, name) else ()
        found += (table,) if self._may_be("datasets", name, table) else ()
        if found:
            return found
        if SEPARATOR in text_of(node):
            self.table(node)
        else:
            self.name(node, "schedule")
        return None

    def _may_be(self, section: str, name: str, brought: str) -> bool:
        """Return whether a section has a name, or a deployment brings it or may bring it."""
        return name in self._declared[section] or self._brings(section, brought)

    def _brings(self, section: str, name: str) -> bool:
        return self._brought is None or name in self._brought[section]

    # --- times ---

    def duration(self, node: Node | None) -> timedelta | None:
        """Return a duration; zero is allowed."""
        if node is None:
            return None
        try:
            return parse_duration(text_of(node), minimum=NO_DURATION)
        except DurationError as error:
            self.findings.add("V201", node, error.message, error.hint)
            return None

    def instant(self, node: Node | None, label: str, *, bounded: bool = True) -> datetime | None:
        """Return an instant: absolute, or `+duration` from the start; within the example if `bounded`."""
        if node is None:
            return None
        text = text_of(node)
        if text.startswith("+") and self.start is not None:
            found = self._relative(node, text, self.start)
        else:
            found = self._absolute(node, text, label)
        if found is None or not bounded:
            return found
        if self.start is not None and found < self.start:
            self._misplaced(node, f"{label} is not before `start`, got {shown(text)}", "give a later instant")
            return None
        if self.until is not None and found > self.until:
            hint = "give an earlier instant, or a later `until`"
            self._misplaced(node, f"{label} is not after `until`, got {shown(text)}", hint)
            return None
        self.instants.append(found)
        return found

    def _relative(self, node: Node, text: str, start: datetime) -> datetime | None:
        try:
            return start + parse_duration(text[1:], minimum=NO_DURATION)
        except DurationError as error:
            self.findings.add("V201", node, error.message, f"{error.hint}, after the +")
            return None

    def _absolute(self, node: Node, text: str, label: str) -> datetime | None:
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            summary = f"{label} is an instant in ISO 8601, or +duration from the start, got {shown(text)}"
            self._misplaced(node, summary, "write for example 2026-03-10T12:00:00-04:00, or +2h")
            return None
        if not FIRST_YEAR <= found.year <= LAST_YEAR:
            summary = f"{label} lies from {FIRST_YEAR} to {LAST_YEAR}, got {shown(text)}"
            self._misplaced(node, summary, "choose a year that the example can be read in")
            return None
        if found.tzinfo is None:
            found = found.replace(tzinfo=ZoneInfo(self.app.timezone))
        return found.astimezone(UTC)

    def _misplaced(self, node: Node, summary: str, hint: str) -> None:
        self.findings.add("V210", node, summary, hint)

    # --- partition keys ---

    def dataset_keys(self, node: Node | None, around: Node, dataset: str) -> tuple[str, ...] | None:
        """Return the keys of partitions that arrive: of the dataset's scheme, "" where it has none.

        Args:
            around: the node around the list of keys, for the place of a missing list.
        """
        found = self.app.datasets.get(dataset)
        if found is None:
            return None
        if found.partitions is None:
            if node is None or (isinstance(node, SequenceNode) and not node.items):
                return ("",)
            summary = f"{dataset} has no partitions, got `keys`"
            self.findings.add("L407", node, summary, "delete `keys`: each update of it is one event")
            return None
        if node is None or not isinstance(node, SequenceNode) or not node.items:
            place = around if node is None else node
            hint = f"list the partitions of {dataset} that come"
            summary = f"`partitions` of {dataset} needs a list of `keys`, got none"
            self.findings.add("S103", place, summary, hint)
            return None
        keys: list[str] = []
        for item in node.items:
            written = _parts(item) if isinstance(item, MappingNode) else text_of(item)
            key = read_key(found.partitions, written)
            if isinstance(key, str):
                keys.append(key)
            elif self._brings("datasets", whole_name(self.app.name, dataset)):
                # A deployment of the example changes the dataset: a wrong key is seen when it is played.
                keys.append(self.key(item))
            else:
                self.findings.add("V205", item, key.summary, key.hint)
        return tuple(dict.fromkeys(keys)) if len(keys) == len(node.items) else None

    def key(self, node: Node) -> str:
        """Return a partition key as written; of two dimensions, joined as everywhere."""
        if isinstance(node, MappingNode):
            return "|".join(part for _, part in sorted(_parts(node).items()))
        return text_of(node)

    def keys(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        """Return the expected keys, sorted and unique."""
        return tuple(sorted({self.key(node) for node in nodes}))


def text_of(node: Node) -> str:
    """Return a string, or a number that was meant as one."""
    return str(plain(node))


def texts(node: MappingNode, key: str) -> tuple[str, ...]:
    """Return the texts of the list at a key."""
    return tuple(text_of(item) for item in node.items(key))


def _parts(node: MappingNode) -> dict[str, str]:
    return {name: text_of(value) for name, value in node.values.items()}


def read_fields(
    struct: type[V], node: MappingNode | None, scope: ExampleScope, read: dict[str, Any]
) -> V | None:
    """Return a struct whose fields are under the keys of their names; None after reporting a wrong value.

    Args:
        read: the fields that are read already; None for a wrong one.
    """
    for field in msgspec.structs.fields(struct):
        key = "at" if field.name == "when" else field.name.removesuffix("_")
        value = None if node is None else node.get(key)
        if field.name not in read and value is not None:
            read[field.name] = _read(field.type, key, value, scope)
    return None if None in read.values() else struct(**read)


def _read(type_: Any, key: str, node: Node, scope: ExampleScope) -> Any:
    """Return a value of a type, as the schema lets one write it."""
    if key == "bytes":
        return scope.size(node)
    if type_ in (str, str | None):
        return scope.key(node)
    if type_ in (datetime, datetime | None):
        return scope.instant(node, f"`{key}`", bounded=key == "at")
    if type_ is timedelta:
        return scope.duration(node)
    if type_ == tuple[str, ...] | None:
        return scope.keys(node.items if isinstance(node, SequenceNode) else ())
    return msgspec.convert(plain(node), type_)
