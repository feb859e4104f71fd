"""Ingestion of Dagster's event log into the schedule store: each event exactly once.

`event_log` reads rows, `holes` and `position` decide what to read again, `partition_events`
and `run_observations` translate rows, `intake` runs one round, `reconcile` finds what the
rounds missed.
"""
