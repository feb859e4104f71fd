"""Assets of any Dagster project as tables that are published exactly once: what `TidegateIOManager` does."""
