"""Scenarios: an app's `examples:` and files for `tidegate simulate`, read and checked."""
