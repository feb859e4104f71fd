"""How a process of Dagster loads: `python -m tidegate.project.loading MODULE …`, as `python -m MODULE …`.

Python's garbage collector looks whenever 700 objects are new, and Dagster makes a million while it loads. It
looks a second time at all of them when the process ends. That was 40 % of what starting and ending cost.
"""

import atexit
import gc
import sys

SELDOM = (50_000, 20, 20)
"""How many new objects make the collector look, and how many looks make it look at older ones."""

RUN_MODULE = (sys.executable, "-m", "tidegate.project.loading")
"""What runs a module: its name and its arguments follow."""


def collect_seldom() -> None:
    """Let the garbage collector look seldom, and not at all when the process ends."""
    gc.set_threshold(*SELDOM)
    atexit.register(gc.freeze)


def main() -> None:
    """Run the module that the command line names, with the arguments after it."""
    import runpy  # not at the top: a command calls only the function above

    collect_seldom()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
