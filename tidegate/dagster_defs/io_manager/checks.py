"""The checks of an asset's dataset: those of its metadata `tidegate/checks`, and those of the deployed YAML.

metadata={"tidegate/checks": [{"rows": {"min": 1}}, {"unique": ["id"], "severity": "warn"}]}

An asset has no `reads`: a `reference` names a deployed dataset, and a query has its own dataset's tables.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

import msgspec

from tidegate.domain.model import Check, Dataset, ReferenceCheck
from tidegate.domain.model.check import default_name
from tidegate.domain.part_name import Ref, whole_name
from tidegate.domain.wording import listed
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.spark_jobs.checks.compared import Beside
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, dataset_ref
from tidegate.spark_jobs.errors import OutputError

KINDS = {str(kind.__struct_config__.tag): kind for kind in get_args(Check)}
BESIDE = ("name", "severity")
EXAMPLE = 'write for example "tidegate/checks": [{"rows": {"min": 1}}, {"not_null": ["id"]}]'


def read_checks(asset: str, written: object) -> tuple[Check, ...]:
    """Return the checks that the metadata of an asset lists.

    Raises:
        OutputError: an entry is not a check, or two have one name.
    """
    if not isinstance(written, list | tuple):
        raise OutputError(f"{asset}: tidegate/checks must be a list of checks, got {written!r:.100}", EXAMPLE)
    found: dict[str, Check] = {}
    for entry in cast("list[object]", [*written]):
        check = _read_check(asset, entry)
        if check.name in found:
            raise OutputError(
                f"{asset}: two checks have the name {check.name}", "give one of the two another `name`"
            )
        found[check.name] = check
    return tuple(found.values())


def _read_check(asset: str, entry: object) -> Check:
    given = cast("Mapping[str, Any]", entry) if isinstance(entry, Mapping) else {}
    kinds = [key for key in given if key not in BESIDE]
    if len(kinds) != 1 or kinds[0] not in KINDS:
        raise OutputError(f"{asset}: a check is one of {listed([*KINDS])}, got {entry!r:.200}", EXAMPLE)
    (kind,) = kinds
    value = given[kind]
    fields = {field.name for field in msgspec.structs.fields(KINDS[kind])} - {"name", "severity", "at"}
    own = {"columns": value} if fields == {"columns"} else {kind: value} if kind in fields else value
    if not isinstance(own, Mapping) or not {*own} <= fields or not value:
        raise OutputError(f"{asset}: the check {kind} does not have this form, got {value!r:.100}", EXAMPLE)
    try:
        check = msgspec.convert(
            {
                "kind": kind,
                "name": default_name(kind, value),
                **own,
                **{key: given[key] for key in given if key in BESIDE},
            },
            cast("type[Check]", Check),
        )
    except msgspec.ValidationError as error:
        raise OutputError(f"{asset}: the check {kind} does not have this form: {error}", EXAMPLE) from error
    if isinstance(check, ReferenceCheck) and len(check.target) != len(check.columns):
        raise OutputError(f"{asset}: {check.name} has more or fewer columns than `to`", "list as many")
    return check


def with_deployed(reader: EngineReader, refs: Iterable[DatasetRef]) -> tuple[list[DatasetRef], Beside]:
    """Return datasets with the checks that the deployed YAML has of them too, and what their checks look at.

    Raises:
        OutputError: the metadata and the YAML have different checks of one name.
    """
    found, reads = list[DatasetRef](), dict[str, DatasetRef]()
    for ref in refs:
        deployed = _dataset(reader, ref.id)
        checks = {check.name: check for check in ref.checks}
        for check in deployed.checks if deployed is not None else ():
            plain = msgspec.structs.replace(check, at=None)
            if checks.setdefault(check.name, plain) != plain:
                raise OutputError(
                    f"{ref.id}: tidegate/checks and the deployed YAML have different checks {check.name}",
                    "give one of the two another `name`",
                )
        found.append(msgspec.structs.replace(ref, checks=tuple(checks.values())))
        for check in checks.values():
            if isinstance(check, ReferenceCheck):
                other = whole_name(ref.app, check.dataset)
                dataset = _dataset(reader, other)
                if dataset is not None:
                    reads[check.dataset] = dataset_ref(Ref.of(other).app, dataset)
    return found, Beside(reads=reads)


def _dataset(reader: EngineReader, id: str) -> Dataset | None:
    app, name = Ref.of(id)
    record = next(iter(reader.records(APPS, name=[app])), None)
    return None if record is None else record.app.datasets.get(name)
