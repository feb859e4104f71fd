"""Time zones: names of the IANA database.

Abbreviations (`EST` is a name, but knows no summer), offsets and the machine's own zone are
no answer to "when is six in the morning", so names that depend on the machine are refused.
"""

from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.domain.suggest import closest
from tidegate.domain.wording import shown

_OF_THE_MACHINE = ("localtime", "posixrules", "Factory")


@lru_cache(maxsize=1024)
def is_zone(name: str) -> bool:
    """Whether the zone database knows a name."""
    if name in _OF_THE_MACHINE or name.startswith(("posix/", "right/", "/", ".")):
        return False
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


@lru_cache(maxsize=64)
def zone_hint(name: str) -> str:
    """What to write instead of an unknown zone. Looks through the whole database: only for a hint."""
    known = available_timezones()
    by_city = {zone.rpartition("/")[2].lower(): zone for zone in sorted(known) if "/" in zone}
    folded = name.strip().lower().replace(" ", "_")
    city = by_city.get(folded) or by_city.get(folded.rpartition("/")[2])
    near = city or (closest(name, known) if "/" in name or name.islower() else None)
    return f'did you mean "{near}"?' if near else 'write a name such as "America/New_York", or "UTC"'


def zone_of(mapping: MappingNode, scope: Scope) -> str:
    """The zone at `timezone`, the app's if there is none; an unknown one is reported."""
    node = mapping.get("timezone")
    if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
        return scope.timezone
    if not is_zone(node.value):
        summary = f"a zone is a name of the IANA database, got {shown(node.value)}"
        scope.findings.add("V202", node, summary, zone_hint(node.value))
        return scope.timezone
    return node.value
