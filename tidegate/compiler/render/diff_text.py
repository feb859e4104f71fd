"""A difference as text for people, with signs as in Terraform.

    + created   ~ changed   - deleted   = kept as deployed, since updating is off

The consequences of a change for live jobs follow it, after an arrow. Unchanged parts are not printed.
"""

from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from typing import Any, assert_never, cast

import msgspec

from tidegate.compiler.plan.diff import AppChange, Consequence, Diff, ScheduleChange
from tidegate.compiler.plan.forms import task_form
from tidegate.compiler.plan.part_change import FieldChange, PartChange
from tidegate.compiler.plan.refusal import Refusal
from tidegate.compiler.plan.renames import Renames
from tidegate.compiler.plan.repaired import TEXTS
from tidegate.compiler.render.overrides_text import overrides_text
from tidegate.compiler.render.trigger_yaml import yaml_lines
from tidegate.domain.model import App, Schedule
from tidegate.domain.part_name import name_of
from tidegate.domain.size import size_text
from tidegate.domain.wording import first_of, one_line

MAX_VALUE_CHARACTERS = 70
"""Longer values are cut; `--format json` prints them in full."""

MAX_LINES_OF_TEXT = 40
"""Of a query that changes; a longer change is read in the file."""

NAMES_SHOWN = 5
"""Of more scheduled times, so many are named; `--format json` has all."""

INDENT = 6 * " "
"""Of the lines of a part."""

_SIGNS = {
    "create": "+",
    "change": "~",
    "replace": "~",
    "amend": "~",
    "delete": "-",
    "kept": "=",
    "unchanged": " ",
}
_SINGULAR = {
    "datasets": "dataset",
    "programs": "program",
    "tasks": "task",
    "groups": "group",
    "calendars": "calendar",
    "policies": "policy",
    "maintenance": "maintenance of",
    "app": "app",
}
_FAULTS = {
    "removed": "{} is removed",
    "repartitioned": "the partitions of {} change",
    "missing": "{} is not deployed",
}


def diff_text(difference: Diff) -> str:
    """Return the whole difference, without a final line end."""
    lines: list[str] = []
    lines.extend(_renames(difference.renames))
    for app in difference.apps:
        lines.extend(_app(app, difference.after.get(app.name)))
    lines.extend(_ownership(difference))
    lines.extend(overrides_text(difference.overrides))
    if difference.refusals:
        lines.extend(_refusals(difference.refusals))
    lines.extend(_blocked_and_left(difference))
    if lines:
        lines.append("")
    lines.append(_total(difference))
    return "\n".join(one_line(line) for line in lines)


def _app(app: AppChange, wanted: App | None) -> Iterator[str]:
    kept = any(change.action == "kept" for change in app.schedules)
    if app.action == "unchanged" and not kept:
        return
    yield f"{_SIGNS[app.action]} app {app.name}".strip()
    written = wanted.owners() if wanted is not None else {}
    for part in app.parts:
        yield from _part(part)
        yield from (f"{INDENT}-> {text}" for text in part.columns_that_stay(written))
    for schedule in app.schedules:
        if schedule.action != "unchanged":
            yield from _schedule(schedule, None if wanted is None else wanted.schedules.get(schedule.name))


def _part(part: PartChange) -> Iterator[str]:
    yield f"  {_SIGNS[part.action]} {_SINGULAR[part.section]} {part.name}"
    yield from _fields(part.section, part.fields)


def _schedule(change: ScheduleChange, wanted: Schedule | None) -> Iterator[str]:
    notes = {
        "amend": " (description, owner, alerts, retries or sensor only: nothing is reset)",
        "kept": f" (updating is off; it would be {_past(change.would)})",
    }
    noun, note = change.section.removesuffix("s"), notes.get(change.action, "")
    if change.action == "amend" and any(field.path == "batching" for field in change.fields):
        note = " (nothing is reset: waiting jobs keep their events)"
    yield f"  {_SIGNS[change.action]} {noun} {change.name}{note}"
    if change.because:
        yield f"      because {change.because}"
    if change.action in ("create", "replace") and not change.fields and wanted is not None:
        yield from (f"      {line}" for line in _whole_task(wanted))
    if change.action == "create" and wanted is not None:
        yield from _default_batching(wanted)
    yield from _fields(change.section, change.fields)
    for consequence in change.consequences:
        yield f"      -> {consequence_text(consequence)}"


def _whole_task(schedule: Schedule) -> Iterator[str]:
    """The YAML of a new task; nothing of a schedule, whose lines in the file say the same."""
    if schedule.task is None:
        return
    form = task_form(schedule)
    if schedule.task.calendar is not None:
        form["calendar"] = schedule.task.calendar.name
    yield from yaml_lines({"tasks": {schedule.name: form}})


