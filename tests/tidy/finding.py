"""One breach of a rule of style, and the source in which rules look for breaches."""

import ast
import gc
import re
from dataclasses import dataclass
from functools import cached_property

STRING_OR_COMMENT = re.compile(
    r"""\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}"""
    r"""|"(?:\\.|[^\\"\n])*"|'(?:\\.|[^\\'\n])*'|(?P<comment>\#[^\n]*)""",
    re.DOTALL,
)
"""What Python's own lexer takes for one, eight times as quickly."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Prints as compilers do, so that editors jump to the place."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: error: {self.message}"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A Python file: its path from the project's folder with forward slashes, and its text."""

    path: str
    text: str

    @property
    def module(self) -> str:
        """Its name in an import."""
        return module_of(self.path)

    @cached_property
    def tree(self) -> ast.Module:
        # Each collection would look at the trees of all files again: three times the time of the parser.
        gc.disable()
        try:
            return ast.parse(self.text)
        finally:
            gc.enable()

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def comments(self) -> list[tuple[int, str]]:
        """Line numbers, counted from 1, and texts."""
        found: list[tuple[int, str]] = []
        line, counted = 1, 0
        for match in STRING_OR_COMMENT.finditer(self.text):
            if match["comment"] is not None:
                line += self.text.count("\n", counted, match.start())
                counted = match.start()
                found.append((line, match["comment"]))
        return found

    @property
    def package(self) -> str:
        return self.path.partition("/")[0]

    def finding(self, line: int, message: str) -> Finding:
        return Finding(path=self.path, line=line, message=message)


def module_of(path: str) -> str:
    """Return the module of a file, or the package of its `__init__.py`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
