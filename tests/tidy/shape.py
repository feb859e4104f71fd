"""Rules on the shape of files: names, docstrings, lengths, leftovers and unexplained suppressions."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import median

from tests.tidy.finding import Finding, Source

MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 70
MAX_LINE_CHARS = 110
MIN_REASON_CHARS = 10

PARAMETRISED = frozenset({"pytest.mark.parametrize", "pytest.fixture", "pytest.param"})
OF_THE_MACHINE = frozenset(
    {"is_file", "is_dir", "exists", "which", "find_spec", "environ", "getenv", "platform"}
)

PRODUCT = "tidegate"
MAX_MEDIAN_LINES = 120
LONG_FUNCTION_LINES = 50
LONG_FUNCTIONS_PER_MILLE = 5
MAX_FOLDER_FILES = 30
FILES_OF_A_PREFIX = 3

SENTENCES = "tests/field"
"""Its files are named after complaints of users: any number of them, which begin with any word."""

NUMBERED = "/migrations/versions"
"""Its files are named by their numbers."""

VAGUE_NAMES = frozenset(
    {"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc", "base", "tools"}
)
LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
SUPPRESSION = re.compile(
    r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore|pragma:\s*no cover)"
    r"(?::?\s*[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*|\[[^\]]*\])?(?P<reason>.*)"
)

REFERENCE = re.compile(r"See [`A-Z]")


def check_shape(source: Source) -> Iterator[Finding]:
    """Every breach of these rules in one file."""
    yield from _name(source)
    yield from _docstring(source)
    yield from _lengths(source)
    yield from _comments(source)
    if source.package == "tests":
        yield from _skipped_tests(source)
        yield from _parameters(source)


def _name(source: Source) -> Iterator[Finding]:
    for part in source.path.removesuffix(".py").split("/"):
        if part.removeprefix("test_") in VAGUE_NAMES:
            yield source.finding(1, f'"{part}" says nothing; name the file after the noun it defines')


def _docstring(source: Source) -> Iterator[Finding]:
    if source.text.strip() and not (ast.get_docstring(source.tree, clean=False) or "").partition("\n")[0]:
        yield source.finding(1, "no docstring; say what the module is and where it sits")
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            text = ast.get_docstring(node, clean=False) or ""
            if REFERENCE.match(text):
                yield source.finding(
                    node.lineno, f'"{text[:40]}" only refers; a method of a protocol needs none'
                )


def _lengths(source: Source) -> Iterator[Finding]:
    if len(source.lines) > MAX_FILE_LINES:
        yield source.finding(
            MAX_FILE_LINES + 1,
            f"{len(source.lines)} lines, at most {MAX_FILE_LINES}; what is the second idea?",
        )
    for number, line in enumerate(source.lines, 1):
        if len(line) > MAX_LINE_CHARS:
            yield source.finding(number, f"{len(line)} characters, at most {MAX_LINE_CHARS}")
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield source.finding(
                    node.lineno, f"{node.name}() has {length} lines, at most {MAX_FUNCTION_LINES}"
                )


def _comments(source: Source) -> Iterator[Finding]:
    for line, comment in source.comments:
        if (leftover := LEFTOVER.search(comment)) is not None:
            yield source.finding(line, f"a leftover {leftover[1]}; do it or delete it")
        suppression = SUPPRESSION.search(comment)
        if suppression is not None and len(suppression["reason"].strip(" -:#")) < MIN_REASON_CHARS:
            yield source.finding(line, f'"{comment}" without its reason beside it')


def _skipped_tests(source: Source) -> Iterator[Finding]:
    for node in source.nodes:
        if (
            isinstance(node, ast.Attribute)
            and node.attr in ("skip", "skipif", "xfail", "importorskip")
            and ast.unparse(node.value) in ("pytest", "pytest.mark")
        ):
            yield source.finding(node.lineno, f"pytest's {node.attr}; a test runs or is deleted")


def _parameters(source: Source) -> Iterator[Finding]:
    """Parameters of tests and fixtures that another machine may not have: the tests would vanish there.

    Where a list is computed, pytest fails at an empty one (`empty_parameter_set_mark` in pyproject.toml).
    """
    for node in source.nodes:
        if not isinstance(node, ast.Call) or ast.unparse(node.func) not in PARAMETRISED:
            continue
        values = [
            *node.args[1:2],
            *(word.value for word in node.keywords if word.arg in ("params", "argvalues")),
        ]
        for part in (part for value in values for part in ast.walk(value)):
            if isinstance(part, ast.List | ast.Tuple) and not part.elts and part in values:
                yield source.finding(part.lineno, "no parameters; this test never runs")
            if (
                isinstance(part, ast.Attribute | ast.Name)
                and ast.unparse(part).split(".")[-1] in OF_THE_MACHINE
            ):
                message = (
                    f"parameters that depend on the machine ({ast.unparse(part)}); fail with the remedy there"
                )
                yield source.finding(part.lineno, message)


def check_folders(sources: Iterable[Source]) -> Iterator[Finding]:
    """Folders in which a prefix of names, or the number of files, asks for another folder."""
    folders: dict[str, list[str]] = {}
    for source in sources:
        folder, _, name = source.path.rpartition("/")
        if name != "__init__.py" and not folder.endswith(NUMBERED):
            folders.setdefault(folder, []).append(name.removesuffix(".py").removeprefix("test_"))
    for folder, names in sorted(folders.items()):
        if folder == SENTENCES:
            continue
        if len(names) > MAX_FOLDER_FILES:
            message = f"{len(names)} files, at most {MAX_FOLDER_FILES}; what is the second idea?"
            yield Finding(path=folder, line=1, message=message)
        counts = Counter(name.partition("_")[0] for name in names)
        for prefix in sorted(prefix for prefix, count in counts.items() if count >= FILES_OF_A_PREFIX):
            message = f'{counts[prefix]} files begin with "{prefix}"; make it a folder'
            yield Finding(path=folder, line=1, message=message)


def check_figures(sources: Iterable[Source]) -> Iterator[Finding]:
    """What the sizes of all files and functions of the product come to, where it is too much."""
    lines: list[int] = []
    functions: list[int] = []
    for source in sources:
        lines.append(len(source.lines))
        functions += [
            (node.end_lineno or node.lineno) - node.lineno + 1
            for node in source.nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
    if (middle := median(lines)) > MAX_MEDIAN_LINES:
        message = f"half of all files have more than {middle:.0f} lines, at most {MAX_MEDIAN_LINES}"
        yield Finding(path=PRODUCT, line=1, message=message)
    long = sum(length > LONG_FUNCTION_LINES for length in functions)
    if long > LONG_FUNCTIONS_PER_MILLE * len(functions) / 1000:
        message = (
            f"{long} of {len(functions)} functions have more than {LONG_FUNCTION_LINES} lines, "
            f"at most {LONG_FUNCTIONS_PER_MILLE} of a thousand"
        )
        yield Finding(path=PRODUCT, line=1, message=message)
