"""One breach of a rule of style, and the source in which rules look for breaches."""

import ast
import io
import tokenize
from dataclasses import dataclass
from functools import cached_property


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

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def comments(self) -> list[tuple[int, str]]:
        """Line numbers, counted from 1, and texts."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]

    @property
    def package(self) -> str:
        return self.path.partition("/")[0]

    def finding(self, line: int, message: str) -> Finding:
        return Finding(path=self.path, line=line, message=message)
