"""What a triggered run knows of a run that triggered it: the engine writes it, programs read it."""

from typing import Any

from tidegate.domain.value import Value


class UpstreamRun(Value, kw_only=True, rename={"id": "run_id"}):
    """A run that the job's `run` triggers waited for. JSON calls its id "run_id".

    Attributes:
        id: of the run.
        program: "app/program".
        status: succeeded, failed, cancelled or started.
        args: what it was launched with; empty for an external run.
        outputs: the partition keys it was to write, by dataset.
    """

    id: str
    program: str
    status: str
    args: dict[str, Any] = {}
    outputs: dict[str, tuple[str, ...]] = {}
