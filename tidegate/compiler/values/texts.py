"""Single values of the YAML, from their text: crons, durations, sizes, zones, former names and paths.

Time zones: names of the IANA database. Names whose meaning depends on the machine are refused.

`renamed_from`: one former name, or several with the newest first. A part of an app stays in it, so the app
and its namespace say nothing more where they are before the former name; they are checked
(`compiler.rules.former_names`) and left out.

The path of a dataset: inside the project, and made of plain names. Spark and Hadoop read and write the
folder, so names with a special meaning are refused: patterns, hidden names, and names that a file system
does not support. `compiler.rules.datasets.own_folder` checks that datasets do not share a folder.
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


MAX_NAME_BYTES = 255
"""The longest name in the file systems of Linux and in HDFS."""

PATTERN_CHARACTERS = '*?"<>|$[]{}\\'
"""Hadoop reads some of these as a pattern, and people may read the others as one."""

_HINT = "write a path inside the project, such as landing/flights"
_OUTSIDE = (
    f"{_HINT}; where data is elsewhere, set `paths_from` in [warehouse] of tidegate.toml to its folder or URL"
)
_RELATIVE, _INSIDE = "a path is relative, with forward slashes", "a path stays inside the project"


def path_of(node: MappingNode, scope: Scope) -> str | None:
    """Return the path of a dataset without its last slash; None without a path, or after reporting it."""
    place = node.get("path")
    if not isinstance(place, ScalarNode) or not isinstance(place.value, str):
        return None
    wrong = _fault(place.value)
    if wrong is not None:
        hint = _OUTSIDE if wrong in (_RELATIVE, _INSIDE) else _HINT
        scope.findings.add("V207", place, f"{wrong}, got {shown(place.value)}", hint)
        return None
    return place.value.rstrip("/")


def _fault(path: str) -> str | None:
    parts = path.rstrip("/").split("/")
    if path.startswith(("/", "~")) or "\\" in path or ":" in path:
        return _RELATIVE
    if ".." in parts:
        return _INSIDE
    if "" in parts or "." in parts or path != path.strip() or not _is_plain(path):
        return "a path is made of plain names"
    if any(part.startswith((".", "_")) for part in parts):
        return 'a name that begins with "." or "_" is hidden from Spark'
    if any(len(part.encode(errors="replace")) > MAX_NAME_BYTES for part in parts):
        return f"a name has at most {MAX_NAME_BYTES} bytes"
    return None


def _is_plain(path: str) -> bool:
    return path.isprintable() and not any(character in path for character in PATTERN_CHARACTERS)
