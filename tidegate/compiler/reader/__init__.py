"""Bytes of a YAML file to a tree of nodes that know their places.

`text` checks the bytes and characters, `compose` turns the parser's events into nodes within
limits, `scalar` gives plain scalars the meaning of YAML 1.2. Nothing here knows the language
of Tidegate: that begins with `compiler.schema`.
"""

from tidegate.compiler.reader.compose import read
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode, from_value, plain

__all__ = ["MappingNode", "Node", "ScalarNode", "SequenceNode", "from_value", "plain", "read"]
