"""What the groups of a person allow, in all apps or in one, and what a proxy hears of it."""

from pathlib import Path

import pytest

from tests.server.sales import APP, SCHEDULES, SPEC
from tests.server.serving import NS, Served, problem, served
from tests.server.sign_on.issuing import HTML, OWN, FakeIssuer, begun, come_back, sessions, signed_in
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]


def test_a_person_of_no_group_is_refused_by_name(server: Served, issuer: FakeIssuer):
    client = server.of()
    sent = begun(client)
    issuer.claims = {"nonce": sent["nonce"], "name": "Ann <i>", "groups": ["others"]}
    page = client.get("/auth/callback", params={"state": sent["state"], "code": "c"}, headers=HTML)
    assert page.status_code == 403 and "Ann &lt;i&gt;" in page.text
    assert sessions(server) == 0
    for groups in (None, 7, {"ops": True}, "others", [["ops"]]):
        found = problem(come_back(client, issuer, groups=groups, email="ann@example.org"), 403)
        assert "ann@example.org" in found["detail"]
    assert come_back(client, issuer, groups="ops").status_code == 303, "one group as a text"


def test_the_highest_role_counts_and_the_journal_has_the_person(server: Served, issuer: FakeIssuer):
    client = signed_in(server, issuer, "all", "ops", email="ann@example.org")
    answer = client.put(APP, json={"spec": SPEC}, headers=OWN)
    assert answer.status_code == 200, answer.text
    assert client.post(f"{SCHEDULES}/daily/enable", headers=OWN).status_code == 200
    with server.store.reading() as reader:
        assert reader.schedules(refs=["sales/daily"])[0].changed_by == "oidc:ann (ann@example.org)"
        (entry,) = [each for each in reader.journal() if each.kind is EntryKind.DEPLOY]
    assert entry.data["by"] == "oidc:ann (ann@example.org)"
    unchecked = signed_in(server, issuer, "all", email="bob@example.org", email_verified=False)
    assert unchecked.get("/auth/check").headers["x-tidegate-person"] == "ann", "it is not said to be checked"


def test_groups_that_the_id_token_lacks_are_asked_for(server: Served, issuer: FakeIssuer):
    client = server.of()
    issuer.user_info = {"sub": "ann", "groups": ["ops"], "email": "ann@example.org"}
    assert come_back(client, issuer).status_code == 303
    assert client.get("/auth/check").headers["x-tidegate-person"] == "ann@example.org"
    issuer.user_info = {"sub": "bob", "groups": ["ops"]}
    problem(come_back(client, issuer), 401)


def test_a_person_has_a_role_in_each_app(server: Served, issuer: FakeIssuer):
    boss = server.of(server.token(Role.ADMIN))
    for app in ("sales", "shop", "yard"):
        assert boss.put(f"{NS}/apps/{app}", json={"spec": {**SPEC, "app": app}}).status_code == 200
    client = signed_in(server, issuer, "sellers")
    assert [each["app"] for each in client.get(f"{NS}/apps").json()["items"]] == ["sales", "shop"]
    problem(client.get(f"{NS}/apps/yard"), 403)
    at = f"{NS}/apps/{{}}/schedules/daily/enable"
    found = problem(client.post(at.format("sales"), headers=OWN), 403)
    assert (
        found["detail"]
        == "this needs the role operate in the app sales; ann may do this in the app shop only"
    )
    assert client.post(at.format("shop"), headers=OWN).status_code == 200
    problem(client.post(f"{NS}/gauges/cpu", json={"value": 1}, headers=OWN), 403)
    changed = client.post(f"{SCHEDULES}/daily/update", json={"owner": "ann"}, headers=OWN)
    problem(changed, 403)
    text = {"reason": "x"}
    assert boss.post(f"{SCHEDULES}/daily/update", json={"owner": "ops"}).status_code == 200
    problem(client.post(f"{SCHEDULES}/daily/revert", json=text, headers=OWN), 403)
    for path in ("/", "/board/schedules", "/board/jobs", "/board/alerts", "/board/datasets"):
        page = client.get(path, headers=HTML)
        assert page.status_code == 200 and "yard" not in page.text, path


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}])
def test_a_cookie_alone_changes_nothing(server: Served, issuer: FakeIssuer, headers: dict[str, str]):
    deployed_by = server.of(server.token(Role.ADMIN))
    deployed_by.put(APP, json={"spec": SPEC})
    client = signed_in(server, issuer, "ops")
    assert client.post(f"{SCHEDULES}/daily/enable", headers=headers).status_code in (401, 403)


def test_a_proxy_asks_who_may_pass(server: Served, issuer: FakeIssuer):
    reader = signed_in(server, issuer, "all", sub="zoë", email="zoë@example.org")
    answer = reader.get("/auth/check")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["x-tidegate-person"] == "zo%C3%AB@example.org"
    assert answer.headers["x-tidegate-role"] == "read"
    problem(reader.get("/auth/check", params={"role": "operate"}), 403)
    problem(reader.get("/auth/check", params={"role": "king"}), 400)
    problem(reader.get("/auth/check", headers={"Origin": "http://evil.example"}), 403)
    boss = signed_in(server, issuer, "ops")
    assert boss.get("/auth/check?role=admin", headers=OWN).headers["x-tidegate-role"] == "admin"
    seller = signed_in(server, issuer, "sellers")
    problem(seller.get("/auth/check"), 403)
    assert seller.get("/auth/check?app=shop&role=operate").headers["x-tidegate-role"] == "admin"
    problem(seller.get("/auth/check?app=sales&role=operate"), 403)
    program = server.of(server.token(Role.OPERATE, name="nightly"))
    assert program.get("/auth/check").headers["x-tidegate-person"] == "rest:nightly"


def test_without_an_issuer_and_tokens_no_proxy_lets_anybody_pass(tmp_path: Path, empty_store: Path):
    with served(tmp_path, empty=empty_store) as server:
        assert server.client.get("/").status_code == 200
        problem(server.client.get("/auth/check"), 401)
        problem(server.client.get("/auth/sign-in"), 404)
