"""The engine: events, triggers, constraints, the job queue and the schedule store.

It imports `domain` and `compiler` only and does not know Dagster or Spark: runs arrive as
observations and leave as launch requests. So the same engine serves the daemon, the scenarios and
every test.

`tick` does not know the commands. The last line registers the one that the clock gives, so that overrides
expire whichever module of this package is imported.
"""

from tidegate.scheduler.expired import Revert, revert_with


def _revert() -> Revert:
    from tidegate.scheduler.commands.reverts import end_expired

    return end_expired


revert_with(_revert)
