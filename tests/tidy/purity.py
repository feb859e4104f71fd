"""Rules on what a module may reach: other packages, and in pure modules no clock, chance or I/O."""

import ast
from collections.abc import Iterator

from tests.tidy.finding import Finding, Source

OURS = ("compiler", "scheduler", "spark_jobs", "dagster_defs", "tidegate")

ALLOWED: dict[str, frozenset[str]] = {
    "compiler": frozenset({"compiler"}),
    "scheduler": frozenset({"scheduler", "compiler"}),
    "spark_jobs": frozenset({"spark_jobs", "compiler"}),
    "dagster_defs": frozenset({"dagster_defs", "scheduler", "compiler", "spark_jobs"}),
    "tidegate": frozenset(OURS),
}
"""Which of our packages each may import (docs/adr/0001-one-way-packages.md)."""

HEAVY = frozenset({"dagster", "pyspark", "sqlalchemy", "alembic", "pandas"})
"""What `tidegate lint` must not load, nor the pure half of the engine."""

PROGRAMS = "spark_jobs/flights/"
"""The programs: plain functions that import nothing of ours but their neighbours, and no Dagster."""

PURE = ("compiler/", "scheduler/")
IMPURE = ("scheduler/store/",)
"""The engine's only door to the outside is its store; the rest of `scheduler` is pure."""

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
EFFECTFUL_CALLS = frozenset({"open", "print", "input", "breakpoint", "exec", "eval"})
CLOCK_METHODS = frozenset({"now", "utcnow", "today"})


def check_purity(source: Source) -> Iterator[Finding]:
    """Every breach of these rules in one file."""
    pure = source.path.startswith(PURE) and not source.path.startswith(IMPURE)
    for line, module in _imports(source):
        yield from _direction(source, line, module)
        if pure and module.partition(".")[0] in EFFECTFUL_MODULES | HEAVY:
            yield source.finding(line, f"a pure module imports {module}")
    if pure:
        yield from _effects(source)


def _imports(source: Source) -> Iterator[tuple[int, str]]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.lineno, node.module


def _direction(source: Source, line: int, module: str) -> Iterator[Finding]:
    top = module.partition(".")[0]
    allowed = ALLOWED.get(source.package)
    if allowed is not None and top in (*OURS, "tests") and top not in allowed:
        yield source.finding(line, f"{source.package} must not import {module}")
    if source.path.startswith(PROGRAMS):
        neighbour = module.startswith(PROGRAMS.rstrip("/").replace("/", "."))
        if (top in OURS and not neighbour) or top == "dagster":
            yield source.finding(line, f"a program must not import {module}")


def _effects(source: Source) -> Iterator[Finding]:
    for node in ast.walk(source.tree):
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
