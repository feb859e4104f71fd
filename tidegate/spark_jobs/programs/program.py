"""A program: a plain function `run(spark, inputs, params)`, and the datasets that it returns.

A program imports neither Dagster nor Tidegate, so it can be called directly in a test or a notebook.

Calls the code of a user, which has a value to give: a process that ends before that has failed.
`sys.exit(0)` in a program would end the process of its run like a success with nothing published, and so
would `os._exit`, whose caller returns from nothing. Both are failures here, whatever the code.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn, cast

from pyspark.sql import DataFrame

from tidegate.domain.model import Program
from tidegate.domain.wording import full_name
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.programs.arrow_frames import STREAM

FRAME = "pyspark.sql.DataFrame"
"""What a program returns, with its module: pandas has a `DataFrame` too."""


FromStream = Callable[[str, str, Any], DataFrame]
"""Makes a frame of Spark of what a program returned for a dataset, as an Arrow stream."""


def conversion(returned: object) -> str:
    """Return how to make a frame of Spark out of another library's, for a hint; "" where there is no way."""
    return "; spark.createDataFrame(...) makes one" if hasattr(returned, "columns") else ""


class ProgramExited(Exception):
    """A program ended its process before it returned its outputs."""


def call_program(path: str, function: Callable[..., Any], *given: Any) -> Any:
    """Return what a function of a user returns.

    Args:
        path: its dotted path.
        given: its arguments.

    Raises:
        ProgramExited: it tried to end the process.
    """
    try:
        with _exits_raise():
            return function(*given)
    except SystemExit as error:
        code = "" if error.code is None else repr(error.code)
        told = ProgramExited(
            f"program {path} called sys.exit({code}) before it returned its outputs: nothing was published; "
            "return the outputs, or raise an exception that says what is wrong"
        )
        raise told.with_traceback(error.__traceback__) from error


@contextmanager
def _exits_raise() -> Iterator[None]:
    """Let `os._exit` raise SystemExit in this process while a block runs; a forked child ends as ever."""
    owner, leave = os.getpid(), os._exit

    def refuse(status: int) -> NoReturn:
        if os.getpid() != owner:
            leave(status)
        raise SystemExit(status)

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = leave


def outputs_of(program: Program, returned: Any, from_stream: FromStream) -> dict[str, DataFrame]:
    """Return a program's outputs by dataset, as frames of Spark.

    Raises:
        ProgramError: the program did not return one frame for each dataset under `writes`.
    """
    name, writes = program.name, program.writes
    if _is_frame(returned):
        if len(writes) != 1:
            raise ProgramError(
                f"program {name} returned one DataFrame, but writes {len(writes)} datasets",
                f"return a dictionary with the keys {', '.join(writes)}",
            )
        returned = {writes[0]: returned}
    if not isinstance(returned, Mapping):
        raise ProgramError(
            f"program {name} returned {full_name(returned)}",
            f"return a {FRAME}, or a dictionary from dataset to {FRAME}{conversion(returned)};"
            " see: tidegate docs programs",
        )
    outputs = cast(Mapping[str, Any], returned)
    if set(outputs) != set(writes):
        raise ProgramError(
            f"program {name} returned {', '.join(sorted(outputs)) or 'nothing'}",
            f"return exactly the datasets named under `writes`: {', '.join(writes)}",
        )
    for dataset, frame in outputs.items():
        if not _is_frame(frame):
            raise ProgramError(
                f"program {name} returned {full_name(frame)} for {dataset}",
                f"return a {FRAME}{conversion(frame)}",
            )
    return {
        dataset: frame if isinstance(frame, DataFrame) else from_stream(name, dataset, frame)
        for dataset in writes
        if (frame := outputs[dataset]) is not None
    }


def _is_frame(returned: Any) -> bool:
    """Whether it is a frame of Spark, or hands over an Arrow stream, as one of pandas does."""
    return isinstance(returned, DataFrame) or hasattr(returned, STREAM)
