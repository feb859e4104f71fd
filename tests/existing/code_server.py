"""`dagster api grpc` whose runs are forked from a process that has loaded Dagster.

Dagster's server starts a Python for each run, which loads Dagster for two seconds of processor time. What it
executes is the same; test_places.py and the tests of plain Dagster have its own way.
"""

import multiprocessing

from dagster._cli import main
from dagster._grpc import server

if __name__ == "__main__":
    forked = multiprocessing.get_context("forkserver")
    forked.set_forkserver_preload([server.__name__, main.__module__])
    vars(multiprocessing)["get_context"] = lambda _method: forked  # Dagster's server asks for "spawn"
    main()
