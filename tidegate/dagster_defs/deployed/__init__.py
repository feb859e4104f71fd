"""What is deployed, in Dagster's terms: assets with their programs, partitions, names, tags of runs."""
