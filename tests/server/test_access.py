"""Who may call: tokens and their roles, loopback without tokens, and pages of other sites."""

from pathlib import Path

import pytest

from tests.server.serving import NS, Served, problem, served
from tests.worlds.by import CLI
from tidegate.scheduler.commands.tokens import revoke_token
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.token import TOKENS, Role
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.run import GAUGES

pytestmark = [pytest.mark.store]

PATH = "/openapi.json"


def test_without_tokens_everything_is_allowed_from_this_machine(server: Served):
    assert server.client.get(PATH).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "a{b.evil.example:8080"},
        {"Host": "127.0.0.1@evil.example"},
        {"X-Forwarded-For": "10.0.0.1"},
        {"Forwarded": "for=10.0.0.1"},
        {"Authorization": "Bearer guessed"},
    ],
    ids=[
        "a name that is not of this machine",
        "a name of odd characters",
        "a malformed name",
        "a proxy",
        "a standard proxy",
        "an unknown token",
    ],
)
def test_without_tokens_others_are_refused(server: Served, headers: dict[str, str]):
    answer = server.client.get(PATH, headers=headers)

    problem(answer, 401)
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer ", "Basic cmVhZA==", "Bearer wrong", "read-all"]
)
def test_with_tokens_a_call_without_a_valid_one_is_401(server: Served, given: str | None):
    server.token(Role.READ)

    answer = server.client.get(PATH, headers={} if given is None else {"Authorization": given})

    problem(answer, 401)
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_valid_token_is_accepted(server: Served, scheme: str):
    token = server.token(Role.READ)

    assert server.client.get(PATH, headers={"Authorization": f"{scheme} {token}"}).status_code == 200


@pytest.mark.parametrize(
    ("anonymous", "reads", "writes"), [("write", 200, 200), ("read", 200, 401), ("none", 401, 401)]
)
def test_a_project_says_what_is_allowed_without_a_token(
    tmp_path: Path, empty_store: Path, anonymous: str, reads: int, writes: int
):
    with served(tmp_path, f'[serve]\nanonymous = "{anonymous}"\n', empty=empty_store) as server:
        gauge, batch = f"{NS}/gauges/cpu", f"{NS}/nextruntime"
        assert server.client.get(PATH).status_code == reads
        assert server.client.post(batch, json=[]).status_code == reads  # it only reads
        answer = server.client.post(gauge, json={"value": 1})
        assert answer.status_code == writes
        if writes == 401:
            assert answer.headers["www-authenticate"] == "Bearer"
        assert server.client.get("/").status_code == reads
        assert server.client.get("/healthz").status_code == 200
        with server.store.reading() as reader:
            assert len(reader.records(GAUGES)) == (writes == 200)

        token = server.of(server.token(Role.OPERATE))
        assert token.post(gauge, json={"value": 1}).status_code == 200
        problem(server.client.get(PATH), 401)


def test_creating_and_revoking_count_at_once(server: Served):
    assert server.client.get(PATH).status_code == 200

    reader = server.of(server.token(Role.READ))
    assert server.client.get(PATH).status_code == 401
    assert reader.get(PATH).status_code == 200

    with server.store.transaction() as transaction:
        revoke_token(transaction, "read-all", server.now, CLI)
    problem(reader.get(PATH), 401)
    # A server that had tokens does not open itself when the last one is revoked.
    problem(server.client.get(PATH), 401)


def test_the_store_keeps_a_hash_and_the_journal_an_entry(server: Served):
    server.token(Role.ADMIN, name="deployer")

    with server.store.reading() as reader:
        (token,) = reader.records(TOKENS)
        (entry,) = [each for each in reader.journal() if each.kind is EntryKind.TOKEN]
    assert token.name == "deployer"
    assert len(token.hash) == 64
    assert "deployer" not in token.hash
    assert (entry.data["action"], entry.data["by"]) == ("create", "cli")


def test_a_name_is_used_once_until_its_token_is_revoked(server: Served):
    server.token(Role.READ, name="reports")
    with pytest.raises(Refused, match="already"):
        server.token(Role.ADMIN, name="reports")

    with server.store.transaction() as transaction:
        revoke_token(transaction, "reports", server.now, CLI)
    with server.store.transaction() as transaction, pytest.raises(Refused, match="no token"):
        revoke_token(transaction, "reports", server.now, CLI)

    server.token(Role.ADMIN, name="reports")


@pytest.mark.parametrize("name", ["", "a b", "-x", "x" * 64, "a/b"])
def test_a_malformed_name_is_refused(server: Served, name: str):
    with server.store.transaction() as transaction, pytest.raises(Refused, match="name of a token"):
        from tidegate.scheduler.commands.tokens import create_token

        create_token(transaction, name, Role.READ, None, "hash", server.now, CLI)


def test_unknown_paths_and_methods_are_problems(server: Served):
    problem(server.client.get("/nothing"), 404)
    answer = server.client.post("/healthz")
    problem(answer, 405)
    assert answer.headers["allow"] == "GET"
    answer = server.client.patch(f"{NS}/apps/sales")
    problem(answer, 405)
    assert answer.headers["allow"] == "DELETE, GET, PUT"


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null", "http://[", ""])
def test_a_page_of_another_site_writes_nothing(server: Served, origin: str):
    problem(server.client.post(f"{NS}/gauges/cpu", json={"value": 1}, headers={"Origin": origin}), 403)
    said = {"Sec-Fetch-Site": "cross-site"}
    problem(server.client.post(f"{NS}/gauges/cpu", json={"value": 1}, headers=said), 403)

    own = {"Origin": "http://127.0.0.1:8080"}
    assert server.client.post(f"{NS}/gauges/cpu", json={"value": 1}, headers=own).status_code == 200
