"""`renamed_from`: one former name, or several with the newest first.

A part of an app stays in it, so the app and its namespace say nothing more where they are before the
former name; they are checked (`compiler.rules.former_names`) and left out.
"""

from tidegate.compiler.reader.node import MappingNode, ScalarNode


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
