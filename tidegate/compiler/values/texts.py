"""Single values of the YAML, from their text: crons, durations, sizes, zones and former names.

Time zones: names of the IANA database. Names whose meaning depends on the machine are refused.

`renamed_from`: one former name, or several with the newest first. A part of an app stays in it, so the app
and its namespace say nothing more where they are before the former name; they are checked
(`compiler.rules.former_names`) and left out.
"""

from datetime import timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.duration import MIN_DURATION, DurationError, parse_duration
from tidegate.domain.size import SizeError, parse_size
from tidegate.domain.suggest import closest
from tidegate.domain.time.cron import CronError, parse
from tidegate.domain.wording import shown


def cron_of(mapping: MappingNode, scope: Scope) -> str | None:
    """Return the pattern at `cron`; None without the key, or after reporting a wrong one."""
    if "cron" not in mapping.values:
        return None
    text = " ".join(mapping.text("cron").split())
    try:
        parse(text)
    except CronError as error:
        scope.findings.add("V203", mapping.values["cron"], error.message, error.hint)
        return None
    return text


def duration_at(node: Node | None, scope: Scope, *, minimum: timedelta = MIN_DURATION) -> timedelta | None:
    """Return the duration of a node; None without a text, or after reporting a wrong one."""
    if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
        return None
    try:
        return parse_duration(node.value, minimum=minimum)
    except DurationError as error:
        scope.findings.add("V201", node, error.message, error.hint)
        return None


def size_at(node: Node | None, scope: Scope) -> int | None:
    """Return the bytes of a node; None without a size, or after reporting a wrong one."""
    value = node.value if isinstance(node, ScalarNode) else None
    if isinstance(value, int):
        return int(value)
    if node is None or not isinstance(value, str):
        return None
    try:
        return parse_size(value)
    except SizeError as error:
        scope.findings.add("V213", node, error.message, error.hint)
        return None


_ABBREVIATIONS = {
    "America/Los_Angeles": ("pst", "pdt", "pt", "pacific"),
    "America/Denver": ("mdt", "mt", "mountain"),
    "America/Chicago": ("cst", "cdt", "ct", "central"),
    "America/New_York": ("edt", "et", "eastern"),
    "Europe/Berlin": ("cest", "mez", "mesz"),
    "Asia/Tokyo": ("jst",),
    "UTC": ("z", "utc+0", "gmt+0"),
}
"""What people write for a zone; two countries may have the same letters, so each is a question."""

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
    folded = name.strip().lower().replace(" ", "_")
    for zone, names in _ABBREVIATIONS.items():
        if folded in names:
            return f'did you mean "{zone}"?'
    known = available_timezones()
    by_city = {zone.rpartition("/")[2].lower(): zone for zone in sorted(known) if "/" in zone}
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


def renamed_from(node: MappingNode) -> tuple[str, ...]:
    """Return the former names of an app or of one of its parts."""
    return tuple(dict.fromkeys(former_name(name) for name in former_names(node)))


def former_name(node: ScalarNode) -> str:
    """Return a former name without the app or the namespace that it may begin with."""
    return str(node.value).rpartition("/")[2]


def former_names(node: MappingNode) -> tuple[ScalarNode, ...]:
    """Return the nodes of the former names."""
    one = node.get("renamed_from")
    return (one,) if isinstance(one, ScalarNode) else node.strings("renamed_from")
