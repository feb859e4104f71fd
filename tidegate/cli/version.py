"""`tidegate version`: the versions of the installed distribution and of Python.

The distribution's command begins here, since `tidegate --version` needs none of what the other commands load.
"""

import gc
import platform
import sys

from tidegate.project.loading import collect_seldom
from tidegate.release import release

ASKED = (["--version"], ["version"])
"""Command lines that ask for nothing but the version."""

GARBAGE_AT = 400_000
"""So many new objects make the garbage collector look. Python's 700 make it look two hundred times while a
command loads, which makes no garbage."""

STAYING = {"dev", "host", "serve"}
"""Commands that run for days, and make garbage."""


def main() -> None:
    """Run the command line: the entry point of the distribution."""
    if sys.argv[1:] in ASKED:
        # Without typer, whose import takes longer than all of this.
        version()
        return
    collect_seldom()
    if STAYING.isdisjoint(sys.argv):
        gc.set_threshold(GARBAGE_AT)
    from tidegate.cli.main import main as run_command

    run_command()


def version() -> None:
    """Print the version."""
    print(f"tidegate {release() or '(run from source, not installed)'} on Python {platform.python_version()}")
