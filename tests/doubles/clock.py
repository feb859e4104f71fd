"""A clock for what measures intervals by a monotonic clock: time passes when the test says so."""


class Clock:
    """Seconds that pass when they are let pass.

    Attributes:
        now: the seconds since the start.
        pauses: what has passed at a time, in order.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def let_pass(self, seconds: float) -> None:
        """Go on by some seconds, as by sleep or work."""
        self.now += seconds
        self.pauses.append(seconds)
