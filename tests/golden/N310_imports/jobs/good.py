"""A module with a program, and a second one."""

print("what a module prints does no harm")


def run(spark, inputs, params):
    """Return nothing."""
    return {}


def again(spark, inputs, params, *more, and_more=None):
    """Return nothing."""
    return {}