def _default_batching(schedule: Schedule) -> Iterator[str]:
    """The default of a new schedule that its lines in the file do not show."""
    if schedule.keyed_by_date and "batching" not in schedule.written:
        yield "      batching: date (the default: a run writes its business date, and a fire is enough)"


def _past(action: str | None) -> str:
    return {
        "create": "created",
        "replace": "replaced",
        "amend": "amended",
        "delete": "deleted",
    }.get(action or "", "unchanged")


def _field(field: FieldChange) -> str:
    if field.old is None:
        return f"{field.path}: {_value(field.path, field.new)} (added)"
    if field.new is None:
        return f"{field.path}: {_value(field.path, field.old)} (removed)"
    return f"{field.path}: {_value(field.path, field.old)} -> {_value(field.path, field.new)}"


def field_lines(section: str, fields: tuple[FieldChange, ...]) -> tuple[str, ...]:
    """Return the fields at which a part differs, as lines."""
    return tuple(line.removeprefix(INDENT) for line in _fields(section, fields))


def _fields(section: str, fields: tuple[FieldChange, ...]) -> Iterator[str]:
    for field in fields:
        if _is_query(field):
            yield from (f"{INDENT}{line}" for line in _lines_of(field))
        elif _is_long(section, field):
            yield from (f"{INDENT}{line}" for line in _as_yaml(field))
        else:
            yield f"{INDENT}{_field(field)}"


def _is_query(field: FieldChange) -> bool:
    """Return whether a field is the text of a query."""
    return field.path.startswith("sql.") and field.path.endswith(".text")


def _lines_of(field: FieldChange) -> Iterator[str]:
    """The lines of a text that differ, with one line around them."""
    yield f"{field.path}:"
    before, after = (str(value or "").splitlines() for value in (field.old, field.new))
    lines = list(unified_diff(before, after, n=1, lineterm=""))[2:]
    for line in lines[:MAX_LINES_OF_TEXT]:
        yield f"  {'…' if line.startswith('@@') else f'{line[:1]} {line[1:]}'}".rstrip()
    if len(lines) > MAX_LINES_OF_TEXT:
        yield f"  … and {len(lines) - MAX_LINES_OF_TEXT} more lines"


def _is_long(section: str, field: FieldChange) -> bool:
    """Return whether a field is part of a trigger, a task or a policy, and is read more easily as YAML."""
    if section == "tasks":
        return isinstance(field.old, list | dict) or isinstance(field.new, list | dict)
    if section in ("policies", "maintenance") or field.path.split(".")[0] == "trigger":
        return any(_has_mappings(value) or _is_cut(value) for value in (field.old, field.new))
    return False


def _has_mappings(value: Any) -> bool:
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    return any(isinstance(item, dict) for item in items)


def _as_yaml(field: FieldChange) -> Iterator[str]:
    """A part of a trigger, task or policy that is another one now, as the YAML of before and of after."""
    yield f"{field.path}:"
    for sign, value in (("-", field.old), ("+", field.new)):
        if value is not None:
            yield from (f"  {sign} {line}" for line in yaml_lines(value))


def _value(path: str, value: Any) -> str:
    if path.startswith("trigger") and path.endswith(".bytes"):
        return size_text(value)
    text = _json(value)
    return text[:MAX_VALUE_CHARACTERS] + "…" if _is_cut(value) else text


def _is_cut(value: Any) -> bool:
    return len(_json(value)) > MAX_VALUE_CHARACTERS


