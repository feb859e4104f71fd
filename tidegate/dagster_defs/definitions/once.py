"""What Dagster computes again for each program of a location, and again for each reader, computed once.

    the default of a field as JSON    for each shape and each snapshot that has the field
    the schema of an op               for each op, although all of ours have the same configuration
    table facts of an asset           for each of three graphs
    the type of an input or output    for each of them, although it is Dagster's own type already
    the fields of an object as JSON   one by one, through two generators that are resumed for each
    the snapshot as text              for each process that reads the location: webserver, daemon, host

The results are the same objects and texts (docs/adr/0044). Only a code server with many programs does this.
Each replacement looks first whether Dagster is as expected; if not, Dagster goes on by itself, more slowly.
"""

from collections.abc import Callable, Mapping
from functools import cache, cached_property, wraps
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from dagster import DagsterType, Field, deserialize_value

from tidegate.dagster_defs.definitions.catalog_facts import TABLE_NAME
from tidegate.dagster_defs.internals import repeated_work
from tidegate.dagster_defs.internals.origins import RemoteRepositoryOrigin

SCHEMAS_KEPT = 1_000
"""Different schemas of ops. Those of programs are all the same."""


SNAPSHOT = '{"__class__": "ExternalRepositoryData"'
"""The beginning of a snapshot; an error has another one, and is not kept."""


@cache
def compute_once() -> tuple[str, ...]:
    """Replace what Dagster computes again and again; return what: less with a Dagster that is another one."""
    done = {
        "defaults": keep_defaults(Field),
        "schemas": share_schemas(repeated_work.find(*repeated_work.SCHEMAS)),
        "tables": share_table_facts(repeated_work.find(*repeated_work.TABLE_FACTS)),
        "inputs": take_types(repeated_work.find(*repeated_work.INPUTS)),
        "outputs": take_types(repeated_work.find(*repeated_work.OUTPUTS)),
        "objects": list_fields(repeated_work.find(*repeated_work.OBJECTS_AS_JSON)),
        "answers": keep_answers(repeated_work.find(*repeated_work.CODE_SERVER)),
    }
    return tuple(name for name, replaced in done.items() if replaced)


def _of(owner: object, name: str) -> Any:
    """Return what Dagster has by a name; None if it has no such thing."""
    return getattr(owner, name, None)


def keep_defaults(field: Any) -> bool:
    """Let a field keep its default as JSON; fields do not change."""
    name = "default_value_as_json_str"
    found = vars(field).get(name)
    if not isinstance(found, property) or found.fget is None or hasattr(field, "__slots__"):
        return False
    kept = cached_property(found.fget)
    kept.__set_name__(field, name)
    setattr(field, name, kept)
    return True


def share_schemas(module: Any) -> bool:
    """Let ops whose configuration consists of the same fields share a schema."""
    original = _of(module, "node_config_field")
    if not repeated_work.takes(original, "fields", "ignored"):
        return False
    kept: dict[object, tuple[tuple[object, ...], object]] = {}

    @wraps(original)
    def node_config_field(fields: Mapping[str, object], ignored: bool) -> object:
        parts = tuple(fields.values())
        key = (ignored, tuple(fields), tuple(map(id, parts)))
        if key not in kept:
            if len(kept) >= SCHEMAS_KEPT:
                kept.clear()
            # The parts are kept too: an id is that of a living object only.
            kept[key] = (parts, original(fields, ignored))
        return kept[key][1]

    module.node_config_field = node_config_field
    return True


def share_table_facts(facts: Any) -> bool:
    """Let assets share the empty facts where they state none, and make those of a named table once.

    Facts cannot be changed.
    """
    original = _of(_of(facts, "extract"), "__func__")
    if not repeated_work.takes(original, "cls", "values"):
        return False
    named = cache(lambda name: original(facts, {TABLE_NAME: name} if name else {}))
    names = (*facts.model_fields, *facts.current_key_by_legacy_key())
    stated = {f"dagster/{name}" for name in names}

    @wraps(original)
    def extract(cls: type, values: Mapping[str, object]) -> object:
        found = stated.intersection(values) if cls is facts else None
        if found is None or found - {TABLE_NAME}:
            return original(cls, values)
        name = values.get(TABLE_NAME, "")
        text = _of(name, "text") or name
        return named(text) if isinstance(text, str) else original(cls, values)

    facts.extract = classmethod(extract)
    return True


