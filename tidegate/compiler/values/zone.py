"""Time zones: names of the IANA database.

Names whose meaning depends on the machine are refused.
"""

from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.suggest import closest
from tidegate.domain.wording import shown

_OF_THE_MACHINE = ("localtime", "posixrules", "Factory")


@lru_cache(maxsize=1024)
def is_zone(name: str) -> bool:
    """Return whether a name is in the zone database and means the same on every machine."""
    if name in _OF_THE_MACHINE or name.startswith(("posix/", "right/", "/", ".")):
        return False
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


@lru_cache(maxsize=64)
def zone_hint(name: str) -> str:
    """Return the hint for an unknown zone. It searches the whole zone database, so it is slow."""
    known = available_timezones()
    by_city = {zone.rpartition("/")[2].lower(): zone for zone in sorted(known) if "/" in zone}
    folded = name.strip().lower().replace(" ", "_")
    city = by_city.get(folded) or by_city.get(folded.rpartition("/")[2])
    near = city or (closest(name, known) if "/" in name or name.islower() else None)
    return f'did you mean "{near}"?' if near else 'write a name such as "America/New_York", or "UTC"'


def zone_of(mapping: MappingNode, scope: Scope) -> str:
    """Return the zone at `timezone`, by default the app's; report an unknown zone."""
    node = mapping.get("timezone")
    if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
        return scope.timezone
    if not is_zone(node.value):
        summary = f"a zone is a name of the IANA database, got {shown(node.value)}"
        scope.findings.add("V202", node, summary, zone_hint(node.value))
        return scope.timezone
    return node.value
