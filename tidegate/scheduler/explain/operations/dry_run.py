"""Dry run: what a run by hand would start, with its options and the partitions that it would leave out.

It chooses and refuses with the code of the command, and changes nothing.
"""

from datetime import datetime, timedelta
from typing import Any

from tidegate.domain.model import Operation
from tidegate.domain.value import Value
from tidegate.scheduler.commands.maintain import choose, refuse_active
from tidegate.scheduler.model.maintenance import TableState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.by_hand import busy_of
from tidegate.scheduler.tick.maintenance.look import free_slots
from tidegate.scheduler.tick.maintenance.policies import Policies, load_policies
from tidegate.scheduler.tick.places import load_rooms


class WouldRun(Value, kw_only=True):
    """One operation that a run by hand would carry out.

    Attributes:
        policy: "app/policy".
        options: of the operation, with every default.
        excluded: keys of the partitions that it would leave out now, since pipelines write them.
        waits: why it would not start at once; None if it would. Each later one starts when the one before it
            has ended.
    """

    operation: Operation
    policy: str
    timeout: timedelta
    options: dict[str, Any] = {}
    excluded: tuple[str, ...] = ()
    waits: Reason | None = None


def would_run(
    reader: EngineReader,
    table: str,
    now: datetime,
    *,
    operation: Operation | None = None,
    policy: str | None = None,
) -> tuple[WouldRun, ...]:
    """Return what `run_by_hand` would start, in order; none if the policy has no operations.

    Raises:
        MaintenanceRefused: E-TABLE, E-POLICY or E-ACTIVE.
    """
    policies = load_policies(reader, now)
    found, chosen = choose(reader, policies, table, operation=operation, policy=policy)
    if not chosen:
        return ()
    refuse_active(reader, policies, found, chosen[0][0], now)
    waits = None
    if load_rooms(reader).full(chosen[0][1]):
        waits = Reason.M_PLACES
    elif any(free <= 0 for free in free_slots(reader, policies).values()):
        waits = Reason.W_CONCURRENCY
    return tuple(
        _would_run(reader, policies, found, each, ref, now, waits=None if place else waits)
        for place, (each, ref) in enumerate(chosen)
    )


def _would_run(
    reader: EngineReader,
    policies: Policies,
    table: TableState,
    operation: Operation,
    policy: str,
    now: datetime,
    *,
    waits: Reason | None,
) -> WouldRun:
    plan = policies.plan(policy, operation)
    assert plan is not None, "it was chosen"
    busy = busy_of(reader, policies, table, operation, now)
    return WouldRun(
        operation=operation,
        policy=policy,
        timeout=plan.timeout,
        options=plan.options,
        excluded=busy.known,
        waits=waits,
    )
