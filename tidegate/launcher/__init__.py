"""A Dagster run launcher whose runs are forks of a process that has everything loaded.

    launcher (daemon, host, webserver) ──socket──► run server ──fork──► a run

`dagster.yaml` names `TidegateRunLauncher`, as it would any other launcher.
"""

from tidegate.launcher.launcher import TidegateRunLauncher

__all__ = ["TidegateRunLauncher"]
