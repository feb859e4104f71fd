"""The types of columns by Spark's names: `bigint`, `decimal(10,2)`, `array<struct<id:int,name:string>>`.

A type is read from its name into Spark's own JSON, in which it is compared with that of rows, and written as
the one name that Spark prints for it. This needs no Spark.

Some names of columns belong to others: Iceberg and Spark show a file's place, a row's position and more under
them, so a table that has a column of such a name cannot be read. Pure.
"""

import re
from typing import Any, NoReturn

from tidegate.domain.error import UserError
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown

Type = str | dict[str, Any]
"""A type in Spark's JSON: a name, or the parts of a struct, an array or a map."""

NO_TYPE = "void"
"""The type of a column that has no values."""

MAX_DEPTH = 32
"""So deep may types be nested."""

MAX_DECIMAL_DIGITS = 38
"""Of Spark's decimals."""

RESERVED = (
    "_change_ordinal",
    "_change_type",
    "_commit_snapshot_id",
    "_deleted",
    "_file",
    "_last_updated_sequence_number",
    "_metadata",
    "_partition",
    "_pos",
    "_row_id",
    "_spec_id",
)
"""The names of Iceberg's and Spark's own columns, in lower case."""

OURS = "__tidegate"
"""Begins the names of the columns with which Tidegate works."""

_NAMES = {
    "boolean": ("boolean",),
    "byte": ("tinyint", "byte"),
    "short": ("smallint", "short"),
    "integer": ("int", "integer"),
    "long": ("bigint", "long"),
    "float": ("float", "real"),
    "double": ("double",),
    "string": ("string",),
    "binary": ("binary",),
    "date": ("date",),
    "timestamp": ("timestamp", "timestamp_ltz"),
    "timestamp_ntz": ("timestamp_ntz",),
}
"""The plain types by their name in JSON, each with its names in SQL, of which Spark prints the first."""

_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names}
_DECIMALS = ("decimal", "dec", "numeric")
_NESTED = ("array", "map", "struct")

_NOT_KEPT = {
    "varchar": "write string: tables have no texts of a limited length",
    "char": "write string: tables have no texts of a limited length",
    "character": "write string: tables have no texts of a limited length",
    "void": "leave the column out, or write the type that its values will have",
    "null": "leave the column out, or write the type that its values will have",
    "interval": "write bigint, and the unit of the number under `unit`",
    "text": "write string",
    "str": "write string",
    "number": "write bigint, double or decimal(10,2)",
    "datetime": "write timestamp, or timestamp_ntz for a time without a zone",
    "uuid": "write string",
    "json": "write string",
}
"""Names that people write and that tables do not have."""

_TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)+`)|([^\W\d]\w*|\d\w*)|([<>(),:]))")
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


class ColumnTypeError(UserError, ValueError):
    """A text that is not the name of a type."""


def is_reserved(name: str) -> bool:
    """Return whether no column of a table can have a name."""
    return name.lower() in RESERVED or name.lower().startswith(OURS)


def parse_type(text: str) -> Type:
    """Return the type of a name in Spark's JSON.

    Raises:
        ColumnTypeError: it is not the name of a type that tables have.
    """
    return _Parser(text).whole()


def type_text(kind: Type) -> str:
    """Return the name of a type as Spark prints it, without leaving out any of its parts."""
    if isinstance(kind, str):
        return _NAMES[kind][0] if kind in _NAMES else kind
    match kind["type"]:
        case "struct":
            fields = (f"{_quoted(field['name'])}:{type_text(field['type'])}" for field in kind["fields"])
            return f"struct<{','.join(fields)}>"
        case "array":
            return f"array<{type_text(kind['elementType'])}>"
        case "map":
            return f"map<{type_text(kind['keyType'])},{type_text(kind['valueType'])}>"
        case other:
            return str(other)


def is_of_type(found: Type, declared: Type) -> bool:
    """Return whether rows of a type have a declared one.

    The names of fields are compared in any case, in their order. What has no values, such as NULL and an
    empty array, is of every type. Whether a part may be null is not compared.
    """
    if found == NO_TYPE:
        return True
    if isinstance(found, str) or isinstance(declared, str):
        return found == declared
    if found["type"] != declared["type"]:
        return False
    match declared["type"]:
        case "struct":
            pairs = list(zip(found["fields"], declared["fields"], strict=False))
            return len(found["fields"]) == len(declared["fields"]) and all(
                one["name"].lower() == other["name"].lower() and is_of_type(one["type"], other["type"])
                for one, other in pairs
            )
        case "array":
            return is_of_type(found["elementType"], declared["elementType"])
        case _:
            return is_of_type(found["keyType"], declared["keyType"]) and is_of_type(
                found["valueType"], declared["valueType"]
            )


def _quoted(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"


class _Parser:
    """Reads one type from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if found is None:
                self._refuse(f"got {shown(text[at:].strip()[:1])} in {shown(text)}")
            self._tokens.append(found[1] or found[2] or found[3])
            at = found.end()
        self._at = 0

    def whole(self) -> Type:
        """Return the type of the whole text."""
        kind = self._type(0)
        if self._at < len(self._tokens):
            self._refuse(f"got {shown(self._tokens[self._at])} behind {shown(type_text(kind))}")
        return kind

    def _type(self, depth: int) -> Type:
        if depth > MAX_DEPTH:
            self._refuse(f"a type is nested at most {MAX_DEPTH} deep, got {shown(self._text)}")
        written = self._next("the name of a type")
        name = written.lower()
        if name in _BY_NAME:
            return _BY_NAME[name]
        if name in _DECIMALS:
            return self._decimal()
        if name not in _NESTED:
            self._unknown(written)
        self._take("<", f"{name}<…>")
        match name:
            case "array":
                found: Type = {"type": "array", "elementType": self._type(depth + 1), "containsNull": True}
            case "map":
                key = self._type(depth + 1)
                self._take(",", "map<KEY,VALUE>")
                value = self._type(depth + 1)
                found = {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
            case _:
                found = {"type": "struct", "fields": self._fields(depth + 1)}
        self._take(">", f"{name}<…>")
        return found

    def _fields(self, depth: int) -> list[dict[str, Any]]:
        fields: list[dict[str, Any]] = []
        names: set[str] = set()
        while not fields or self._took(","):
            name = self._next("the name of a field")
            if name in "<>(),:":
                self._refuse(f"the fields of a struct are NAME:TYPE, got {shown(name)}")
            name = name[1:-1].replace("``", "`") if name.startswith("`") else name
            if name.lower() in names:
                self._refuse(f"the fields of a struct have different names, got {shown(name)} twice")
            names.add(name.lower())
            self._took(":")
            fields.append({"name": name, "type": self._type(depth), "nullable": True, "metadata": {}})
            if self._at < len(self._tokens) and self._tokens[self._at].lower() in ("not", "comment"):
                raise ColumnTypeError(
                    f"the fields of a struct are NAME:TYPE alone, got {shown(self._tokens[self._at])}",
                    "write `nullable` and `description` of the whole column",
                )
        return fields

    def _decimal(self) -> str:
        digits, scale = 10, 0
        if self._took("("):
            digits = self._number()
            scale = self._number() if self._took(",") else 0
            self._take(")", "decimal(DIGITS,SCALE)")
        if not 1 <= digits <= MAX_DECIMAL_DIGITS or scale > digits:
            raise ColumnTypeError(
                f"a decimal has 1 to {MAX_DECIMAL_DIGITS} digits, of which no more are behind the point, got "
                f"decimal({digits},{scale})",
                "write for example decimal(10,2)",
            )
        return f"decimal({digits},{scale})"

    def _number(self) -> int:
        written = self._next("a number of digits")
        if not (written.isascii() and written.isdecimal() and len(written) < len("1000")):
            self._refuse(f"decimal(DIGITS,SCALE) has whole numbers, got {shown(written)}")
        return int(written)

    def _next(self, what: str) -> str:
        if self._at == len(self._tokens):
            self._refuse(f"{what} is missing at the end, got {shown(self._text)}")
        self._at += 1
        return self._tokens[self._at - 1]

    def _took(self, sign: str) -> bool:
        found = self._at < len(self._tokens) and self._tokens[self._at] == sign
        self._at += found
        return found

    def _take(self, sign: str, shape: str) -> None:
        if not self._took(sign):
            there = self._tokens[self._at] if self._at < len(self._tokens) else "the end"
            self._refuse(f"{shape} needs {shown(sign)}, got {shown(there)} in {shown(self._text)}")

    def _unknown(self, name: str) -> NoReturn:
        hint = _NOT_KEPT.get(name.lower())
        known = [*(names[0] for names in _NAMES.values()), "decimal(10,2)", "array<…>", "map<…>", "struct<…>"]
        raise ColumnTypeError(
            f"a column has a type of Spark, got {shown(name)}",
            hint or did_you_mean(name, known, "types", whole=True),
        )

    def _refuse(self, summary: str) -> NoReturn:
        raise ColumnTypeError(summary, "write for example bigint, decimal(10,2) or array<struct<id:int>>")
