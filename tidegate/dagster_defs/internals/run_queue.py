"""What Dagster's queue of runs decides by.

Why: a run that need not wait is launched past the queue, by the same limits.
Since: Dagster 1.10.
"""

from dagster._core.instance.config import ConcurrencyConfig
from dagster._core.run_coordinator.base import SubmitRunContext

__all__ = ["ConcurrencyConfig", "SubmitRunContext"]
