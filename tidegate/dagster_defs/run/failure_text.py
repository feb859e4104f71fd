"""What failed, in one line: the first line of an exception, with the file and the line that caused it.

    ValueError: no fares for day 2013-01-07 (programs/clean_fares.py:17)

The place is the deepest one in code of the user's own: neither Tidegate, nor an installed package, nor
Python itself. Of a function that failed in a Python worker of Spark, both are the worker's. The line is in
Dagster's failure, in `tidegate jobs list` and `show`, and in `tidegate why`.
"""

import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path

from tidegate.dagster_defs.run.worker_error import worker_error
from tidegate.domain.error import UserError

TEXT_CHARACTERS = 500
"""A longer first line is cut."""

_PACKAGE = Path(__file__).parents[2]
_EXAMPLE = _PACKAGE / "demo"
_INSTALLED = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))


def failure_text(error: BaseException, project: Path) -> str:
    """One line on a failure; of one whose message says what to do, that message.

    Args:
        project: the folder that files are named relative to.
    """
    if isinstance(error, UserError):
        return str(error)
    in_worker = worker_error(error)
    first = _first_line(error) if in_worker is None else in_worker.line
    if len(first) > TEXT_CHARACTERS:
        first = first[: TEXT_CHARACTERS - 1] + "…"
    place = user_place(error)
    if in_worker is not None:
        place = _deepest(in_worker.frames) or place
    if place is None:
        return first
    file, line = place
    shown = file.relative_to(project) if file.is_relative_to(project) else file
    return f"{first} ({shown}:{line})"


def user_place(error: BaseException) -> tuple[Path, int] | None:
    """File and line of the user's own code where an exception came from; None when it has no part in it."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return Path(error.filename), error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return _deepest((Path(frame.filename), frame.lineno) for frame in frames if frame.lineno is not None)


def _deepest(frames: Iterable[tuple[Path, int]]) -> tuple[Path, int] | None:
    own = [(file, line) for file, line in frames if _is_own(file)]
    return own[-1] if own else None


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if type(error).__name__ == "Py4JJavaError" and len(lines) > 1:
        # Its first line names the call of Java, its second what Java has thrown.
        return lines[1].removeprefix(": ")
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _is_own(file: Path) -> bool:
    if file.is_relative_to(_EXAMPLE):
        return True
    return file.is_absolute() and not any(file.is_relative_to(place) for place in (_PACKAGE, *_INSTALLED))
