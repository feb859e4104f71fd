"""The whole way of a person with `oidc-provider-mock`: by calls as a browser makes them, and in Chromium."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from oidc_provider_mock import User, run_server_in_thread
from playwright.sync_api import expect

from tests.browser import launched
from tests.server.process import ServerProcess
from tests.server.serving import NS
from tests.server.sign_on.issuing import SECRET, SECRET_VARIABLE, settings_of

pytestmark = [pytest.mark.store, pytest.mark.endurance]

PEOPLE = (
    User(sub="ann", claims={"email": "ann@example.org", "groups": ["ops"]}),
    User(sub="bob", claims={"name": "Bob", "email": "bob@example.org", "groups": ["others"]}),
)
SCOPES = 'scopes = ["openid", "email", "groups"]\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server process with a mock of an issuer."""
    folder: Path = tmp_path_factory.mktemp("mock")
    with pytest.MonkeyPatch.context() as patched, run_server_in_thread(user_claims=PEOPLE) as issuer:
        patched.setenv(SECRET_VARIABLE, SECRET)
        address = f"http://localhost:{issuer.server_port}"
        (folder / "tidegate.toml").write_text(
            settings_of(address, 'group = "ops", role = "admin"', more=SCOPES)
        )
        (folder / "schedules").mkdir()
        process = ServerProcess(folder, "--no-host")
        yield process
        process.end()


def test_a_person_signs_in_and_out_by_redirects_and_forms(server: ServerProcess):
    with server.client() as client:
        assert client.get(f"{NS}/apps").status_code == 401
        page = client.get("/auth/sign-in", params={"next": "/board/jobs"}, follow_redirects=True)
        assert page.url.path == "/oauth2/authorize"
        back = httpx.post(page.url, data={"sub": "ann"}).headers["location"]
        assert back.startswith(f"{server.address}/auth/callback?")
        there = client.get(back, headers={"Accept": "text/html"}, follow_redirects=True)
        assert (there.status_code, there.url.path) == (200, "/board/jobs"), there.text
        assert client.get("/auth/check").headers["x-tidegate-person"] == "ann@example.org"
        assert client.post("/board/sign-out", headers={"Origin": server.address}).status_code == 303
        assert client.get("/auth/check").status_code == 401


def test_a_person_of_no_group_and_one_who_says_no_are_not_let_in(server: ServerProcess):
    with server.client() as client:
        page = client.get("/auth/sign-in", follow_redirects=True)
        back = httpx.post(page.url, data={"sub": "bob"}).headers["location"]
        refused = client.get(back, headers={"Accept": "text/html"})
        assert refused.status_code == 403 and "bob@example.org" in refused.text
        page = client.get("/auth/sign-in", follow_redirects=True)
        denied = httpx.post(page.url, data={"action": "deny"}).headers["location"]
        assert client.get(denied).status_code in (400, 401)
        assert client.get("/auth/check").status_code == 401


def test_a_browser_comes_back_to_the_page_that_it_asked_for(server: ServerProcess):
    with launched() as browser:
        page = browser.new_page(base_url=server.address)
        page.goto("/board/schedules?app=sales")
        page.get_by_role("link", name="Sign in with").click()
        page.get_by_text("ann").first.click()
        page.wait_for_url(f"{server.address}/board/schedules?app=sales")
        cookies = {each["name"]: each for each in page.context.cookies()}
        session = cookies["tidegate_session"]
        assert (session["httpOnly"], session["sameSite"], session["secure"]) == (True, "Lax", False)
        assert "tidegate_sign_in" not in cookies, "the way is over"
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("link", name="Sign in with")).to_be_visible()
        page.goto("/board/jobs")
        expect(page.get_by_role("link", name="Sign in with")).to_be_visible()
