"""The engine: events, triggers, constraints, the job queue and the schedule store.

It imports from `compiler` only. Dagster and Spark are not known here: runs arrive as
observations and leave as launch requests, so that the same engine serves the daemon, the
scenarios and every test.
"""
