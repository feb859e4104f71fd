"""The engine: events, triggers, constraints, the job queue and the schedule store.

It imports `domain` and `compiler` only and does not know Dagster or Spark: runs arrive as
observations and leave as launch requests. So the same engine serves the daemon, the scenarios and
every test.
"""
