"""What a worker says to its run server; the server sends it `Launch`, and closes the channel to end it."""

from tidegate.domain.value import Value


class RunOver(Value, frozen=True, kw_only=True, tag=True):
    """Dagster has the end of the run; its worker tidies up, and says `Done` then."""

    run_id: str


class Done(Value, frozen=True, kw_only=True, tag=True):
    """The worker has no run any more.

    Attributes:
        finished: Dagster has the end of the run.
        stays: the worker takes another run; otherwise it ends.
    """

    run_id: str
    finished: bool
    stays: bool


class Refused(Value, frozen=True, kw_only=True, tag=True):
    """The worker has not begun the run, and ends: a file that it has loaded has changed."""

    run_id: str


Message = RunOver | Done | Refused
