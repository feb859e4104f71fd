"""Rules on what a pure module may do: no clock, no chance, no I/O.

Which package may import which is the matter of the import contracts in pyproject.toml alone.
"""

import ast
from collections.abc import Iterator

from tests.tidy.finding import Finding, Source

PURE = (
    "tidegate/domain/",
    "tidegate/compiler/",
    "tidegate/scheduler/",
)
IMPURE = ("tidegate/scheduler/store/",)
"""The engine's only door to the outside is its store; the rest of `scheduler` is pure."""

BARE_NAMES = frozenset({"compiler", "scheduler", "spark_jobs", "dagster_defs"})
"""The links at the top of the repository are for people; code imports `tidegate.…`."""

EFFECTFUL_MODULES = frozenset(
    {
        "asyncio",
        "io",
        "logging",
        "multiprocessing",
        "os",
        "pathlib",
        "random",
        "secrets",
        "shutil",
        "signal",
        "socket",
        "sqlite3",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "uuid",
    }
)
WITHOUT_EFFECT = frozenset({"urllib.parse"})
"""Parts of these modules that reach nothing."""

EFFECTFUL_CALLS = frozenset({"open", "print", "input", "breakpoint", "exec", "eval"})
CLOCK_METHODS = frozenset({"now", "utcnow", "today"})


def is_pure(path: str) -> bool:
    """Whether a file, by its path from the project's folder, must be free of effects."""
    return path.startswith(PURE) and not path.startswith(IMPURE)


def check_purity(source: Source) -> Iterator[Finding]:
    """Every breach of these rules in one file."""
    pure = is_pure(source.path)
    for line, module in _imports(source):
        top = module.partition(".")[0]
        if top in BARE_NAMES:
            yield source.finding(line, f"imports {module}; write tidegate.{module}")
        if pure and top in EFFECTFUL_MODULES and module not in WITHOUT_EFFECT:
            yield source.finding(line, f"a pure module imports {module}")
    if pure:
        yield from _effects(source)


def _imports(source: Source) -> Iterator[tuple[int, str]]:
    for node in source.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.lineno, node.module


def _effects(source: Source) -> Iterator[Finding]:
    for node in source.nodes:
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in EFFECTFUL_CALLS:
            yield source.finding(node.lineno, f"a pure module calls {called.id}()")
        if (
            isinstance(called, ast.Attribute)
            and called.attr in CLOCK_METHODS
            and ast.unparse(called.value) in ("datetime", "date", "datetime.datetime", "datetime.date")
        ):
            yield source.finding(node.lineno, f"a pure module reads the clock: {ast.unparse(called)}()")
