"""An app of cycle tasks that dice make: every size, several zones, and a graph without cycles."""

import random
from collections.abc import Sequence

from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App

ZONES = ("UTC", "America/New_York", "Australia/Lord_Howe")
CYCLES = ("minute", "hour", "hour", "day", "day", "week", "month")
SELECTS = ("nearest", "last", "first", "all", "exactly_one")

HEAD = """
app: a
calendars: {office: {closed: ["2026-11-02"]}}
datasets:
  landed: {partitions: {cycle: day, start: 2020-01-01}}
  shared: {partitions: {cycle: day, start: 2020-01-01}}
programs:
  p0: {run: x.p, writes: [shared]}
  p1: {run: x.p, writes: [shared]}
  p2: {run: x.p}
  p3: {run: x.p}
tasks:
"""


def chance_app(dice: random.Random, tasks: int = 6) -> App:
    """An app with some tasks, each of which may wait for those before it."""
    zone = dice.choice(ZONES)
    lines = [_task(dice, number, zone) for number in range(tasks)]
    text = f"timezone: {zone}{HEAD}" + "\n".join(lines) + "\n"
    found = compile_files({"a.yaml": text.encode()})
    assert found.ok, (text, found.diagnostics)
    return found.apps["a"].app


def _task(dice: random.Random, number: int, zone: str) -> str:
    cycle = dice.choice(CYCLES)
    parts = [f"cycle: {cycle}", f"at: {_times(dice, cycle)}"]
    gate = number == 0 or dice.random() < 0.2
    if gate:
        parts += [f"type: {dice.choice(('source', 'external'))}", "dataset: landed"]
        parts += ["update: outside"] if dice.random() < 0.5 else []
    else:
        parts += [f"program: p{_program(dice, cycle)}", f"depends_on: [{', '.join(_upstream(dice, number))}]"]
        parts += _options(dice)
    if dice.random() < 0.2:
        parts.append("calendar: office")
    parts.append(f"status: {'active' if dice.random() < 0.9 else 'suspended'}")
    return f"  t{number}: {{{', '.join(parts)}}}"


def _program(dice: random.Random, cycle: str) -> int:
    """Programs 0 and 1 write the same days, so that their instances share partitions."""
    return dice.randrange(4) if cycle in ("minute", "hour", "day") else dice.randrange(2, 4)


def _times(dice: random.Random, cycle: str) -> str:
    time = f"{dice.randrange(24):02}:{dice.choice((0, 30)):02}"
    match cycle:
        case "minute":
            return f'{{every: {dice.choice((20, 25, 30))}m, from: "{dice.randrange(3):02}:00"}}'
        case "hour":
            return f"{{every: {dice.choice((1, 2, 6))}h, minute: {dice.choice((0, 10, 59))}}}"
        case "day":
            return f'{{time: "{time}"}}'
        case "week":
            return f'{{time: "{time}", weekdays: [sun, tue]}}'
        case _:
            return f'{{time: "{time}", days: [1, 2, last]}}'


def _upstream(dice: random.Random, number: int) -> Sequence[str]:
    found: list[str] = []
    for each in dice.sample(range(number), min(number, dice.randrange(1, 3))):
        extra = ""
        if dice.random() < 0.3:
            extra += f", select: {dice.choice(SELECTS)}"
        if dice.random() < 0.2:
            extra += ", period: previous"
        found.append(f"{{task: t{each}{extra}}}" if extra else f"t{each}")
    return [*found, "self"] if dice.random() < 0.25 else found


def _options(dice: random.Random) -> list[str]:
    found: list[str] = []
    if dice.random() < 0.4:
        found.append(f"constraints: [{{concurrency: {{max: {dice.choice((1, 2))}}}}}]")
    if dice.random() < 0.3:
        found.append("retries: {max: 1, wait: 5m}")
    if dice.random() < 0.2:
        found.append(f"timeout: {{after: 5h, then: {dice.choice(('discard', 'run'))}}}")
    return found
