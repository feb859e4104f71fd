"""A Dagster project on the flights of 2013 whose tables are published by `TidegateIOManager`."""
