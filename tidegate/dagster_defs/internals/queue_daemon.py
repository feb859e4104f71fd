"""The part of Dagster's daemon that takes runs from the queue.

Why: it expects that no other process does; it has to wait for its turn.
Since: Dagster 1.3, which has taken each run by `_dequeue_run` since.
"""

from dagster._daemon.run_coordinator.queued_run_coordinator_daemon import QueuedRunCoordinatorDaemon

__all__ = ["QueuedRunCoordinatorDaemon"]
