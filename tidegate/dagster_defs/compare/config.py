"""The config of a program against the schema of its job: no user code runs, the server has sent the schema.

A value with a reference is known when a run is launched. So its entry must be allowed where it is, and what
it is may be of any type.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tidegate.compiler.template import OPENING
from tidegate.dagster_defs.compare.question import Fault
from tidegate.dagster_defs.internals.remote_jobs import RemoteJob
from tidegate.dagster_defs.internals.run_config import (
    ConfigSchemaSnapshot,
    ConfigTypeKind,
    ConfigTypeSnap,
    EvaluationError,
    EvaluationStackListItemEntry,
    EvaluationStackMapValueEntry,
    EvaluationStackPathEntry,
    FieldNotDefinedErrorData,
    FieldsNotDefinedErrorData,
    MissingFieldErrorData,
    MissingFieldsErrorData,
    RuntimeMismatchErrorData,
    minimal_config_for_type_snap,
    validate_config_from_snap,
)
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import listed, shown

Path = tuple[str | int, ...]

KIND_WORDS: Mapping[ConfigTypeKind, str] = {
    ConfigTypeKind.ARRAY: "a list",
    ConfigTypeKind.MAP: "a mapping",
    ConfigTypeKind.PERMISSIVE_SHAPE: "a mapping",
    ConfigTypeKind.SELECTOR: "a mapping with one key",
    ConfigTypeKind.STRICT_SHAPE: "a mapping",
}


def config_faults(job: RemoteJob, title: str, config: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what the schema of a job refuses of a config.

    Args:
        title: how messages call the job.
    """
    schema, root = job.config_schema_snapshot, job.root_config_key
    if root is None:
        return
    for error in validate_config_from_snap(schema, root, config).errors or ():
        path = _path(error)
        value = _at(config, path)
        undefined = _undefined(error)
        if undefined:
            known = _fields(schema, root, path)
            yield from (_undefined_fault(title, (*path, name), name, known) for name in undefined)
        elif not (isinstance(value, str) and OPENING in value):
            yield _fault(title, error, path, value, schema)


def _path(error: EvaluationError) -> Path:
    found: list[str | int] = []
    for entry in error.stack.entries:
        if isinstance(entry, EvaluationStackPathEntry):
            found.append(entry.field_name)
        elif isinstance(entry, EvaluationStackListItemEntry):
            found.append(entry.list_index)
        elif isinstance(entry, EvaluationStackMapValueEntry):
            found.append(str(entry.map_key))
    return tuple(found)


def _at(config: Any, path: Path) -> Any:
    for step in path:
        try:
            config = config[step]
        except (KeyError, IndexError, TypeError):
            return None
    return config


def _undefined(error: EvaluationError) -> Sequence[str]:
    match error.error_data:
        case FieldNotDefinedErrorData():
            return (error.error_data.field_name,)
        case FieldsNotDefinedErrorData():
            return error.error_data.field_names
        case _:
            return ()


def _undefined_fault(title: str, path: Path, name: str, known: Sequence[str]) -> Fault:
    where = _where(path[:-1])
    hint = did_you_mean(name, known, "entries") if known else f"delete it: {where} has no entries"
    summary = f"the config of {title} has other entries in {where}, got {shown(name)}"
    return Fault(code="V261", key="config", path=path, of_key=True, summary=summary, hint=hint)


def _fault(title: str, error: EvaluationError, path: Path, value: Any, schema: ConfigSchemaSnapshot) -> Fault:
    data, where = error.error_data, _where(path)
    match data:
        case MissingFieldErrorData():
            return _missing(title, path, {data.field_name: data.field_snap.type_key}, schema)
        case MissingFieldsErrorData():
            types = {snap.name: snap.type_key for snap in data.field_snaps if snap.name is not None}
            return _missing(title, path, types, schema)
        case RuntimeMismatchErrorData():
            expected = _expected(data.config_type_snap)
            summary = f"{where} of {title} is {expected}, got {shown(value)}"
            return Fault(code="V261", key="config", path=path, summary=summary, hint=f"write {expected}")
        case _:
            summary = f"{title} refuses its config, got {where}: {error.message}"
            return Fault(code="V261", key="config", path=path, summary=summary, hint="correct the config")


def _missing(title: str, path: Path, types: Mapping[str, str], schema: ConfigSchemaSnapshot) -> Fault:
    names = listed([shown(name) for name in types], "and")
    example = {
        name: minimal_config_for_type_snap(schema, schema.get_config_snap(key)) for name, key in types.items()
    }
    return Fault(
        code="V261",
        key="config",
        path=path,
        of_key=True,
        summary=f"a run of {title} needs {names} in {_where(path)}, got none",
        hint=f"write for example {msgspec.json.encode(example).decode()}",
    )


def _expected(kind: ConfigTypeSnap) -> str:
    if kind.enum_values:
        return f"one of {', '.join(each.value for each in kind.enum_values)}"
    return KIND_WORDS.get(
        kind.kind, f"a value of type {kind.given_name}" if kind.given_name else "another value"
    )


def _fields(schema: ConfigSchemaSnapshot, root: str, path: Path) -> Sequence[str]:
    """Return the entries that a schema has at a path."""
    snap = _inner(schema, schema.get_config_snap(root))
    for step in path:
        if snap.fields is not None and snap.has_field(str(step)):
            key = snap.get_field(str(step)).type_key
        elif snap.type_param_keys:
            key = snap.type_param_keys[-1]
        else:
            return ()
        snap = _inner(schema, schema.get_config_snap(key))
    return [] if snap.fields is None else snap.field_names


def _inner(schema: ConfigSchemaSnapshot, snap: ConfigTypeSnap) -> ConfigTypeSnap:
    while snap.kind is ConfigTypeKind.NONEABLE:
        snap = schema.get_config_snap(snap.inner_type_key)
    return snap


def _where(path: Path) -> str:
    below = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path)
    return f"`config{below}`"
