"""The conditions of a job: the verdicts of `why` as a tree with progress, and beside the lines of the YAML.

    explanation ──► tree        each condition with its sign, how much of it is met, and its place in the file
    text of the store ──► lines each line as `tidegate fmt` lays it out, with the state of what it says

A verdict and a line meet by their way through the YAML: the third member of `all` is its third item. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
import yaml

from tidegate.compiler.layout import NotFormatted, format_file
from tidegate.compiler.reader.compose import read
from tidegate.compiler.reader.node import MappingNode, Node, SequenceNode
from tidegate.domain.value import Value
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.model.verdict import Verdict

TITLES = {
    "all": "all of these",
    "any": "any of these",
    "at_least": "enough of these",
    "sequence": "one after the other",
    "task": "its time and its upstream instances",
    "time": "its time",
    "cron": "the time of its cron",
    "concurrency": "free slots",
    "window": "its launch window",
}
"""The words of conditions; any other one is called as in the YAML."""

KEY = re.compile(r"\s*(?:- )?(\w+):")
"""A line that begins with a key."""

FILE = "deployed.yaml"
WIDTH = 100
INDENT = 2


class Condition(Value, kw_only=True):
    """One condition.

    Attributes:
        state: of its sign: succeeded where it is met, else waiting.
        line: of the YAML file, as deployed; 0 if that is not known.
        have, of: how much of it is met, in units; both 0 for a condition that does not count.
        unit: what is counted, in the plural: of `partitions`, for example, partitions; "" for nothing.
        since: since when it is met.
        until: when time alone may change it.
    """

    state: str
    title: str
    text: str
    line: int
    have: int
    of: int
    unit: str
    since: datetime | None
    until: datetime | None
    parts: tuple["Condition", ...]


class Line(Value, kw_only=True):
    """A line of the YAML.

    Attributes:
        key: where its key begins and ends in the text; (0, 0) without one.
        state: of what it says: succeeded or waiting; "" for a line without a condition.
        note: a few words on that.
        at: the instant that ends them.
    """

    number: int
    text: str
    key: tuple[int, int]
    state: str = ""
    note: str = ""
    at: datetime | None = None


class Mark(Value, kw_only=True):
    """What is beside a line."""

    state: str
    note: str
    at: datetime | None = None


def tree_of(explanation: Explanation) -> tuple[Condition, ...]:
    """Return the conditions of a job, the trigger first."""
    trigger = () if explanation.trigger is None else (explanation.trigger,)
    return tuple(_condition(each) for each in (*trigger, *explanation.constraints))


def _condition(verdict: Verdict) -> Condition:
    have, of = progress(verdict)
    return Condition(
        state="succeeded" if verdict.met else "waiting",
        title=TITLES.get(verdict.kind, verdict.kind.replace("_", " ")),
        text=verdict.summary,
        line=0 if verdict.at is None else verdict.at.line,
        have=have,
        of=of,
        unit=verdict.unit or "",
        since=verdict.since,
        until=verdict.next_check,
        parts=tuple(_condition(each) for each in verdict.parts),
    )


def progress(verdict: Verdict) -> tuple[int, int]:
    """Return how many parts of a condition are met, and how many it has; (0, 0) if it does not count."""
    if verdict.have is not None and verdict.need is not None:
        return min(verdict.have, verdict.need), verdict.need
    return sum(each.met for each in verdict.parts), len(verdict.parts)


def yaml_lines(
    app: str, section: str, name: str, written: Mapping[str, Any], explanation: Explanation | None
) -> tuple[Line, ...]:
    """Return the YAML of a schedule or task, with the states of one of its jobs.

    Args:
        section: "schedules" or "tasks".
        written: as the store has it.
        explanation: of the job; None for the text alone.
    """
    text = _laid_out({"app": app, section: {name: dict(written)}})
    root, _ = read(FILE, text.encode())
    held = None if root is None else root.mapping(section)
    first = 0 if held is None else held.keys[name].line - 1
    node = None if held is None else held.values[name]
    marks = {} if explanation is None else dict(_marks(explanation, node))
    lines = text.splitlines()[first:]
    return tuple(_line(at, line[INDENT:], marks.get(first + at)) for at, line in enumerate(lines, 1))


def _line(number: int, text: str, mark: Mark | None) -> Line:
    key = KEY.match(text)
    line = Line(number=number, text=text, key=(0, 0) if key is None else key.span(1))
    return line if mark is None else msgspec.structs.replace(line, **msgspec.structs.asdict(mark))


def _laid_out(document: Mapping[str, Any]) -> str:
    """Return a document as `tidegate fmt` lays it out; lists and mappings of plain values are on one line."""
    text = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, allow_unicode=True, width=WIDTH)
    try:
        return format_file(FILE, text.encode())[0] or text
    except NotFormatted:
        return text


def _marks(explanation: Explanation, node: Node | None) -> Iterator[tuple[int, Mark]]:
    """Yield what is beside the lines of a schedule, by their numbers in the document."""
    if not isinstance(node, MappingNode):
        return
    if explanation.trigger is not None:
        yield from _of_trigger(explanation.trigger, node.get("trigger"))
        if explanation.trigger.kind == "task":
            yield from _of_task(explanation.trigger, node)
    items = [each for each in node.items("constraints") if isinstance(each, MappingNode)]
    for verdict in explanation.constraints:
        item = next((each for each in items if verdict.kind in each.keys), None)
        if item is not None:
            items.remove(item)
            yield item.keys[verdict.kind].line, _mark(verdict)
    if explanation.discarded_at is not None and "timeout" in node.keys:
        yield node.keys["timeout"].line, Mark(state="waiting", note="ends", at=explanation.discarded_at)


def _of_trigger(verdict: Verdict, node: Node | None) -> Iterator[tuple[int, Mark]]:
    if not isinstance(node, MappingNode) or verdict.kind not in node.keys:
        return
    if "wait_at_most" in node.keys and not verdict.met and verdict.holds_at is not None:
        yield node.keys["wait_at_most"].line, Mark(state="waiting", note="ends", at=verdict.holds_at)
    # Where a composite and its members share a line, the line says what the whole comes to.
    yield from _of_members(verdict, node.values[verdict.kind])
    yield node.keys[verdict.kind].line, _mark(verdict)


def _of_members(verdict: Verdict, value: Node) -> Iterator[tuple[int, Mark]]:
    members = value.items("of") if isinstance(value, MappingNode) else ()
    if isinstance(value, SequenceNode):
        members = value.items
    for part, member in zip(verdict.parts, members, strict=False):
        yield from _of_trigger(part, member)


def _of_task(verdict: Verdict, node: MappingNode) -> Iterator[tuple[int, Mark]]:
    """Yield the states of a task's own keys: its time, and what it depends on."""
    for part in verdict.parts:
        key = "at" if part.kind == "time" else "depends_on"
        if key in node.keys:
            yield node.keys[key].line, _mark(part)


def _mark(verdict: Verdict) -> Mark:
    if verdict.met:
        return Mark(state="succeeded", note="met" if verdict.since is None else "met since", at=verdict.since)
    if verdict.next_check is not None:
        opens = "opens" if verdict.kind == "window" else "not before"
        return Mark(state="waiting", note=opens, at=verdict.next_check)
    have, of = progress(verdict)
    return Mark(state="waiting", note=f"{have} of {of}" if of else "not met")
