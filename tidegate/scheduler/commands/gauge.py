"""Gauges: reported numbers, which `load: {gauge: …, max: …}` compares with a limit.

The last report counts until the next one; Tidegate measures nothing itself. A report wakes the jobs
that wait for its gauge, and the next tick decides about them.
"""

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import get_args

from tidegate.domain.model.constraint import Constraint
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.run import GAUGES, Gauge, gauge_resource
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.tick import advance_before

NAME_CHARACTERS_MAX = 63
"""As for every name in the YAML."""

GAUGED = tuple(kind for kind in get_args(Constraint) if "gauge_limit" in vars(kind))
"""The kinds of constraints that compare a gauge."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def report_gauges(
    transaction: EngineTransaction, values: Mapping[str, float], now: datetime, by: By
) -> tuple[Gauge, ...]:
    """Report the values of some gauges as of `now`, all of them or none.

    Args:
        by: who reports and why, for the journal.

    Returns:
        The gauges after the report, by name: one with a later report, by a host whose clock is
        ahead, stays unchanged.

    Raises:
        Refused: a name or a value is not valid for a gauge.
    """
    for name, value in values.items():
        _check(name, value)
    advance_before(transaction, now)
    later = {
        gauge.name: gauge for gauge in transaction.records(GAUGES, name=values) if gauge.reported_at > now
    }
    reported = [
        Gauge(name=name, value=float(values[name]), reported_at=now)
        for name in sorted(values)
        if name not in later
    ]
    transaction.put_records(GAUGES, reported)
    transaction.wake([gauge_resource(gauge.name) for gauge in reported], now)
    transaction.add_journal(
        [
            Entry(at=now, kind=EntryKind.GAUGE, data={"name": gauge.name, "value": gauge.value, **by.noted})
            for gauge in reported
        ]
    )
    return tuple(sorted((*reported, *later.values()), key=lambda gauge: gauge.name))


def gauge_limits(reader: EngineReader, app: str | None = None) -> dict[str, dict[str, float]]:
    """Return the limits of gauges in deployed schedules, by gauge and schedule; of an app, or of all."""
    found: dict[str, dict[str, float]] = {}
    for ref, constraint in reader.constraints(GAUGED, app=app):
        if constraint.gauge_limit is not None:
            gauge, most = constraint.gauge_limit
            found.setdefault(gauge, {})[ref] = most
    return dict(sorted(found.items()))


def _check(name: str, value: float) -> None:
    if len(name) > NAME_CHARACTERS_MAX or not _NAME.fullmatch(name):
        raise Refused(
            f"{name[:NAME_CHARACTERS_MAX]!r} is not a valid name of a gauge",
            'a name has small letters, digits and "_", and begins with a letter, for example cluster_cpu',
        )
    if not math.isfinite(value):
        raise Refused(
            f"gauge {name} must be a finite number, got {value}",
            "report a finite number, or nothing while it is unknown: the last report continues to count",
        )
