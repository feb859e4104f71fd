"""What a run may have changed in the Python process that it shares with the next run, and how it is set back.

Set back: the project's modules, the Python path, working folder and environment, handlers of logs, filters of
warnings, seeds, the context of decimals. Threads that go on cannot be ended: the process is not as it was.
What a run has changed in modules of installed packages is not seen.
"""

import decimal
import gc
import linecache
import logging
import random
import sys
import threading
import warnings
from importlib import invalidate_caches
from pathlib import Path
from types import ModuleType

from tidegate.launcher.preload import KNOWN


class ProcessState:
    """The state of a process before its first run."""

    def __init__(self) -> None:
        self._modules = set(sys.modules)
        self._path = list(sys.path)
        self._handlers, self._level = list(logging.root.handlers), logging.root.level
        self._filters = list(warnings.filters)
        self._is_frozen = False

    def restore(self) -> bool:
        """Set back what a run may have changed; return whether that was possible."""
        for name, module in list(sys.modules.items()):
            if name in self._modules:
                continue
            if is_of_project(module):
                del sys.modules[name]
            else:
                # It stays, so that it is looked at once.
                self._modules.add(name)
        sys.path[:] = self._path
        logging.root.handlers[:] = self._handlers
        logging.root.setLevel(self._level)
        warnings.filters = self._filters[:]
        decimal.setcontext(decimal.Context())
        seed()
        linecache.clearcache()
        invalidate_caches()
        gc.collect()
        if not self._is_frozen:
            # What the first run has loaded stays for all runs: collecting that again takes longer than a run.
            gc.freeze()
            self._is_frozen = True
        threads = threading.enumerate()
        return all(thread.daemon or thread is threading.current_thread() for thread in threads)


def seed() -> None:
    """Seed the random numbers of this process as those of a new one."""
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        # Python's own generator is seeded at a fork; that of NumPy would repeat itself in every run.
        numpy.random.seed()


def is_of_project(module: ModuleType) -> bool:
    """Return whether a module is neither installed nor Python's own, nor ours."""
    file = getattr(module, "__file__", None)
    # A package without __init__.py has folders only; a module that is built into Python has neither.
    places = [file] if file else list(getattr(module, "__path__", ()))
    return bool(places) and not any(Path(place).is_relative_to(known) for place in places for known in KNOWN)
