"""An app of policies that dice make, and what their patterns match: written once more, and by hand."""

import random

from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App, Operation

Specificity = tuple[int, int, int]

PLAIN = ("w.a.x", "w.a.y", "w.b.x")
DATASETS = ("a/out", "a/raw", "a/whole")
PATTERNS: dict[str, tuple[Specificity, tuple[str, ...]]] = {
    "w.a.x": ((2, 2, 2), ("w.a.x",)),
    "w.a.*": ((2, 2, 0), ("w.a.x", "w.a.y")),
    "w.?.*": ((2, 1, 0), PLAIN),
    "x": ((0, 0, 2), ("w.a.x", "w.b.x")),
    "/w[.].*/": ((1, 1, 1), PLAIN),
    "a/out": ((2, 2, 2), ("a/out",)),
    "tidegate.a.*": ((2, 2, 0), DATASETS),
}
"""Each pattern with its specificity, and the tables that it matches."""

CRON_MINUTES = 10
CRON = f"*/{CRON_MINUTES} * * * *"

HEAD = """
app: a
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
  out: {partitions: {cycle: day, start: 2026-01-01}}
  whole: {}
programs:
  p: {run: programs.p, writes: [out]}
  w: {run: programs.w, writes: [whole]}
schedules:
"""
EACH = "program: p, status: active, trigger: {partitions: {dataset: raw}}, for_each: partition"
ALL = "program: w, status: active, trigger: {partitions: {dataset: raw}}"


def chance_app(dice: random.Random) -> App:
    """Some policies, the settings of all, and two schedules that write datasets."""
    slots = dice.choice((0, 0, 1, 2))
    group = ", constraints: [{concurrency: {group: spark, max: 2}}]" if slots else ""
    text = f"{HEAD}  each: {{{EACH}{group}}}\n  all: {{{ALL}, priority: high{group}}}\npolicies:\n"
    text += "".join(f"  p{number}: {_policy(dice)}\n" for number in range(dice.randrange(1, 5)))
    settings = [
        f"poll: {dice.choice((1, 1, 5))}m",
        f"budget: {{{_budget(dice)}}}",
        f"backoff: {{after_failures: {dice.choice((1, 2, 3))}, for: {dice.choice((10, 30))}m}}",
        f"throttle: {{after_zero_changes: {dice.choice((1, 2))}, slow_down_percent: {dice.choice((0, 50))},"
        f" at_least: {dice.choice((5, 20))}m}}",
        *([f"auto_pools: {{spark: {slots}}}"] if slots else []),
    ]
    text += f"maintenance: {{{', '.join(settings)}}}\n"
    found = compile_files({"a.yaml": text.encode()})
    assert found.ok, (text, found.diagnostics)
    return found.apps["a"].app


def _budget(dice: random.Random) -> str:
    kinds = {"tables_per_poll": (1, 2), "operations_per_poll": (1, 3), "bytes_per_hour": (300, 1500)}
    return ", ".join(f"{name}: {dice.choice(kinds[name])}" for name in kinds if dice.random() < 0.4)


def _policy(dice: random.Random) -> str:
    patterns = ", ".join(f"'{each}'" for each in dice.sample(sorted(PATTERNS), dice.randrange(1, 3)))
    chosen = dice.sample(list(Operation), dice.randrange(1, 4))
    operations = ", ".join(f"{each}: {{{_operation(dice)}}}" for each in chosen)
    enabled = "true" if dice.random() < 0.9 else "false"
    return (
        f"{{tables: [{patterns}], priority: {dice.choice((0, 0, 1))}, enabled: {enabled},"
        f" operations: {{{operations}}}}}"
    )


def _operation(dice: random.Random) -> str:
    parts = [dice.choice(("interval: 1m", "interval: 7m", "interval: 1h", f"cron: '{CRON}'"))]
    parts.append(f"timeout: {dice.choice((3, 10, 240))}m")
    if dice.random() < 0.1:
        parts.append("enabled: false")
    if dice.random() < 0.2:
        parts.append("window: {from: '12:10', to: '12:40'}")
    if dice.random() < 0.6:
        when = [dice.choice(("any", "all")) + ": [{snapshots: 100}, {newest_snapshot_age: 7d}]"]
        when += [f"min_interval: {dice.choice((2, 15))}m"] if dice.random() < 0.4 else []
        when += [f"at_latest: {dice.choice((6, 30))}m"] if dice.random() < 0.4 else []
        parts.append(f"when: {{{', '.join(when)}}}")
    return ", ".join(parts)


def matched(app: App, policy: str, table: str) -> Specificity | None:
    """How specifically a policy ("app/policy") matches a table; None if it does not, or does not exist."""
    found = app.policies.get(policy.removeprefix("a/"))
    if found is None or not found.enabled:
        return None
    return max((PATTERNS[each][0] for each in found.tables if table in PATTERNS[each][1]), default=None)


def configures(app: App, policy: str, operation: Operation) -> bool:
    """Whether a policy has an operation that is not switched off."""
    plan = app.policies[policy.removeprefix("a/")].operations.get(operation)
    return plan is not None and plan.enabled


def counting(app: App, table: str) -> dict[Operation, str]:
    """The policy that counts for each operation on a table."""
    ranked = sorted(
        (-app.policies[name].priority, tuple(-each for each in specificity), name)
        for name in app.policies
        if (specificity := matched(app, name, table)) is not None
    )
    found: dict[Operation, str] = {}
    for operation in Operation:
        for *_, name in ranked:
            if configures(app, name, operation):
                found.setdefault(operation, f"a/{name}")
    return found
