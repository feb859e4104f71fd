"""The section `[serve.oidc]` of tidegate.toml: the issuer, what groups may do, and what is refused."""

from datetime import timedelta
from pathlib import Path

import pytest

from tidegate.project.settings.language import SettingsError
from tidegate.project.settings.settings import load_settings
from tidegate.project.settings.sign_on import SignOn
from tidegate.scheduler.model.records.token import Grant, Role

LEAST = """
[serve.oidc]
issuer = "https://id.example.com/realms/main"
client_id = "tidegate"
client_secret_env = "SSO_SECRET"
"""
GRANT = '[[serve.oidc.grants]]\ngroup = "ops"\nrole = "admin"\n'


def sign_on(folder: Path, text: str) -> SignOn | None:
    (folder / "tidegate.toml").write_text(text)
    return load_settings(folder).sign_on


def test_what_is_left_out_has_its_default_and_a_group_may_have_several_grants(project_folder: Path) -> None:
    of_app = '[[serve.oidc.grants]]\ngroup = "shop team"\nrole = "read"\napp = "shop"\n'
    also = of_app.replace('"read"', '"operate"').replace('"shop"', '"sales"')
    found = sign_on(project_folder, LEAST + GRANT + of_app + also)
    assert found == SignOn(
        issuer="https://id.example.com/realms/main",
        client_id="tidegate",
        client_secret_env="SSO_SECRET",
        scopes=("openid", "groups"),
        groups_claim="groups",
        session=timedelta(hours=8),
        grants={
            "ops": (Grant(role=Role.ADMIN),),
            "shop team": (Grant(role=Role.READ, app="shop"), Grant(role=Role.OPERATE, app="sales")),
        },
    )
    assert found.grants_of(["ops", "others"]) == (Grant(role=Role.ADMIN),)


def test_all_keys_are_read_and_an_environment_has_its_own(
    project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = 'scopes = ["openid", "email"]\ngroups_claim = "https://example.com/roles"\nsession = "30m"\n'
    here = '[env.dev.serve.oidc]\nissuer = "http://localhost:9000"\n'
    found = sign_on(project_folder, LEAST + more + GRANT)
    assert found is not None
    assert (found.scopes, found.groups_claim) == (("openid", "email"), "https://example.com/roles")
    assert found.session == timedelta(minutes=30)
    monkeypatch.setenv("TIDEGATE_ENV", "dev")
    local = sign_on(project_folder, LEAST + more + GRANT + here)
    assert local is not None and local.issuer == "http://localhost:9000"


def test_without_the_section_people_have_tokens_only(project_folder: Path) -> None:
    assert sign_on(project_folder, "") is None
    assert sign_on(project_folder, LEAST) is not None, "without a grant no person comes in"


def changed(key: str, value: str) -> str:
    return "\n".join(f"{key} = {value}" if line.startswith(key) else line for line in LEAST.splitlines())


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        (
            changed("issuer", '"http://id.example.com"'),
            "serve.oidc.issuer must be an address of https",
            "https://",
        ),
        (changed("issuer", '"id.example.com"'), "serve.oidc.issuer must be an address", "issuer ="),
        (changed("issuer", '"https://me:pw@id.example.com"'), "serve.oidc.issuer must", "issuer ="),
        (changed("issuer", '"https://id.example.com?a=b"'), "serve.oidc.issuer must", "issuer ="),
        (changed("issuer", '"https://["'), "serve.oidc.issuer must", "issuer ="),
        (changed("issuer", "7"), "serve.oidc.issuer must be such as", "issuer ="),
        (changed("client_id", '""'), "serve.oidc.client_id must be", 'client_id = "tidegate"'),
        (
            LEAST.replace('client_id = "tidegate"\n', ""),
            "serve.oidc lacks client_id",
            'client_id = "tidegate"',
        ),
        (
            LEAST.replace('client_secret_env = "SSO_SECRET"\n', ""),
            "serve.oidc lacks client_secret_env",
            'client_secret_env = "SSO_SECRET"',
        ),
        (changed("client_secret_env", '"a-secret!"'), "is not the name of a variable", "not its value"),
        (LEAST + 'client_secret = "x"\n', 'has no key "client_secret"', "client_secret_env"),
        (LEAST + 'scopes = ["groups"]\n', 'serve.oidc.scopes lacks "openid"', "scopes ="),
        (LEAST + 'scopes = "openid"\n', "serve.oidc.scopes must be", "scopes ="),
        (LEAST + 'session = "long"\n', "serve.oidc.session must be a duration", 'session = "8h"'),
        (LEAST + "session = 8\n", "serve.oidc.session must be", 'session = "8h"'),
        (LEAST + "grants = 7\n", "serve.oidc.grants must be", "group"),
        (LEAST + 'grants = ["ops"]\n', "serve.oidc.grants 1 must be a table", "[[serve.oidc.grants]]"),
        (
            LEAST + GRANT.replace('group = "ops"\n', ""),
            "serve.oidc.grants 1 lacks group",
            'group = "data-platform"',
        ),
        (LEAST + GRANT.replace('role = "admin"\n', ""), "serve.oidc.grants 1 lacks role", 'role = "operate"'),
        (
            LEAST + GRANT + GRANT.replace('"admin"', '"king"'),
            'serve.oidc.grants 2.role must be one of read, operate, admin, got "king"',
            'role = "operate"',
        ),
        (
            LEAST + GRANT + 'app = "A/b"\n',
            'serve.oidc.grants 1.app must be the name of an app, got "A/b"',
            "app",
        ),
        (LEAST + GRANT + "apps = []\n", 'serve.oidc.grants 1 has no key "apps"', "app"),
        ("[serve]\noidc = 7\n", "serve.oidc must be a table", "[serve.oidc]"),
    ],
)
def test_a_mistake_is_named_with_its_key_and_its_remedy(
    project_folder: Path, text: str, message: str, remedy: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        sign_on(project_folder, text)
    assert message in refused.value.message
    assert remedy in refused.value.hint
    assert "a-secret!" not in str(refused.value) and "pw@" not in str(refused.value)
