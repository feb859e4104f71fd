"""The checks of an asset's dataset, from its metadata `tidegate/checks`, a list as `checks:` of the YAML.

metadata={"tidegate/checks": [{"rows": {"min": 1}}, {"unique": ["id"], "severity": "warn"}]}
"""

from collections.abc import Mapping
from typing import Any, cast, get_args

import msgspec

from tidegate.domain.model import Check
from tidegate.domain.model.check import check_name
from tidegate.domain.wording import listed
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
    fields = {field.name for field in msgspec.structs.fields(KINDS[kind])}
    own = {"columns": value} if "columns" in fields else {kind: value} if kind in fields else value
    if not isinstance(own, Mapping) or not {*own} <= fields - {"name", "severity", "at"} or not value:
        raise OutputError(f"{asset}: the check {kind} does not have this form, got {value!r:.200}", EXAMPLE)
    columns = () if kind == "rows" else map(str, value)
    try:
        return msgspec.convert(
            {
                "kind": kind,
                "name": check_name(kind, *columns),
                **own,
                **{key: given[key] for key in given if key in BESIDE},
            },
            cast("type[Check]", Check),
        )
    except msgspec.ValidationError as error:
        raise OutputError(f"{asset}: the check {kind} does not have this form: {error}", EXAMPLE) from error
