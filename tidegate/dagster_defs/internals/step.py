"""The outputs of a step.

Why: an IO manager publishes all outputs of a step at once, and gets one at a time.
Since: Dagster 1.5 or before.
"""

from dagster._core.execution.plan.outputs import StepOutputHandle

__all__ = ["StepOutputHandle"]
