"""The commands for cycle tasks: their instances, a day of them, and backfills."""
