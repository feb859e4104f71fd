"""The rule that `alerts` name channels which the project's settings have.

An alert for an unknown channel would be found only when it is sent. The settings are not part of the
language: the caller hands in the names of all channels, those of every environment.
"""

from collections.abc import Collection, Iterator

from tidegate.compiler.diagnostics.diagnostic import Diagnostic, Findings
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown

SECTIONS = ("datasets", "schedules", "tasks")
"""The sections whose parts have `alerts`."""


def channel_diagnostics(
    root: MappingNode, known: Collection[str] | None, file: str, text: str
) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for each unknown channel in an app, or in one schedule.

    Args:
        root: of the file, or of the specification of a schedule.
        known: the channels of the settings; None: nothing is reported.
    """
    if known is None:
        return ()
    findings = Findings(file, text)
    for node in (root, *_parts(root)):
        for name in _named(node.get("alerts")):
            if name.value not in known:
                findings.add(
                    "N319",
                    name,
                    f"`alerts` names a channel of tidegate.toml, got {shown(name.value)}",
                    did_you_mean(str(name.value), known, "channels")
                    if known
                    else f"write a section [alerts.channels.{name.value}] there, or delete `alerts`",
                )
    return findings.diagnostics()


def _parts(root: MappingNode) -> Iterator[MappingNode]:
    for section in SECTIONS:
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
