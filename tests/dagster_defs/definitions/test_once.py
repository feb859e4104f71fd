"""What a code server computes once: the same snapshots, for less work."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from dagster import Field, serialize_value
from dagster._core.definitions import input as definitions_input
from dagster._core.definitions import output as definitions_output
from dagster._core.definitions import run_config
from dagster._core.definitions.metadata.metadata_set import TableMetadataSet
from dagster._core.remote_origin import RegisteredCodeLocationOrigin
from dagster._grpc.server import DagsterApiServer
from dagster_shared.serdes import serdes

from tests.dagster_defs.definitions.test_location_cost import FEW, MANY, app_of, snapshots, work
from tests.dagster_defs.instance import repository_of
from tests.dagster_defs.sample import deploy, location_of
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.definitions.once import (
    SNAPSHOT,
    compute_once,
    keep_answers,
    keep_defaults,
    list_fields,
    share_schemas,
    share_table_facts,
    take_types,
)
from tidegate.dagster_defs.internals.origins import RemoteRepositoryOrigin

pytestmark = pytest.mark.dagster

CALLS_MAX = 1_900
"""For one more program."""

ORIGIN = serialize_value(RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("here"), "all"))
BOOK = f'{SNAPSHOT}, "name": "all"}}'
MISTAKE = '{"__class__": "ExternalRepositoryErrorData"}'


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """What is replaced, until the test ends."""
    for owner, name in (
        (Field, "default_value_as_json_str"),
        (run_config, "node_config_field"),
        (TableMetadataSet, "extract"),
        (definitions_input, "resolve_dagster_type"),
        (definitions_output, "resolve_dagster_type"),
        (serdes.ObjectSerializer, "pack_items"),
        (serdes._LazySerializationWrapper, "items"),
        (DagsterApiServer, "_get_serialized_external_repository_data"),
        (DagsterApiServer, "ExternalJob"),
    ):
        monkeypatch.setattr(owner, name, vars(owner).get(name, getattr(owner, name)))
    return compute_once.__wrapped__()


def test_the_installed_dagster_is_as_expected(replaced: tuple[str, ...]) -> None:
    assert replaced == ("defaults", "schemas", "tables", "inputs", "outputs", "objects", "answers")


def test_the_snapshots_are_the_same(store: ReferenceStore, request: pytest.FixtureRequest) -> None:
    deploy(store, app_of(6))
    own = snapshots(repository_of(location_of(store)))

    request.getfixturevalue("replaced")

    assert snapshots(repository_of(location_of(store))) == own


@pytest.mark.usefixtures("replaced")
def test_a_program_costs_fewer_calls() -> None:
    work(FEW)
    more = work(MANY)
    more.subtract(work(FEW))

    assert sum(more.values()) / (MANY - FEW) < CALLS_MAX
    assert more["TableMetadataSet.__init__"] == 0
    assert more["construct_leaf_node_config"] == MANY - FEW
    assert more["_define_shape_key_hash"] < MANY - FEW
    assert more["is_typing_type"] == 0


@pytest.mark.parametrize(
    ("replace", "different"),
    [
        (keep_defaults, type("Field", (), {"default_value_as_json_str": lambda self: "{}"})),
        (share_schemas, None),
        (share_schemas, SimpleNamespace(node_config_field=lambda fields: fields)),
        (share_table_facts, None),
        (share_table_facts, type("Facts", (), {"extract": staticmethod(dict)})),
        (take_types, None),
        (take_types, SimpleNamespace(resolve_dagster_type=lambda kind, strict: kind)),
        (list_fields, None),
        (list_fields, SimpleNamespace(ObjectSerializer=type("Serializer", (), {"pack_items": list}))),
        (keep_answers, None),
        (keep_answers, type("Server", (), {"ExternalJob": lambda self, request: request})),
    ],
)
def test_a_dagster_that_is_different_goes_on_by_itself(
    replace: Callable[[object], bool], different: object
) -> None:
    before = {} if different is None else dict(vars(different))

    assert not replace(different)
    assert before == ({} if different is None else dict(vars(different)))


class Repository:
    """What a repository is here: something that differs from every other one."""


@dataclass
class Reply:
    serialized_job_data: str
    serialized_error: str = ""


@dataclass
class Server:
    """A code server that says what it is asked to make."""

    repository: Repository = field(default_factory=Repository)
    texts: list[str] = field(default_factory=list[str])
    replies: list[Reply] = field(default_factory=list[Reply])

    def _get_repo_for_origin(self, origin: RemoteRepositoryOrigin) -> Repository:
        if origin.repository_name != "all":
            raise LookupError(origin.repository_name)
        return self.repository

    def _get_serialized_external_repository_data(self, request: SimpleNamespace) -> str:
        return self.texts.pop(0)

    def ExternalJob(self, request: SimpleNamespace, _context: None) -> Reply:
        return self.replies.pop(0)

    def read(self, origin: str = ORIGIN, *, deferred: bool = True) -> str:
        asked = SimpleNamespace(serialized_repository_python_origin=origin, defer_snapshots=deferred)
        return self._get_serialized_external_repository_data(asked)

    def job(self, name: str) -> str:
        asked = SimpleNamespace(serialized_repository_origin=ORIGIN, job_name=name)
        return self.ExternalJob(asked, None).serialized_job_data


@pytest.fixture
def server() -> Server:
    kept = type("Kept", (Server,), {})
    assert keep_answers(kept)
    return kept()


def test_a_snapshot_is_made_for_the_first_reader(server: Server) -> None:
    server.texts = [BOOK]

    assert [server.read(), server.read(), server.read()] == [BOOK] * 3


def test_a_snapshot_of_another_kind_or_repository_is_another_one(server: Server) -> None:
    server.texts = [BOOK, f"{BOOK} ", f"{BOOK}  "]
    first, whole = server.read(), server.read(deferred=False)
    server.repository = Repository()

    assert (first, whole, server.read()) == (BOOK, f"{BOOK} ", f"{BOOK}  ")


def test_a_mistake_is_not_kept(server: Server) -> None:
    server.texts = [MISTAKE, BOOK]
    server.replies = [Reply("", "it failed"), Reply("the job")]

    assert [server.read(), server.read(), server.read()] == [MISTAKE, BOOK, BOOK]
    assert [server.job("all"), server.job("all"), server.job("all")] == ["", "the job", "the job"]


def test_each_job_has_an_answer_of_its_own(server: Server) -> None:
    server.replies = [Reply("one"), Reply("two")]

    assert [server.job("a"), server.job("b"), server.job("a")] == ["one", "two", "one"]


def test_a_repository_that_is_not_known_is_left_to_dagster(server: Server) -> None:
    server.texts = [MISTAKE, MISTAKE]
    other = serialize_value(RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("here"), "other"))

    assert [server.read(other), server.read(other)] == [MISTAKE, MISTAKE]
