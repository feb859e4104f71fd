"""A source whose second function takes too few arguments."""


def newest(spark, params):
    """Return no offsets."""
    return {}


def read(spark, params):
    """Take too few arguments."""
