"""The scope of an example: the names it may use, its beginning and end, and how its values are read.

What an action or an expectation may say depends on the app's own names and partition
schemes, so it is checked here and not by the schema. A name counts as known if the YAML
declares it, even when that part has errors of its own.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

from tidegate.compiler.builders.duration import DurationError, parse_duration
from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode, plain
from tidegate.domain.model import App
from tidegate.domain.partition_key import PartitionKeyError, join_key, validate_key
from tidegate.domain.size import SizeError, parse_size
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import listed, shown

ENDS = ("succeeded", "failed", "cancelled")
NO_DURATION = timedelta(0)

_GAUGE = re.compile(r"[a-z][a-z0-9_]{0,62}")

FIRST_YEAR, LAST_YEAR = 1970, 2199
"""Examples play in these years, far enough from both ends of the calendar for any arithmetic."""


class ExampleScope:
    """What one example may refer to, and how its values are read; a mistake becomes a finding.

    Every method that reads a value returns None for one that is wrong, after reporting it.
    """

    def __init__(self, root: MappingNode, app: App, findings: Findings) -> None:
        self.app = app
        self.findings = findings
        self._declared = {
            section: frozenset(found.values) if (found := root.mapping(section)) else frozenset[str]()
            for section in ("schedules", "datasets", "programs")
        }
        self.start: datetime | None = None
        self.until: datetime | None = None
        self.instants: list[datetime] = []

    # --- shapes ---

    def members(self, node: Node, label: str, allowed: tuple[str, ...]) -> MappingNode | None:
        """The node as a mapping with no other keys than these."""
        if not isinstance(node, MappingNode):
            hint = f"write a mapping with {listed(allowed, 'and')}"
            self.findings.add("S104", node, f"{label} is a mapping, got {shown(plain(node))}", hint)
            return None
        for name, key in node.keys.items():
            if name not in allowed:
                summary = f"{label} has no key {shown(name)}"
                self.findings.add("S101", key, summary, did_you_mean(name, allowed, "keys"))
        return node

    def needed(self, mapping: MappingNode, key: str, label: str, example: str) -> Node | None:
        """The node at a key that must be there."""
        found = mapping.get(key)
        if found is None:
            got = listed([f"`{name}`" for name in mapping.keys], "and") or "nothing"
            hint = f"write for example {example}"
            self.findings.add("S103", mapping, f"{label} needs `{key}`, got {got} alone", hint)
        return found

    def text(self, node: Node | None, label: str) -> str | None:
        """A string, or a number that was meant as one."""
        if node is None:
            return None
        if (
            isinstance(node, ScalarNode)
            and isinstance(node.value, str | int)
            and not isinstance(node.value, bool)
        ):
            return str(node.value)
        self.findings.add(
            "S104", node, f"{label} is a text, got {shown(plain(node))}", "write one word or text"
        )
        return None

    def count(self, node: Node | None, label: str, least: int = 0) -> int | None:
        """A whole number."""
        if node is None:
            return None
        if isinstance(node, ScalarNode) and type(node.value) is int and node.value >= least:
            return node.value
        summary = f"{label} is a whole number from {least}, got {shown(plain(node))}"
        self.findings.add("S104", node, summary, f"write a number, for example {max(least, 1)}")
        return None

    def number(self, node: Node, label: str) -> float | None:
        """A number, with or without decimals."""
        if (
            isinstance(node, ScalarNode)
            and isinstance(node.value, int | float)
            and not isinstance(node.value, bool)
        ):
            return float(node.value)
        self.findings.add("S104", node, f"{label} is a number, got {shown(plain(node))}", "write a number")
        return None

    def size(self, node: Node | None, label: str) -> int | None:
        """A number of bytes: a whole number, or a size such as 12MB."""
        if isinstance(node, ScalarNode) and isinstance(node.value, str):
            try:
                return parse_size(node.value)
            except SizeError as error:
                self.findings.add("V213", node, f"{label}: {error.message}", error.hint)
                return None
        return self.count(node, label)

    def flag(self, node: Node | None, label: str) -> bool | None:
        """true or false."""
        if node is None:
            return None
        if isinstance(node, ScalarNode) and isinstance(node.value, bool):
            return node.value
        summary = f"{label} is true or false, got {shown(plain(node))}"
        self.findings.add("S104", node, summary, "write true or false")
        return None

    def word(self, node: Node | None, label: str, allowed: tuple[str, ...]) -> str | None:
        """One of a few words."""
        found = self.text(node, label)
        if node is None or found is None or found in allowed:
            return found
        summary = f"{label} is {listed(allowed)}, got {shown(found)}"
        self.findings.add("S105", node, summary, did_you_mean(found, allowed, "words"))
        return None

    def json(self, node: Node, label: str) -> dict[str, Any] | None:
        """A mapping, as builtin values."""
        if isinstance(node, MappingNode):
            return cast("dict[str, Any]", plain(node))
        self.findings.add(
            "S104", node, f"{label} is a mapping, got {shown(plain(node))}", "write {key: value}"
        )
        return None

    # --- names ---

    def name(self, node: Node | None, what: str) -> str | None:
        """The name of a declared schedule, dataset or program; `what` says which."""
        found = self.text(node, f"a {what}")
        if node is None or found is None or found in self._declared[f"{what}s"]:
            return found
        code = {"dataset": "N301", "program": "N302", "schedule": "N305"}[what]
        summary = f"a {what} must be declared in `{what}s`, got {shown(found)}"
        self.findings.add(code, node, summary, did_you_mean(found, self._declared[f"{what}s"], f"{what}s"))
        return None

    def gauge(self, node: ScalarNode) -> str | None:
        """The name of a gauge. Any will do: gauges belong to no app."""
        found = str(node.value)
        if _GAUGE.fullmatch(found):
            return found
        hint = "write lower-case letters, digits and underscores, at most 63 of them"
        self.findings.add("S106", node, f"a gauge has a name like a schedule's, got {shown(found)}", hint)
        return None

    # --- times ---

    def duration(self, node: Node | None, label: str) -> timedelta | None:
        """A duration; zero is allowed."""
        text = self.text(node, label)
        if node is None or text is None:
            return None
        try:
            return parse_duration(text, minimum=NO_DURATION)
        except DurationError as error:
            self.findings.add("V201", node, error.message, error.hint)
            return None

    def instant(self, node: Node | None, label: str, *, bounded: bool = True) -> datetime | None:
        """An instant: absolute, or `+duration` from the start; within the example if `bounded`."""
        text = self.text(node, label)
        if node is None or text is None:
            return None
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
        """The keys of partitions that arrive: of the dataset's scheme, "" where it has none.

        Args:
            around: what the list of keys stands in, to point at where there is none.
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
            try:
                key = (
                    join_key(found.partitions, _parts(item))
                    if isinstance(item, MappingNode)
                    else self.key(item)
                )
                wrong = None if key is None else validate_key(found.partitions, key)
            except PartitionKeyError as error:
                key, wrong = None, str(error)
            except OverflowError:
                key, wrong = None, f"a key lies within the years 1 to 9999, got {shown(plain(item))}"
            if wrong is not None:
                self.findings.add("V205", item, wrong, f"write a key as the partitions of {dataset} spell it")
            elif key is not None:
                keys.append(key)
        return tuple(dict.fromkeys(keys)) if len(keys) == len(node.items) else None

    def key(self, node: Node) -> str | None:
        """A partition key as it stands; of two dimensions, joined as everywhere."""
        if isinstance(node, MappingNode):
            return "|".join(part for _, part in sorted(_parts(node).items()))
        return self.text(node, "a partition key")

    def keys(self, node: Node | None, label: str) -> tuple[str, ...] | None:
        """A list of expected keys, sorted, each once."""
        if node is None:
            return None
        if not isinstance(node, SequenceNode):
            hint = "write for example [2026-03-09]"
            self.findings.add("S104", node, f"{label} is a list of keys, got {shown(plain(node))}", hint)
            return None
        found = [self.key(item) for item in node.items]
        return tuple(sorted({key for key in found if key is not None}))


def _parts(node: MappingNode) -> dict[str, str]:
    return {name: str(plain(value)) for name, value in node.values.items()}
