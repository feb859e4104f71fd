"""The daemon as a module of this Python.

Why: the command `dagster-daemon` is public, but may be that of another environment, or not on the path.
Since: Dagster 1.5 or before.
"""

MODULE = "dagster._daemon"
