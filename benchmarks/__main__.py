"""`python -m benchmarks [--short] [NAME …]`: all benchmarks, or those named, one after the other.

A benchmark is a module here, or in one of `FOLDERS`, with a `main()` that prints its figures and a reference
measured in the same run. If that takes `short`, it measures with `--short` less often, or less of it, in a
minute or a few. The exit code is 1 if a benchmark fails.
"""

import argparse
import importlib
import inspect
import pkgutil
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

FOLDERS = ("curves", "peers", "publishing")


def main(names: Sequence[str], *, short: bool) -> int:
    """Run benchmarks and return the number of failures."""
    failures = 0
    for module in names:
        benchmark = importlib.import_module(_all()[module])
        if not hasattr(benchmark, "main"):
            continue
        print(f"\n== {module}", flush=True)
        began = time.perf_counter()
        try:
            if _run(benchmark.main, short=short):
                failures += 1
        except Exception:  # noqa: BLE001 - a broken benchmark must not hide the figures of the others
            traceback.print_exc()
            failures += 1
        print(f"({time.perf_counter() - began:.0f} s)", flush=True)
    return failures


def _run(measure: Callable[..., int], *, short: bool) -> int:
    return measure(short=short) if "short" in inspect.signature(measure).parameters else measure()


def _all() -> dict[str, str]:
    """Return the module of each name."""
    folder = str(Path(__file__).parent)
    found = {
        module.name: f"{package}.{module.name}"
        for path, package in (
            (folder, "benchmarks"),
            *((f"{folder}/{name}", f"benchmarks.{name}") for name in FOLDERS),
        )
        for module in pkgutil.iter_modules([path])
        if module.name not in FOLDERS
    }
    return {name: path for name, path in sorted(found.items()) if not name.startswith("_")}


if __name__ == "__main__":
    given = argparse.ArgumentParser(prog="python -m benchmarks")
    given.add_argument(
        "names", nargs="*", choices=[*_all(), []], metavar="NAME", help="all, if none is named"
    )
    given.add_argument("--short", action="store_true", help="measure less often, or less of it")
    asked = given.parse_args()
    sys.exit(min(main(asked.names or [*_all()], short=asked.short), 1))
