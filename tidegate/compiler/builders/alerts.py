"""The builder of `alerts`: the channels of each kind of alert, or one list for all kinds."""

from typing import cast

from tidegate.compiler.reader.node import MappingNode, plain
from tidegate.domain.model.alerts import KINDS, Routes


def build_alerts(node: MappingNode) -> Routes:
    """Build the routes of an app, schedule or task; without the key none, so that those around it count."""
    written = node.get("alerts")
    if written is None:
        return {}
    if isinstance(written, MappingNode):
        return {kind: _channels(plain(channels)) for kind, channels in written.values.items()}
    return dict.fromkeys(KINDS, _channels(plain(written)))


def _channels(written: object) -> tuple[str, ...]:
    names = [written] if isinstance(written, str) else cast("list[str]", written)
    return tuple(dict.fromkeys(names))
