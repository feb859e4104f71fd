"""The deployed plan as Dagster definitions: assets, partitions, schedules, sensors."""
