"""A program: a plain function `run(spark, inputs, params)`, and the datasets that it returns.

A program imports neither Dagster nor Tidegate, so it can be called directly in a test or a notebook.
"""

from collections.abc import Mapping
from typing import Any, cast

from pyspark.sql import DataFrame

from tidegate.domain.model import Program
from tidegate.spark_jobs.errors import ProgramError


def outputs_of(program: Program, returned: Any) -> dict[str, DataFrame]:
    """Return a program's outputs by dataset.

    Raises:
        ProgramError: the program did not return one DataFrame for each dataset under `writes`.
    """
    name, writes = program.name, program.writes
    if isinstance(returned, DataFrame):
        if len(writes) != 1:
            raise ProgramError(
                f"program {name} returned one DataFrame, but writes {len(writes)} datasets",
                f"return a dictionary with the keys {', '.join(writes)}",
            )
        return {writes[0]: returned}
    if not isinstance(returned, Mapping):
        raise ProgramError(
            f"program {name} returned {type(returned).__name__}",
            "return a DataFrame, or a dictionary from dataset to DataFrame; see: tidegate docs programs",
        )
    outputs = cast(Mapping[str, Any], returned)
    if set(outputs) != set(writes):
        raise ProgramError(
            f"program {name} returned {', '.join(sorted(outputs)) or 'nothing'}",
            f"return exactly the datasets named under `writes`: {', '.join(writes)}",
        )
    for dataset, frame in outputs.items():
        if not isinstance(frame, DataFrame):
            raise ProgramError(
                f"program {name} returned {type(frame).__name__} for {dataset}", "return a DataFrame"
            )
    return {dataset: outputs[dataset] for dataset in writes}
