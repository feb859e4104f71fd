"""The YAML reader: from the bytes of a file to a tree of nodes with places.

`text` checks the bytes and characters, `compose` turns the parser's events into nodes within limits,
`scalar` resolves plain scalars as YAML 1.2. The language of Tidegate begins with `compiler.schema`.
"""

from tidegate.compiler.reader.compose import read, read_option
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode, from_value, plain

__all__ = ["MappingNode", "Node", "ScalarNode", "SequenceNode", "from_value", "plain", "read", "read_option"]
