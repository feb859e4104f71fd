"""Spark programs, and what publishes their output exactly once.

Users' programs are plain functions which import neither Dagster nor anything of ours. This package
runs them: it reads their inputs, stages what they return and publishes it through a commit sequence.
Nothing here may import the scheduler, the Dagster definitions or the command line.
"""
