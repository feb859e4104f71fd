"""The section `[alerts]` of tidegate.toml: channels, routes, and what is refused."""

from datetime import timedelta
from pathlib import Path

import pytest

from tidegate.alerts.channel import Alerting, Apprise, Command, Mail, Webhook
from tidegate.project.settings.language import SettingsError
from tidegate.project.settings.settings import load_settings

WHOLE = """
[alerts]
window = "30m"
[alerts.default]
failed = ["chat", "duty"]
recovered = []
[alerts.channels.chat]
kind = "webhook"
format = "slack"
url_env = "SLACK_URL"
[alerts.channels.duty]
kind = "mail"
host = "mail.example.com"
user = "tidegate"
password_env = "SMTP_PASSWORD"
from = "tidegate@example.com"
to = ["ops@example.com"]
[alerts.channels.pager]
kind = "command"
command = ["page", "--title={title}"]
"""


def alerts(folder: Path, text: str) -> Alerting:
    (folder / "tidegate.toml").write_text(text)
    return load_settings(folder).alerts


def test_channels_and_routes_are_read(project_folder: Path) -> None:
    found = alerts(project_folder, WHOLE)
    assert found.rules.window == timedelta(minutes=30)
    assert found.rules.default == {"failed": ("chat", "duty"), "recovered": ()}
    assert found.channels == {
        "chat": Webhook(format="slack", url_env="SLACK_URL"),
        "duty": Mail(
            host="mail.example.com",
            user="tidegate",
            password_env="SMTP_PASSWORD",
            sender="tidegate@example.com",
            to=("ops@example.com",),
        ),
        "pager": Command(command=("page", "--title={title}")),
    }


def test_without_the_section_nothing_is_sent(project_folder: Path) -> None:
    assert alerts(project_folder, "") == Alerting()


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ('window = "30m"', 'window = "soon"', "alerts.window must be a duration", "window ="),
        ("failed =", "fialed =", 'no kind "fialed"', "failed"),
        ('["chat", "duty"]', '"chat"', "must be a list of channels", 'failed = ["ops"]'),
        ('["chat", "duty"]', '["chta"]', 'unknown channel "chta"', "[alerts.channels.chta]"),
        ("channels.pager", "channels.Pager", "a channel's name has lower-case letters", "rename"),
        ('kind = "command"', 'kind = "pager"', "must be one of webhook, mail, command", "webhook"),
        ('url_env = "SLACK_URL"', 'url_env = ""', "one of url and url_env", "url_env"),
        ('url_env = "SLACK_URL"', 'url = "ftp://x"', "http or https", "url_env"),
        ('url_env = "SLACK_URL"', 'url = "https://a:b@x/"', "without a password", "url_env"),
        ('url_env = "SLACK_URL"', 'url_env = "https://x"', "not the name of a variable", "not its value"),
        ('password_env = "SMTP_PASSWORD"', 'password = "x"', 'no key "password"', "password_env"),
        ('user = "tidegate"\n', "", "belong together", "password_env"),
        ('user = "tidegate"', 'tls = "none"\nuser = "tidegate"', "not sent without TLS", "starttls"),
        ('["ops@example.com"]', '["ops@example.com\\nBcc: x@y"]', "not a mail address", "to ="),
        ('["ops@example.com"]', "[]", "not a mail address", "to ="),
        ('"mail.example.com"', "7", "Expected `str`", "docs/alerts.md"),
        ('["page", "--title={title}"]', "[]", "a program with its arguments", "command ="),
        ('["page", ', '["{job}", ', "a program with its arguments", "command ="),
    ],
)
def test_mistakes_are_refused_with_a_remedy(
    project_folder: Path, old: str, new: str, message: str, hint: str
) -> None:
    assert old in WHOLE
    with pytest.raises(SettingsError) as refused:
        alerts(project_folder, WHOLE.replace(old, new))
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_a_channel_has_a_window_of_its_own_and_alerts_know_the_pages(project_folder: Path) -> None:
    given = WHOLE.replace('kind = "webhook"\n', 'kind = "webhook"\nwindow = "4h"\n') + (
        '\n[alerts.channels.phone]\nkind = "apprise"\nurl_env = "PHONE_URL"\n'
        '\n[serve]\nurl = "https://tidegate.example.com/"\n'
    )
    found = alerts(project_folder, given)
    assert found.rules.windows == {"chat": timedelta(hours=4)}
    assert found.rules.window_of("duty") == timedelta(minutes=30)
    assert found.rules.board == "https://tidegate.example.com"
    assert found.channels["phone"] == Apprise(url_env="PHONE_URL")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('[alerts.channels.a]\nkind = "apprise"\n', "url_env"),
        ('[alerts.channels.a]\nkind = "apprise"\nurl_env = "json://secret"\n', "not the name of a variable"),
        (
            '[alerts.channels.a]\nkind = "apprise"\nurl_env = "A"\nwindow = "soon"\n',
            "window must be a duration",
        ),
        ('[alerts.channels.a]\nkind = "apprise"\nurl_env = "A"\nwindow = 4\n', "window must be a duration"),
        ('[serve]\nurl = "tidegate"\n', "serve.url must be a URL"),
    ],
)
def test_mistakes_in_what_alerts_link_to_and_wait_for(project_folder: Path, given: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        alerts(project_folder, given)
