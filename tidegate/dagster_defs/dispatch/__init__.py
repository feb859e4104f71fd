"""The dispatcher sensor: it ticks the engine and asks Dagster for the runs."""
