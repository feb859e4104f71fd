"""A program: a plain function `run(spark, inputs, params)` found by its dotted path.

The path names the function, or a module whose function is called `run`. A program imports
neither Dagster nor Tidegate, so it can be called directly in a test or a notebook.
The same holds for a user-defined source, which is a module with two functions.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.model import Program
from tidegate.spark_jobs.errors import ProgramError

DEFAULT_FUNCTION = "run"

Inputs = Mapping[str, DataFrame | None]
"""The datasets that a program reads, by name; None for one that has never had any data."""
ProgramFunction = Callable[[SparkSession, Inputs, Any], DataFrame | Mapping[str, DataFrame]]

SOURCE_FUNCTIONS = {"newest": "newest(spark, params)", "read": "read(spark, params, ranges)"}
"""The functions that a source defines, by name."""


def load_program(path: str) -> ProgramFunction:
    """Return the function that a dotted path names.

    Raises:
        ProgramError: the module or function does not exist. A failure inside the module's own
            imports is raised unchanged.
    """
    module = _module(path)
    if module is not None:
        name = DEFAULT_FUNCTION
    else:
        parent, _, name = path.rpartition(".")
        module = _module(parent) if parent else None
    if module is None:
        raise ProgramError(
            f"program {path}: no such module",
            "check `run:`, and that the project's folder is on the Python path",
        )
    function = getattr(module, name, None)
    if not callable(function):
        raise ProgramError(
            f"program {path}: {module.__name__} has no function {name}",
            "define it as run(spark, inputs, params); see: tidegate docs programs",
        )
    return cast(ProgramFunction, function)


def load_source(path: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions `newest` and `read` of the module that a dotted path names.

    Raises:
        ProgramError: the module does not exist, or lacks one of the functions.
    """
    module = _module(path)
    if module is None:
        raise ProgramError(
            f"source {path}: no such module",
            "check `incremental:`, and that the project's folder is on the Python path",
        )
    for name, form in SOURCE_FUNCTIONS.items():
        if not callable(getattr(module, name, None)):
            raise ProgramError(f"source {path}: the module has no function {name}", f"define it as {form}")
    return module.newest, module.read


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


def _module(path: str) -> ModuleType | None:
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        # An import that fails inside the module is raised; None only means that the module itself is missing.
        if error.name is not None and (path == error.name or path.startswith(f"{error.name}.")):
            return None
        raise
