"""What failed, in one line: the first line of an exception, with the file and the line that caused it.

    ValueError: no fares for day 2013-01-07 (programs/clean_fares.py:17)

The place is the deepest one in code of the user's own: neither Tidegate, nor an installed package, nor
Python itself. The line is in Dagster's failure, in `tidegate jobs show` and in `tidegate why`.
"""

import sysconfig
import traceback
from pathlib import Path

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
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    if len(first) > TEXT_CHARACTERS:
        first = first[: TEXT_CHARACTERS - 1] + "…"
    place = user_place(error)
    if place is None:
        return first
    file, line = place
    shown = file.relative_to(project) if file.is_relative_to(project) else file
    return f"{first} ({shown}:{line})"


def user_place(error: BaseException) -> tuple[Path, int] | None:
    """File and line of the user's own code where an exception came from; None when it has no part in it."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return Path(error.filename), error.lineno
    own = [
        (Path(frame.filename), frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.lineno is not None and _is_own(Path(frame.filename))
    ]
    return own[-1] if own else None


def _is_own(file: Path) -> bool:
    if file.is_relative_to(_EXAMPLE):
        return True
    return file.is_absolute() and not any(file.is_relative_to(place) for place in (_PACKAGE, *_INSTALLED))