def take_types(module: Any) -> bool:
    """Let a module take Dagster's own types as they are, which it would find out in a dozen questions."""
    original = _of(module, "resolve_dagster_type")
    if not repeated_work.takes(original, "dagster_type"):
        return False

    @wraps(original)
    def resolve_dagster_type(dagster_type: object) -> object:
        return dagster_type if isinstance(dagster_type, DagsterType) else original(dagster_type)

    module.resolve_dagster_type = resolve_dagster_type
    return True


PLAIN = (str, int, float, bool, type(None))
"""The types whose values are themselves in JSON."""


def list_fields(module: Any) -> bool:
    """Let the fields of an object that becomes JSON be made as one list; Python's encoder makes one anyway.

    A snapshot has some twenty objects for each program.
    """
    serializer, lazy = _of(module, "ObjectSerializer"), _of(module, "_LazySerializationWrapper")
    transform, wrap = _of(module, "_transform_for_serialization"), _of(module, "_wrap_object")
    parts = ("whitelist_map", "object_handler", "descent_path")
    if (
        not repeated_work.takes(_of(serializer, "pack_items"), "self", "value", *parts)
        or not repeated_work.takes(transform, "val", *parts)
        or not repeated_work.takes(wrap, "obj", "whitelist_map", "descent_path")
        or not repeated_work.takes(_of(lazy, "items"), "self")
    ):
        return False

    def pack_items(self: Any, value: Any, whitelist_map: Any, object_handler: Any, descent_path: str) -> Any:
        names, serializers = self.storage_field_names, self.field_serializers
        made = [("__class__", self.get_storage_name())]
        for key, field in self.object_as_mapping(self.before_pack(value)).items():
            if key in serializers:
                where = f"{descent_path}.{key}"
                field = serializers[key].pack(field, whitelist_map=whitelist_map, descent_path=where)
            if key in self.skip_when_none_fields and field is None:
                continue
            if key in self.skip_when_empty_fields and field in module.EMPTY_VALUES_TO_SKIP:
                continue
            if type(field) not in PLAIN:
                field = transform(field, whitelist_map, object_handler, f"{descent_path}.{key}")
            made.append((names.get(key, key), field))
        return [*made, *self.old_fields.items()]

    def items(self: Any) -> Any:
        found = self._whitelist_map.object_serializers[type(self._obj).__name__]
        return found.pack_items(self._obj, self._whitelist_map, wrap, self._descent_path)

    serializer.pack_items, lazy.items = pack_items, items
    return True


def keep_answers(server: Any) -> bool:
    """Let a code server keep the texts that it sends to each process that reads its location.

    They are kept as long as the repository of which they are made.
    """
    snapshot = _of(server, "_get_serialized_external_repository_data")
    job = _of(server, "ExternalJob")
    if not repeated_work.takes(snapshot, "self", "request") or not repeated_work.takes(
        job, "self", "request", "_context"
    ):
        return False
    if not callable(_of(server, "_get_repo_for_origin")):
        return False
    answers = _Answers()

    @wraps(snapshot)
    def snapshot_once(self: Any, request: Any) -> str:
        return answers.get(
            self,
            request.serialized_repository_python_origin,
            ("repository", request.defer_snapshots),
            lambda: snapshot(self, request),
            lambda text: text.startswith(SNAPSHOT),
        )

    @wraps(job)
    def job_once(self: Any, request: Any, _context: Any) -> Any:
        return answers.get(
            self,
            request.serialized_repository_origin,
            ("job", request.job_name),
            lambda: job(self, request, _context),
            lambda reply: bool(reply.serialized_job_data) and not reply.serialized_error,
        )

    server._get_serialized_external_repository_data = snapshot_once
    server.ExternalJob = job_once
    return True


class _Answers:
    """The answers that are kept, by repository. Who asks while one is made waits for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: WeakKeyDictionary[Any, dict[object, Any]] = WeakKeyDictionary()

    def get(
        self, server: Any, origin: str, what: object, make: Callable[[], Any], good: Callable[[Any], bool]
    ) -> Any:
        try:
            repository = server._get_repo_for_origin(deserialize_value(origin, RemoteRepositoryOrigin))
        except Exception:  # noqa: BLE001 -- Dagster answers with the error
            return make()
        with self._lock:
            kept = self._kept.setdefault(repository, {})
            if what in kept:
                return kept[what]
            answer = make()
            if good(answer):
                kept[what] = answer
            return answer
