"""Spark programs, and what publishes their output exactly once.

The programs (spark_jobs/flights) are plain functions which import neither Dagster nor
anything of ours. Everything else here runs them: it reads their inputs, stages what they
return and publishes it through a commit sequence. Nothing in this package may import the
scheduler, the Dagster definitions or the command line.
"""
