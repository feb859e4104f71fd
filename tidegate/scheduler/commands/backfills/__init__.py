"""Backfills: tasks and schedules run for dates and keys of the past, in lots (docs/cycles.md, "Backfill")."""
