"""What `/openapi.json` says holds: calls that schemathesis draws from it are never answered otherwise.

No answer is 500, each status and content type is described, and each answer has the described schema.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.effort import EFFORT, much
from tests.server.sales import deployed
from tests.server.serving import Served, served
from tests.server.shop import THIRTEEN, shop
from tidegate.scheduler.model.records.token import Role
from tidegate.server.application import create_application

pytestmark = [pytest.mark.store, pytest.mark.hypothesis]

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

UNCHECKED = [
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
    HealthCheck.too_slow,
]

KNOWN = {
    "ns": "default",
    "app": "sales",
    "s": "daily",
    "p": "report",
    "task": "feed",
    "scheduled": THIRTEEN,
}
"""Names of what is there, by parameter."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with an app, and a token for the calls."""
    folder: Path = tmp_path_factory.mktemp("contract")
    with served(folder, "[serve]\nrequests_per_minute = 0\n") as server:
        deployed(server)
        shop(server)
        server.pass_time(timedelta(seconds=1))
        server.token(Role.ADMIN, name="drawn")
        yield server


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_every_answer_is_as_described(world: Served, mode: GenerationMode):
    application = create_application(world.service)
    described = schemathesis.openapi.from_dict(application.openapi())
    described.app = application
    drawn: set[str] = set()

    found: Any
    for found in described.get_all_operations():
        operation = found.ok()
        drawn.add(operation.label)
        if mode is GenerationMode.NEGATIVE and EFFORT <= 1 and has_names_only(operation):
            # Nothing can be wrong, and to find that out takes most of the time.
            continue
        with suppress(Unsatisfiable):
            _draw(operation, mode)

    assert len(drawn) == sum(map(len, application.openapi()["paths"].values()))


def has_names_only(operation: Any) -> bool:
    """Whether a call consists of names in its path, and any name may be there."""
    parameters: list[Any] = operation.definition.raw.get("parameters", [])
    texts = all(each["schema"].get("type") == "string" for each in parameters)
    return texts and not operation.query and not operation.body


def _draw(operation: Any, mode: GenerationMode) -> None:
    """Make calls of one operation; every second one is about what is there."""

    @settings(max_examples=much(3), deadline=None, derandomize=True, suppress_health_check=UNCHECKED)
    @given(case=operation.as_strategy(generation_mode=mode), exists=st.booleans())
    def call(case: Any, exists: bool) -> None:
        if exists:
            known = KNOWN.items() & {(name, KNOWN.get(name, "")) for name in case.path_parameters or {}}
            case.path_parameters = {**(case.path_parameters or {}), **dict(known)}
        case.headers = {**(case.headers or {}), "Authorization": "Bearer drawn"}
        case.validate_response(case.call(), checks=CHECKS)

    call()
