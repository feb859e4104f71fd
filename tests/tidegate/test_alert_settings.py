"""The section `[alerts]` of tidegate.toml: channels, routes, and what is refused."""

from datetime import timedelta
from pathlib import Path

import pytest

from tidegate.alerts.channel import Alerting, Command, Mail, Webhook
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