def _json(value: Any) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def consequence_text(consequence: Consequence) -> str:
    """Return one consequence in a few words."""
    n, detail, names = consequence.count, consequence.detail, first_of(consequence.names, NAMES_SHOWN)
    match consequence.kind:
        case "discards":
            return f"{n} waiting {_plural('job', n)} {'is' if n == 1 else 'are'} discarded with {detail}"
        case "makes":
            again = f"{n} {_plural('instance', n)} {'is' if n == 1 else 'are'} made again"
            return f"{again}: {names}" if names else again
        case "begins":
            made = f"{n} {_plural('instance', n)} {'is' if n == 1 else 'are'} made"
            return f"{made}, whose days have begun in its zone: {names}"
        case "fires":
            return f"fires at once, since the time is over in its zone: {names}"
        case "skips":
            return f"does not fire again for {names}"
        case "takes":
            return f"{n} {_plural('instance', n)} {'goes' if n == 1 else 'go'}: the task has no such time"
        case "carries":
            events = f"{consequence.events} {_plural('event', consequence.events)}"
            return f"{n} waiting {_plural('job', n)} {'keeps' if n == 1 else 'keep'} {events}"
        case "drops":
            n = consequence.events
            return f"{n} collected {_plural('event', n)} {'is' if n == 1 else 'are'} discarded"
        case "holds":
            return f"{n} waiting {_plural('job', n)} {'is' if n == 1 else 'are'} held until it is resumed"
        case "lets_go":
            return f"{n} held {_plural('job', n)} {'is' if n == 1 else 'are'} released"
        case "launches":
            return f"{n} decided {_plural('launch', n, 'launches')} {'continues' if n == 1 else 'continue'}"
        case "leaves":
            return f"{n} active {_plural('run', n)} {'continues' if n == 1 else 'continue'}"
        case "starts":
            return f"starts {detail}"
        case "keeps":
            return f"stays {detail}"
        case "reruns" | "adds" | "reads":
            return TEXTS[consequence.kind].format(names=names)
        case _:
            assert_never(consequence.kind)


def _plural(word: str, count: int, plural: str = "") -> str:
    return word if count == 1 else plural or f"{word}s"


def _ownership(difference: Diff) -> Iterator[str]:
    """What concerns whole apps of a shared store."""
    for name in difference.stays:
        yield f"= app {name} is not in the YAML and stays; `tidegate deploy --remove-apps` removes it"
    for name in difference.adopted:
        yield f"  app {name} has no owner in the store; the deployment makes it one of this project"
    for taken in difference.taken:
        yield f"refused: {taken.summary}"
        yield f"hint: {taken.remedy}"


def _renames(names: Renames) -> Iterator[str]:
    """What goes on under another name; parts of a renamed app that keep theirs are not listed."""
    for old, new in names.apps.items():
        yield f"~ app {new} (renamed from {old}; everything in the store moves with it)"
    for what, renamed in (
        ("program", names.programs),
        ("dataset", names.datasets),
        ("schedule", names.schedules),
    ):
        for old, new in renamed.items():
            if name_of(old) != name_of(new):
                yield f"~ {what} {new} (renamed from {old}; everything in the store moves with it)"


def _blocked_and_left(difference: Diff) -> Iterator[str]:
    for left in difference.left:
        parts = f"{left.parts} {_plural('part', left.parts)}"
        if left.output:
            read = f"{left.consumer} has read {left.source} ({parts})"
            yield f"warning: {read}, and {left.output} is a new table"
            yield "    it would begin with what lands from now on"
            yield f"hint: {left.remedy}"
            continue
        yield f"warning: the watermarks of {left.consumer} in {left.source} ({parts}) are left behind"
        for read in left.again:
            yield f"    the next run of {read.replace(' of ', ' reads all of ', 1)} again"
        if left.remedy:
            yield f"hint: {left.remedy}"
    for blocked in difference.blocked:
        yield f"refused: {blocked.summary}"
        yield f"hint: {blocked.remedy}"


def _refusals(refusals: tuple[Refusal, ...]) -> Iterator[str]:
    yield ""
    for refusal in refusals:
        part = f"{_SINGULAR[refusal.section]} {refusal.name} of {refusal.app}"
        noun = "task" if refusal.section == "tasks" else "schedule"
        uses = ((refusal.use, noun, refusal.schedules), ("is read by", "program", refusal.programs))
        used = [
            f"{verb} {_plural(noun, len(names))} {', '.join(names)}" for verb, noun, names in uses if names
        ]
        yield f"refused: {_FAULTS[refusal.fault].format(part)}, but it {' and '.join(used)}"
    for remedy in dict.fromkeys(refusal.remedy for refusal in refusals):
        yield f"hint: {remedy}"


def _total(difference: Diff) -> str:
    counts = {
        section: Counter(change.action for change in difference.schedules() if change.section == section)
        for section in ("schedules", "tasks")
    }
    if difference.empty:
        kept = sum(each["kept"] for each in counts.values())
        tail = f" ({kept} {_plural('schedule', kept)} kept as deployed)" if kept else ""
        return f"No changes.{tail}"
    totals: list[str] = []
    for section, each in counts.items():
        words = {
            "create": "create",
            "replace": "replace",
            "amend": "amend",
            "delete": "delete",
            "kept": "keep",
        }
        found = [f"{each[action]} to {word}" for action, word in words.items() if each[action]]
        if found:
            totals.append(f"{section.capitalize()}: {', '.join(found)}.")
    return " ".join(totals) or "Schedules: no changes."
