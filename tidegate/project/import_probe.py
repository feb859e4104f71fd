"""The child process that imports programs, checks and sources: `python -m tidegate.project.import_probe`.

It reads a JSON list of (kind, dotted path) from the standard input and writes a JSON list with the fault of
each, or null, to the file that its argument names: the modules may print. User code runs here, so that a
module that exits, hangs or changes the process does no harm to the command.
"""

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tidegate.spark_jobs.errors import INSTALL_SPARK, ProgramError, lacks_spark
from tidegate.spark_jobs.programs.loading import (
    FunctionMissing,
    ModuleMissing,
    SignatureWrong,
    load_check,
    load_program,
    load_source,
)

CODES: dict[type[ProgramError], str] = {
    ModuleMissing: "N310",
    FunctionMissing: "N311",
    SignatureWrong: "N312",
}
IMPORT_FAILS = "N313"
LOADERS: dict[str, Callable[[str], Any]] = {
    "run": load_program,
    "check": load_check,
    "incremental": load_source,
}


def fault_of(kind: str, path: str) -> dict[str, str] | None:
    """Return code, summary and hint for a path that cannot be loaded; None for one that can."""
    try:
        LOADERS[kind](path)
    except ProgramError as error:
        got = "" if isinstance(error, SignatureWrong) else f', got "{path}"'
        return {"code": CODES[type(error)], "summary": f"{error.message}{got}", "hint": error.hint}
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- whatever the user's module raises
        brought = f" ({INSTALL_SPARK})" if lacks_spark(error) else ""
        return {
            "code": IMPORT_FAILS,
            "summary": f"{path} cannot be imported here, got {type(error).__name__}: {error}{_place(error)}",
            "hint": f"correct it, or install here what it imports{brought}; --no-imports skips this check",
        }
    return None


def _place(error: BaseException) -> str:
    """Return file and line of the innermost frame of the user's code."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<frozen") and Path(frame.filename) != Path(__file__)
    ]
    own = [frame for frame in frames if "site-packages" not in frame.filename]
    own = [frame for frame in own if Path(frame.filename).name not in ("loading.py", "__init__.py")]
    if not own:
        return ""
    file = Path(own[-1].filename)
    here = Path.cwd()
    shown = file.relative_to(here) if file.is_relative_to(here) else file
    return f" ({shown}:{own[-1].lineno})"


def main() -> None:
    """Check the paths of the standard input."""
    wanted: list[tuple[str, str]] = json.load(sys.stdin)
    found: list[Any] = [fault_of(kind, path) for kind, path in wanted]
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
