"""Checks and repairs of published tables: fsck, and files that nothing names any more."""
