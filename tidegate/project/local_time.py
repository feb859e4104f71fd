"""The local time beside UTC in texts and pages: which zone it is in, and an instant in it.

    the zone of the schedule or app that is shown, where all that is shown has one
    else `[project] timezone`, else the zone of this machine

A command or a page chooses the zone once; what it prints then asks `local_instant`. JSON has UTC only.
"""

import os
from collections.abc import Collection, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from tidegate.domain.duration import FURTHEST, is_never
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.model.deployed import APPS

if TYPE_CHECKING:
    from tidegate.scheduler.store.engine_reader import EngineReader

_ZONE: ContextVar[ZoneInfo | None] = ContextVar("zone of local times", default=None)
_FOR_TOOLS: ContextVar[bool] = ContextVar("texts are for tools", default=False)

LOCAL_TIME_FILE = Path("/etc/localtime")
"""A link to the zone of the machine in the database of zones."""


def local_instant(value: datetime, zone: str = "", now: datetime | None = None) -> str:
    """Return an instant in UTC, with the local time of a zone; by default of the chosen one.

    Args:
        now: the present: what is further than anything waits is "never within 400 days".
    """
    if now is not None and is_never(value, now):
        return f"never within {FURTHEST.days} days"
    if _FOR_TOOLS.get():
        return instant_text(value)
    return instant_text(value, _zone(zone) if zone else _ZONE.get())


def local_clock(value: datetime, now: datetime) -> str:
    """Return the time of the day in the chosen zone, with the weekday where it is another day than now."""
    zone = _ZONE.get() or UTC
    local = value.astimezone(zone)
    return f"{local:%H:%M}" if local.date() == now.astimezone(zone).date() else f"{local:%a %H:%M}"


def use_zone(name: str) -> None:
    """Choose the zone of the local times from now on; "" for the machine's."""
    _ZONE.set(_zone(name) if name else machine_zone())


def show_local(local: bool) -> None:
    """Say whether local times are shown from now on: not in what is for tools, even in its texts."""
    _FOR_TOOLS.set(not local)


@contextmanager
def in_zone(name: str) -> Generator[None]:
    """Choose the zone of the local times within the context; "" for the machine's."""
    token = _ZONE.set(_zone(name) if name else machine_zone())
    try:
        yield
    finally:
        _ZONE.reset(token)


def use_zone_of_apps(reader: "EngineReader", apps: Collection[str]) -> None:
    """Choose the zone of some apps from now on, if they have the same one."""
    zone = common_zone(reader, apps)
    if zone:
        use_zone(zone)


def common_zone(reader: "EngineReader", apps: Collection[str]) -> str:
    """Return the zone that some apps have in common; "" if there is none."""
    zones = set(zones_of(reader, apps).values())
    return zones.pop() if len(zones) == 1 else ""


def zones_of(reader: "EngineReader", apps: Collection[str]) -> dict[str, str]:
    """Return the zones of some apps by name; one that is no longer deployed has none."""
    return {each.name: each.app.timezone for each in reader.records(APPS, name=set(apps))} if apps else {}


def machine_zone() -> ZoneInfo | None:
    """Return the zone of this machine: that of TZ, else that of its clock; None where it has no name."""
    named = os.environ.get("TZ")
    if named is not None:
        return _zone(named.lstrip(":"))
    try:
        target = str(LOCAL_TIME_FILE.resolve())
    except OSError:
        return None
    return _zone(target.rpartition("/zoneinfo/")[2])


def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        # No such zone is a KeyError, a path in place of a name a ValueError, a folder of zones an OSError.
        return None
