"""A figure beside its aim: printed as met or missed."""


def verdict(what: str, value: float, aim: float, unit: str = "", *, larger: bool = False) -> int:
    """Print whether a figure meets its aim.

    Args:
        larger: whether more is better.

    Returns:
        1 if it misses the aim, else 0.
    """
    missed = value < aim if larger else value > aim
    bound = "at least" if larger else "at most"
    print(
        f"AIM {'missed' if missed else 'met   '} {what}: {value:,.3g}{unit}, aim {bound} {aim:,.3g}{unit}",
        flush=True,
    )
    return int(missed)
