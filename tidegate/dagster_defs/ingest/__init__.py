"""From Dagster's event log into the schedule store, without losing or doubling an event.

`event_log` reads rows, `holes` and `position` decide what to read again, `partition_events`
and `run_observations` translate rows, `intake` does one round of it, `reconcile` looks again
at what the rounds may have missed.
"""
