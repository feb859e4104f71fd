"""Another project of the company, with a job of the same name."""

import dagster as dg


@dg.op
def nothing() -> None:
    pass


@dg.job
def load_region() -> None:
    nothing()


@dg.job
def only_twin() -> None:
    nothing()


defs = dg.Definitions(jobs=[load_region, only_twin])
