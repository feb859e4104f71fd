"""`renamed_from`: one former name, or several with the newest first."""

from tidegate.compiler.reader.node import MappingNode, ScalarNode


def renamed_from(node: MappingNode) -> tuple[str, ...]:
    """Return the former names of an app, a dataset or a program."""
    return tuple(dict.fromkeys(str(name.value) for name in former_names(node)))


def former_names(node: MappingNode) -> tuple[ScalarNode, ...]:
    """Return the nodes of the former names."""
    one = node.get("renamed_from")
    return (one,) if isinstance(one, ScalarNode) else node.strings("renamed_from")
