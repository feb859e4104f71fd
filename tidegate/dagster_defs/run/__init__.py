"""What happens inside a Dagster run: claim, program, published partitions, recovery."""
