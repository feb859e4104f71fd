"""Retention: prune what is old and no longer needed, in small transactions (docs/retention.md)."""
