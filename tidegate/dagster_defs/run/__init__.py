"""The code that runs inside a Dagster run: claim, program, published partitions, recovery."""
