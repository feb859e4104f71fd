"""The kinds of triggers, one file each: is it satisfied, since when, and what is missing.

A new kind is one new file here and one line in `EVALUATORS`; its YAML form is a file of the
same name in `compiler/triggers/`. An evaluation looks at what its job has collected and at
the instant it is given; it is a pure function and may be repeated at will.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from compiler.model import AllTrigger, AnyTrigger, CronTrigger, PartitionsTrigger, RunTrigger, Trigger
from scheduler.triggers import all_of, any_of, cron, partitions, run
from scheduler.triggers.collected import Collected
from scheduler.verdict import Verdict, earliest

Evaluator = Callable[[Any, Collected, str, datetime, Callable[[Trigger, str], Verdict]], Verdict]
"""(trigger, what the job has collected, path of the trigger, now, evaluate a member) -> verdict."""

EVALUATORS: dict[type, Evaluator] = {
    AllTrigger: all_of.evaluate,
    AnyTrigger: any_of.evaluate,
    CronTrigger: cron.evaluate,
    PartitionsTrigger: partitions.evaluate,
    RunTrigger: run.evaluate,
}


def evaluate(trigger: Trigger, collected: Collected, now: datetime, path: str = "") -> Verdict:
    """The verdict on a trigger and all its members.

    Args:
        trigger: the trigger, or a member of one.
        collected: what the job has collected so far.
        now: the instant for which the question is asked.
        path: where the trigger stands in the tree, see `compiler.model.Leaf`.
    """

    def member(inner: Trigger, inner_path: str) -> Verdict:
        return evaluate(inner, collected, now, inner_path)

    verdict = EVALUATORS[type(trigger)](trigger, collected, path, now, member)
    return _waited(trigger, verdict, collected, path, now)


def _waited(trigger: Trigger, verdict: Verdict, collected: Collected, path: str, now: datetime) -> Verdict:
    """Lets `wait_at_most` satisfy the trigger once it is over (DESIGN rule 16).

    A composite of which nothing has arrived never fires by waiting; a member without members
    of its own may, since its siblings' arrival is what its wait is counted from.
    """
    if trigger.wait_at_most is None or collected.first_event_at is None:
        return verdict
    composite = isinstance(trigger, AllTrigger | AnyTrigger)
    if composite and not collected.anything_below(path):
        return verdict
    deadline = collected.first_event_at + trigger.wait_at_most
    if verdict.met and verdict.since is not None and verdict.since <= deadline:
        return verdict
    if now >= deadline:
        return msgspec.structs.replace(
            verdict,
            met=True,
            since=deadline,
            next_check=None,
            summary=f"{verdict.summary}; goes on with what has come after waiting {trigger.wait_at_most}",
        )
    return msgspec.structs.replace(verdict, next_check=earliest((verdict.next_check, deadline)))
