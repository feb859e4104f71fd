"""The rules that `alerts` name channels, and programs clusters, which the project's settings have.

An alert for an unknown channel would be found only when it is sent, and a program of an unknown cluster would
run on another one. The settings are not part of the language: the caller hands in their names, those of
every environment.
"""

from collections.abc import Collection, Iterator

from tidegate.compiler.diagnostics.diagnostic import Diagnostic, Findings
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.value import Value
from tidegate.domain.wording import shown

SECTIONS = ("datasets", "schedules", "tasks")
"""The sections whose parts have `alerts`."""


class NamedSettings(Value, kw_only=True):
    """The names in `tidegate.toml` that YAML may use."""

    channels: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()


def diagnose_named_settings(
    root: MappingNode, known: NamedSettings | None, file: str, text: str
) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for each unknown channel and cluster in an app, or in one schedule.

    Args:
        root: of the file, or of the specification of a schedule.
        known: the names of the settings; None: nothing is reported.
    """
    if known is None:
        return ()
    findings = Findings(file, text)
    for node in (root, *(part for section in SECTIONS for part in _parts(root, section))):
        for name in _named(node.get("alerts")):
            _check(name, known.channels, ("N319", "alerts", "channel"), findings)
    for program in _parts(root, "programs"):
        for name in _named(program.get("cluster")):
            _check(name, known.clusters, ("N321", "cluster", "cluster"), findings)
    return findings.diagnostics()


_PLACES = {"channel": "alerts.channels", "cluster": "spark.clusters"}


def _check(name: ScalarNode, known: Collection[str], about: tuple[str, str, str], findings: Findings) -> None:
    code, key, what = about
    if name.value in known:
        return
    findings.add(
        code,
        name,
        f"`{key}` names a {what} of tidegate.toml, got {shown(name.value)}",
        did_you_mean(str(name.value), known, f"{what}s")
        if known
        else f"write a section [{_PLACES[what]}.{name.value}] there, or delete `{key}`",
    )


def _parts(root: MappingNode, section: str) -> Iterator[MappingNode]:
    found = root.get(section)
    if isinstance(found, MappingNode):
        yield from (part for part in found.values.values() if isinstance(part, MappingNode))


def _named(written: Node | None) -> Iterator[ScalarNode]:
    match written:
        case ScalarNode():
            yield written
        case SequenceNode():
            yield from (each for each in written.items if isinstance(each, ScalarNode))
        case MappingNode():
            for channels in written.values.values():
                yield from _named(channels)
        case _:
            return
