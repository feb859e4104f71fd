"""Runs Spark programs and publishes their output exactly once.

Users' programs are plain functions that import neither Dagster nor Tidegate. This package runs them:
it reads their inputs, stages what they return and publishes it through a commit sequence.
Nothing here may import the scheduler, the Dagster definitions or the command line.

`commit` does not know the table formats. The line below registers the loader of their commit steps, so
that these can be decoded whichever module of this package is imported.
"""

from tidegate.spark_jobs.commit.step import load_kinds_with
from tidegate.spark_jobs.publication.formats import load_steps

load_kinds_with(load_steps)
