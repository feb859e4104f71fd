"""Programs that exist in Dagster, compared with the loaded code locations: `--locations`."""
