"""Functions that a run cannot call."""


def two(spark, inputs):
    """Take too few arguments."""


def keyword(spark, inputs, *, params):
    """Take an argument by its name only."""


async def awaited(spark, inputs, params):
    """Return something to wait for."""
