"""What is deployed as Dagster definitions: assets, partitions, schedules, sensors."""
