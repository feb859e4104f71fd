"""Spark programs, and what publishes their output exactly once.

Users' programs are plain functions which import neither Dagster nor anything of ours. This package
runs them: it reads their inputs, stages what they return and publishes it through a commit sequence.
Nothing here may import the scheduler, the Dagster definitions or the command line.

Whatever is imported of this package, commit steps of every table format can be decoded: the line below
hands `commit`, which knows no format, what loads them.
"""

from tidegate.spark_jobs.commit.step import load_kinds_with
from tidegate.spark_jobs.publication.formats import load_steps

load_kinds_with(load_steps)
