"""`python -m tests.tidy.figures`: the product in lines, files, methods of the store and loaded modules.

Lines are counted as a reader sees them: code has a token that is neither a comment nor part of a docstring.
Modules are those that a command has loaded when it ends, in a project that has deployed one schedule.
"""

import ast
import importlib
import inspect
import io
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

from tidegate.project.environment import STARTER

ROOT = Path(__file__).parent.parent.parent
PRODUCT = "tidegate"

FLOOR = 40
"""A file of fewer lines needs a reason to be one."""

STORE = "tidegate.scheduler.store"
USERS = (
    "Reader",
    "Transaction",
    "EngineReader",
    "EngineTransaction",
    "ListingReader",
    "UpkeepTransaction",
)
"""The protocols of the store by who uses them; those that exist are counted."""

COMMANDS = (("--help",), ("lint",), ("jobs", "list"), ("status",), ("why", "daily"))
FOUND_WRONG = 1
"""With this `status` ends: the project has no scheduler."""
ROOMS = (
    "tidegate.scheduler.decision",
    "tidegate.scheduler.tick",
    "tidegate.scheduler.retention",
    "tidegate.scheduler.store.sql.migrations",
    "tidegate.listings",
)
"""Their modules are counted apart."""

NO_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)

LOADED = """
import atexit, sys
def show():
    counted = ("tidegate", "pydantic", "yaml")
    print(*sorted(name for name in sys.modules if name.partition(".")[0] in counted), file=sys.stderr)
atexit.register(show)
from tidegate.cli.main import main
main()
"""

APP = """\
app: sales
programs:
  report: {run: programs.report}
schedules:
  daily: {trigger: {cron: "0 6 * * *"}, program: report}
"""
PROGRAM = "def report(spark, inputs, params): ...\n"


@dataclass(frozen=True, kw_only=True)
class Lines:
    """The lines of Python files: all, with code, of docstrings, and with nothing but a comment."""

    all: int = 0
    code: int = 0
    docstrings: int = 0
    comments: int = 0

    @property
    def blank(self) -> int:
        return self.all - self.code - self.docstrings - self.comments

    def __add__(self, other: "Lines") -> "Lines":
        return Lines(
            all=self.all + other.all,
            code=self.code + other.code,
            docstrings=self.docstrings + other.docstrings,
            comments=self.comments + other.comments,
        )


def count_lines(text: str) -> Lines:
    """Count the lines of a module. A blank line within a docstring is one of the docstring."""
    docstrings = {line for start, end in _docstrings(ast.parse(text)) for line in range(start, end + 1)}
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        lines = range(token.start[0], token.end[0] + 1)
        if token.type == tokenize.COMMENT:
            comments.update(lines)
        elif token.type not in NO_CODE:
            code.update(lines)
    code -= docstrings
    return Lines(
        all=len(text.splitlines()),
        code=len(code),
        docstrings=len(docstrings),
        comments=len(comments - code - docstrings),
    )


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """The first and last lines of the texts that are statements: docstrings, also those of attributes."""
    for node in ast.walk(tree):
        for statement in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            if (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant)
                and isinstance(statement.value.value, str)
            ):
                yield statement.lineno, statement.end_lineno or statement.lineno


def store_methods() -> dict[str, tuple[int, int]]:
    """The public methods of each protocol of the store, and the classes that it is made of."""
    found: dict[str, tuple[int, int]] = {}
    package = importlib.import_module(STORE)
    for module in pkgutil.walk_packages(package.__path__, f"{STORE}."):
        if ".migrations" in module.name:
            continue
        for name, kind in vars(importlib.import_module(module.name)).items():
            if name in USERS and inspect.isclass(kind) and getattr(kind, "_is_protocol", False):
                methods = [each for each, _ in inspect.getmembers(kind, inspect.isfunction) if each[0] != "_"]
                parts = [part for part in kind.__mro__ if part.__module__.startswith(f"{PRODUCT}.")]
                found[name] = (len(methods), len(parts))
    return found


def modules_of(command: tuple[str, ...], project: Path) -> tuple[str, ...]:
    """The modules of the product, of pydantic and PyYAML, that are loaded when a command ends.

    Raises:
        RuntimeError: the command fails.
    """
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *command],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != (FOUND_WRONG if command == ("status",) else 0):
        said = done.stderr.splitlines()[:-1]
        raise RuntimeError(f"tidegate {' '.join(command)} ends with {done.returncode}: {said}")
    return tuple(done.stderr.splitlines()[-1].split())


@cache
def loaded_modules() -> dict[str, tuple[str, ...]]:
    """The modules that each of `COMMANDS` loads, in a project that has deployed one schedule."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "tidegate.toml").write_text("")
        (project / "schedules").mkdir()
        (project / "schedules" / "sales.yaml").write_text(APP)
        (project / "programs.py").write_text(PROGRAM)
        home = project / ".tidegate" / "dagster"
        home.mkdir(parents=True)
        shutil.copy(STARTER / "dagster.yaml", home)
        modules_of(("deploy",), project)
        return {" ".join(command): modules_of(command, project) for command in COMMANDS}


def count_own(modules: tuple[str, ...]) -> int:
    """How many of the modules are the product's."""
    return sum(name.partition(".")[0] == PRODUCT for name in modules)


def _text_lines() -> int:
    """Return the lines of all files of the product that are text."""
    count = 0
    for path in sorted((ROOT / PRODUCT).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            try:
                count += len(path.read_text("utf-8").splitlines())
            except UnicodeDecodeError:
                continue
    return count


def rows() -> Iterator[tuple[str, str]]:
    """The table: what is counted, and how many there are."""
    paths = [path for path in sorted((ROOT / PRODUCT).rglob("*.py")) if "__pycache__" not in path.parts]
    files = [count_lines(path.read_text("utf-8")) for path in paths]
    total = sum(files, Lines())
    yield "lines of .py", f"{total.all:,}"
    yield "  code", f"{total.code:,}"
    yield "  docstrings", f"{total.docstrings:,}"
    yield "  comments", f"{total.comments:,}"
    yield "  blank", f"{total.blank:,}"
    yield "lines of all text files", f"{_text_lines():,}"
    yield ".py files", f"{len(files):,}"
    yield "  median lines", f"{median(file.all for file in files):.0f}"
    yield f"  under {FLOOR} lines", f"{sum(file.all < FLOOR for file in files):,}"
    for user, (methods, parts) in store_methods().items():
        yield f"methods of {user}", f"{methods} in {parts} classes"
    yield from _module_rows(loaded_modules())


def _module_rows(loaded: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    for command, modules in loaded.items():
        yield f"modules loaded by `{command}`", f"{count_own(modules)}"
        for room in ROOMS:
            inside = sum(name == room or name.startswith(f"{room}.") for name in modules)
            if inside:
                yield f"  {room.removeprefix(f'{PRODUCT}.')}", f"{inside}"


def main() -> None:
    """Print the table."""
    table = list(rows())
    width = max(len(name) for name, _ in table)
    for name, value in table:
        print(f"{name:{width}}  {value}")


if __name__ == "__main__":
    main()
