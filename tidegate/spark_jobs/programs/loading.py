"""Finds a program, a check or a source by its dotted path, and checks how it can be called.

The path of a program or a check names a function, or a module whose function is called `run`. A source is a
module with two functions. A failure inside a module's own imports is raised unchanged. This module imports no
Spark, so the check before a deployment is fast.
"""

import inspect
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from tidegate.spark_jobs.errors import ProgramError

DEFAULT_FUNCTION = "run"
PROGRAM_FORM = "run(spark, inputs, params)"
CHECK_FORM = "run(spark, rows, params)"
SOURCE_FORMS = {"newest": "newest(spark, params)", "read": "read(spark, params, ranges)"}
"""The functions of a source, by name."""


class ModuleMissing(ProgramError):
    """No module has this name."""


class FunctionMissing(ProgramError):
    """The module has no function of this name."""


class SignatureWrong(ProgramError):
    """The function cannot be called with the arguments of a run."""


def load_program(path: str) -> Callable[..., Any]:
    """Return the function of a program.

    Raises:
        ProgramError: the module or the function does not exist, or takes other arguments.
    """
    return _function(path, "program", PROGRAM_FORM, "programs")


def load_check(path: str) -> Callable[..., Any]:
    """Return the function of a check.

    Raises:
        ProgramError: the module or the function does not exist, or takes other arguments.
    """
    return _function(path, "check", CHECK_FORM, "checks")


def _function(path: str, what: str, form: str, page: str) -> Callable[..., Any]:
    module = _module(path)
    if module is not None:
        name = DEFAULT_FUNCTION
    else:
        parent, _, name = path.rpartition(".")
        module = _module(parent) if parent else None
    if module is None:
        raise ModuleMissing(
            f"{what} {path}: no such module",
            "check `run:`, and that the project's folder is on the Python path",
        )
    function = getattr(module, name, None)
    if not callable(function) and module.__name__ != path and hasattr(module, "__path__"):
        raise ModuleMissing(
            f"{what} {path}: no such module, and {module.__name__} has no function {name}",
            "check `run:`, and that the project's folder is on the Python path",
        )
    if not callable(function):
        raise FunctionMissing(
            f"{what} {path}: {module.__name__} has no function {name}",
            f"define it as {form}; see: tidegate docs {page}",
        )
    _check_form(function, f"{what} {path}", form)
    return function


def load_source(path: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions `newest` and `read` of a source.

    Raises:
        ProgramError: the module or one of the functions does not exist, or takes other arguments.
    """
    module = _module(path)
    if module is None:
        raise ModuleMissing(
            f"source {path}: no such module",
            "check `incremental:`, and that the project's folder is on the Python path",
        )
    for name, form in SOURCE_FORMS.items():
        function = getattr(module, name, None)
        if not callable(function):
            raise FunctionMissing(f"source {path}: the module has no function {name}", f"define it as {form}")
        _check_form(function, f"source {path}", form)
    return module.newest, module.read


def _check_form(function: Callable[..., Any], what: str, form: str) -> None:
    """Raise SignatureWrong if a function cannot be called as in its form, with all arguments by position."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Some functions that are not written in Python do not say what they take.
        return
    awaited = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    try:
        signature.bind(*(None for _ in range(form.count(",") + 1)))
    except TypeError:
        fits = False
    else:
        fits = not awaited
    if not fits:
        name = "async " * awaited + getattr(function, "__name__", form.partition("(")[0])
        raise SignatureWrong(f"{what}: it is called as {form}, got {name}{signature}", f"define it as {form}")


def _module(path: str) -> ModuleType | None:
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        # An import that fails inside the module is raised; None only means that the module itself is missing.
        if error.name is not None and (path == error.name or path.startswith(f"{error.name}.")):
            return None
        raise
