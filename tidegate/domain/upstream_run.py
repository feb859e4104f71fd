"""An upstream run, as the engine describes it to the run that it triggered."""

from typing import Any

from tidegate.domain.value import Value


class UpstreamRun(Value, kw_only=True, rename={"id": "run_id"}):
    """A run that satisfied a `run` trigger of the job. In JSON its id is "run_id".

    Attributes:
        id: id of the run.
        program: "app/program".
        status: succeeded, failed, cancelled or started.
        args: its arguments; empty for an external run.
        outputs: the partition keys of its outputs, by dataset.
    """

    id: str
    program: str
    status: str
    args: dict[str, Any] = {}
    outputs: dict[str, tuple[str, ...]] = {}
