"""Instances of cycle tasks: times, upstream instances, status and actions. Pure (docs/cycles.md)."""
