"""Reads Avro container files, as far as Iceberg's manifests need it.

The oracle of the crash tests wants to see what is in a table's metadata without the
library that wrote it, so this is the file format itself: a header with a schema in JSON, then
blocks of records, each block compressed and closed by the header's sync marker. Nothing is
interpreted here; logical types stay what they are stored as.
"""

import io
import json
import struct
import zlib
from pathlib import Path
from typing import Any

MAGIC = b"Obj\x01"
SYNC_BYTES = 16
RAW_DEFLATE = -15
"""What zlib calls a stream without its header, which is Avro's "deflate"."""


def read_avro(path: str) -> list[dict[str, Any]]:
    """Every record of a file, in order.

    Raises:
        ValueError: it is not a whole Avro file.
    """
    data = io.BytesIO(Path(path).read_bytes())
    if data.read(len(MAGIC)) != MAGIC:
        raise ValueError(f"{path} is not an Avro file")
    named: dict[str, Any] = {}
    header = _read(data, {"type": "map", "values": "bytes"}, named)
    schema = json.loads(header["avro.schema"])
    codec = header.get("avro.codec", b"null")
    sync = data.read(SYNC_BYTES)
    records: list[dict[str, Any]] = []
    while data.tell() < len(data.getbuffer()):
        count, size = _long(data), _long(data)
        block = data.read(size)
        if data.read(SYNC_BYTES) != sync or codec not in (b"null", b"deflate"):
            raise ValueError(f"{path} is torn, or compressed as {codec!r}")
        inner = io.BytesIO(zlib.decompress(block, RAW_DEFLATE) if codec == b"deflate" else block)
        records.extend(_read(inner, schema, named) for _ in range(count))
    return records


def _read(data: io.BytesIO, schema: Any, named: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return _read(data, schema[_long(data)], named)
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, (dict, list)):
        return _read(data, kind, named)
    match kind:
        case "null":
            return None
        case "boolean":
            return data.read(1) == b"\x01"
        case "int" | "long":
            return _long(data)
        case "float":
            return struct.unpack("<f", data.read(4))[0]
        case "double":
            return struct.unpack("<d", data.read(8))[0]
        case "bytes":
            return data.read(_long(data))
        case "string":
            return data.read(_long(data)).decode()
        case "fixed":
            named[schema["name"]] = schema
            return data.read(schema["size"])
        case "enum":
            named[schema["name"]] = schema
            return schema["symbols"][_long(data)]
        case "record":
            named[schema["name"]] = schema
            return {field["name"]: _read(data, field["type"], named) for field in schema["fields"]}
        case "array":
            return [item for size in _blocks(data) for item in _items(data, schema["items"], named, size)]
        case "map":
            pairs: dict[str, Any] = {}
            for size in _blocks(data):
                for _ in range(size):
                    key = _read(data, "string", named)
                    pairs[key] = _read(data, schema["values"], named)
            return pairs
        case _:
            return _read(data, named[kind], named)


def _items(data: io.BytesIO, schema: Any, named: dict[str, Any], size: int) -> list[Any]:
    return [_read(data, schema, named) for _ in range(size)]


def _blocks(data: io.BytesIO) -> Any:
    """The sizes of the blocks of an array or a map, each to be read before the next is asked for."""
    while count := _long(data):
        if count < 0:
            _long(data)
        yield abs(count)


def _long(data: io.BytesIO) -> int:
    """A zigzag number of variable length."""
    value = shift = 0
    while True:
        byte = data.read(1)
        if not byte:
            raise ValueError("the Avro data ends in the middle of a number")
        value |= (byte[0] & 0x7F) << shift
        shift += 7
        if not byte[0] & 0x80:
            return (value >> 1) ^ -(value & 1)
