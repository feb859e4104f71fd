"""`python -m benchmarks`: every benchmark of this folder, one after the other.

A benchmark is a module with a `main()` that prints its figures and a reference measured in the
same run. The exit code is 1 if a benchmark fails.
"""

import importlib
import pkgutil
import sys
import time
import traceback
from pathlib import Path


def main() -> int:
    """Run all benchmarks and return the number of failures."""
    failures = 0
    for module in sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)])):
        if module.startswith("_"):
            continue
        benchmark = importlib.import_module(f"benchmarks.{module}")
        if not hasattr(benchmark, "main"):
            continue
        print(f"\n== {module}", flush=True)
        began = time.perf_counter()
        try:
            if benchmark.main():
                failures += 1
        except Exception:  # noqa: BLE001 - a broken benchmark must not hide the figures of the others
            traceback.print_exc()
            failures += 1
        print(f"({time.perf_counter() - began:.0f} s)", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(min(main(), 1))
