"""The builder of programs, with the datasets that they read and write.

An entry of `reads` is a name, or a mapping that asks for incremental reading.
`compiler.rules.datasets.incremental` checks, for the whole app, whether incremental reading is possible.
"""

from typing import Any

from tidegate.compiler.builders.existing_job import build_existing_job, build_tags
from tidegate.compiler.builders.sql_program import build_sql
from tidegate.compiler.diagnostics.diagnostic import Related
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.texts import duration_at, renamed_from
from tidegate.domain.model import Dataset, Program
from tidegate.domain.model.dataset import EvaluateOnce
from tidegate.domain.part_name import name_in
from tidegate.domain.spark_conf import fault_of
from tidegate.domain.wording import plural, shown

_WRITE_HINT = "let a program of that app write it, or write a dataset of this app"
_YES = ("true", "yes", "on", "y")
_NO = ("false", "no", "off", "n")


def build_program(key: ScalarNode, node: MappingNode, scope: Scope) -> Program:
    """Build a program of an app; report datasets that are not declared."""
    reads, writes = dataset_nodes(node), node.strings("writes")
    exists = "job" in node.values or "assets" in node.values
    for name in reads:
        _check_read(name, scope.dataset(name), scope, runs_spark=not exists)
    for name in writes:
        if scope.is_own(name, "a program writes datasets of its own app", _WRITE_HINT):
            _check_write(name, scope.dataset(name), scope, runs_spark=not exists)
    _refuse_repeated(reads, "reads", scope)
    _refuse_repeated(writes, "writes", scope)
    return Program(
        name=str(key.value),
        run=node.text("run"),
        existing=build_existing_job(node, scope) if exists else None,
        sql=build_sql(node, reads, scope) if "sql" in node.values else (),
        reads=tuple(dict.fromkeys(scope.name_of(n) for n in reads)),
        writes=tuple(dict.fromkeys(scope.name_of(n) for n in writes)),
        incremental={} if exists else _incremental(node, scope),
        cluster=node.text("cluster"),
        spark_conf=_spark_conf(node, scope),
        evaluate_once=_evaluate_once(node, len(writes), scope),
        tags={} if exists else build_tags(node, scope),
        timeout=duration_at(node.get("timeout"), scope),
        renamed_from=renamed_from(node),
        description=node.text("description"),
        at=scope.at(key),
    )


def _check_read(name: ScalarNode, dataset: Dataset | None, scope: Scope, *, runs_spark: bool) -> None:
    """Report an asset of others that Spark would read without knowing where its files are."""
    if runs_spark and dataset is not None and dataset.asset and dataset.path is None:
        scope.findings.add(
            "L436",
            name,
            f"Spark reads an asset of others by its `path`, got {shown(name.value)} without one",
            "give the dataset the `path` of its Parquet files, or let the program not read it",
        )


def _check_write(name: ScalarNode, dataset: Dataset | None, scope: Scope, *, runs_spark: bool) -> None:
    """Report an asset of others that Spark would write."""
    if runs_spark and dataset is not None and dataset.asset:
        scope.findings.add(
            "L436",
            name,
            f"an asset of others is written by its own code, got {shown(name.value)} among `writes`",
            "let the program write a dataset of its own, or delete `asset`",
        )


def _evaluate_once(program: MappingNode, outputs: int, scope: Scope) -> EvaluateOnce:
    """Return how shared parts of the outputs are kept; report a program that has nothing to share."""
    written = program.get("evaluate_once")
    if isinstance(written, ScalarNode) and outputs < 2:
        scope.findings.add(
            "V209",
            written,
            f"`evaluate_once` has no effect with {plural(outputs, 'output')}, got {shown(written.value)}",
            "delete it: it says how what several outputs have in common is kept",
        )
    how: Any = program.text("evaluate_once")
    return how or "cache"


def _spark_conf(program: MappingNode, scope: Scope) -> dict[str, str]:
    """Return the Spark properties of a program; report those that it may not set."""
    written = program.mapping("spark_conf")
    found: dict[str, str] = {}
    if written is None:
        return found
    for name, value in written.values.items():
        fault = fault_of(name)
        if fault is not None:
            hint = "delete it; `tidegate docs spark` says what the settings of the project may change"
            scope.findings.add("V220", written.keys[name], f"{fault}, got {shown(name)}", hint)
        elif isinstance(value, ScalarNode):
            found[name] = str(value.value).lower() if isinstance(value.value, bool) else str(value.value)
    return found


def dataset_nodes(program: MappingNode) -> tuple[ScalarNode, ...]:
    """Return the nodes with the names of the datasets to read."""
    entries = (
        entry.get("dataset") if isinstance(entry, MappingNode) else entry for entry in program.items("reads")
    )
    return tuple(entry for entry in entries if isinstance(entry, ScalarNode))


def _incremental(program: MappingNode, scope: Scope) -> dict[str, bool | str]:
    found: dict[str, bool | str] = {}
    for entry in program.items("reads"):
        if not isinstance(entry, MappingNode):
            continue
        how = entry.get("incremental")
        if not isinstance(how, ScalarNode) or _is_wrong_word(how, scope):
            continue
        if isinstance(how.value, bool | str) and how.value is not False:
            found[name_in(scope.app, entry.text("dataset"))] = how.value
    return found


def _is_wrong_word(how: ScalarNode, scope: Scope) -> bool:
    """Report another word for true or false, which would be the name of a source, and `True` and `"true"`."""
    written = scope.findings.text_at(how)
    if not written:  # A value of JSON, where true is not a word.
        if not isinstance(how.value, str):
            return False
        written = f'"{how.value}"'
    word = written.strip("\"'")
    if written in ("true", "false") or word.casefold() not in (*_YES, *_NO):
        return False
    hint = "write incremental: true" if word.casefold() in _YES else "delete it: all data is read by default"
    scope.findings.add(
        "S105", how, f"`incremental` is true, or the dotted path of a source, got {shown(word)}", hint
    )
    return True


def _refuse_repeated(names: tuple[ScalarNode, ...], key: str, scope: Scope) -> None:
    first: dict[str, ScalarNode] = {}
    for name in names:
        earlier = first.setdefault(scope.name_of(name), name)
        if earlier is not name:
            scope.findings.add(
                "S108",
                name,
                f"`{key}` names each dataset once, got {shown(name.value)} again",
                "delete one of the two",
                (Related(at=scope.at(earlier), note="the first one is here"),),
            )
