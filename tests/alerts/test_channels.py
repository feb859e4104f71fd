"""The channels on real servers: what arrives, what hostile names become, and what errors say."""

import json
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.alerts.receivers import Mailbox, Web, mail_server, raw_server, web_server
from tests.alerts.samples import alert, message
from tidegate.alerts import command as command_module
from tidegate.alerts import webhook as webhook_module
from tidegate.alerts.channel import Apprise, Command, Mail, NotSent, Webhook
from tidegate.alerts.deliver import send
from tidegate.alerts.mail import mail_of
from tidegate.alerts.texts import lines, title
from tidegate.alerts.webhook import send_webhook
from tidegate.scheduler.model.records.alert import AlertKind

HOSTILE = "x\r\nBcc: all@example.com\r\n\r\n<!channel> $(touch /tmp/no) {{7*7}} {job} ; rm -rf / \x1b[2J"


@pytest.fixture
def web() -> Generator[Web]:
    with web_server() as got:
        yield got


@pytest.fixture
def box() -> Generator[Mailbox]:
    with mail_server() as got:
        yield got


def mail_to(box: Mailbox, *to: str) -> Mail:
    return Mail(host="127.0.0.1", port=box.port, tls="none", sender="tidegate@example.com", to=to)


def test_a_webhook_gets_the_alert_as_json(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", web.url)
    monkeypatch.setenv("TOKEN", "s3cret")
    send(Webhook(url_env="HOOK", token_env="TOKEN"), alert(count=3, owner="team"))
    (body,), (headers,) = web.bodies, web.headers
    assert (body["kind"], body["subject"], body["count"], body["owner"]) == (
        "failed",
        "sales/report",
        3,
        "team",
    )
    assert body["title"] == "sales/report failed, 3 times since 2026-03-10 12:00Z"
    assert body["text"] == "ValueError: no fares (programs/fares.py:17)"
    assert (headers["Authorization"], headers["Idempotency-Key"]) == ("Bearer s3cret", "a1")


def test_slack_finds_no_mention_and_no_link_in_names(web: Web) -> None:
    send(Webhook(url=web.url, format="slack"), alert(text=f"<https://evil.example|x> {HOSTILE}"))
    text = web.bodies[0]["blocks"][0]["text"]["text"]
    assert web.bodies[0]["text"] == "sales/report failed"
    assert "&lt;!channel&gt;" in text
    assert "<" not in text
    assert "tidegate why sales.report-1" in text


def test_teams_gets_a_card_without_links(web: Web) -> None:
    send(
        Webhook(url=web.url, format="teams"),
        alert(text="[x](https://evil.example)", kind=AlertKind.RECOVERED),
    )
    card = web.bodies[0]["attachments"][0]["content"]
    assert (card["type"], card["body"][0]["color"]) == ("AdaptiveCard", "Good")
    assert card["body"][0]["text"] == "sales/report is well again"
    assert "\\[x\\]\\(https" in card["body"][1]["text"]


def test_what_a_receiver_refuses_is_said_in_one_line_without_the_address(web: Web) -> None:
    web.code = 403
    with pytest.raises(NotSent) as refused:
        send(Webhook(url=web.url), alert())
    assert refused.value.message == "the receiver answered 403: no thanks"
    assert "127.0.0.1" not in str(refused.value)


def test_a_redirect_is_not_followed(web: Web) -> None:
    with web_server() as other:
        web.code, web.location = 307, other.url
        with pytest.raises(NotSent, match="answered 307"):
            send(Webhook(url=web.url), alert())
        assert other.bodies == []


def test_a_receiver_that_is_away_and_a_variable_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotSent, match="cannot be reached"):
        send(Webhook(url="http://127.0.0.1:9/"), alert())
    monkeypatch.delenv("HOOK", raising=False)
    with pytest.raises(NotSent, match="variable HOOK is not set"):
        send(Webhook(url_env="HOOK"), alert())
    monkeypatch.setenv("HOOK", "file:///etc/passwd")
    with pytest.raises(NotSent, match="not one of http"):
        send(Webhook(url_env="HOOK"), alert())


@pytest.mark.parametrize(
    "answer",
    [
        b"no HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nhalf of",
        b"",
    ],
    ids=["another protocol", "a header without end", "a refusal without end", "silence"],
)
def test_a_receiver_that_does_not_answer_as_it_should(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_module, "SECONDS", 0.3)
    with raw_server(answer) as url, pytest.raises(NotSent) as refused:
        send(Webhook(url=url), alert())
    assert "secret" not in refused.value.message


def test_what_follows_the_status_of_a_receiver_that_accepts_does_not_count() -> None:
    with raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n") as url:
        send(Webhook(url=url), alert())


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/secret word", "http://[secret/", "http://a:secret/"])
def test_a_malformed_address_is_in_no_error(url: str) -> None:
    with pytest.raises(NotSent) as refused:
        send(Webhook(url=url), alert())
    assert "secret" not in refused.value.message


def test_a_mail_arrives_at_all_its_receivers(box: Mailbox) -> None:
    send(mail_to(box, "ops@example.com", "lead@example.com"), alert(key="2026-03-09"))
    (mail,) = box.mails
    assert box.to == [["ops@example.com", "lead@example.com"]]
    assert mail["Subject"] == "[tidegate] sales/report[2026-03-09] failed"
    assert (mail["From"], mail["Message-ID"]) == ("tidegate@example.com", "<a1@tidegate>")
    assert "error: ValueError: no fares (programs/fares.py:17)" in mail.get_content()


def test_no_name_becomes_a_header_or_a_receiver_of_a_mail(box: Mailbox) -> None:
    send(mail_to(box, "ops@example.com"), alert(subject=HOSTILE, key=HOSTILE, text=HOSTILE, owner=HOSTILE))
    (mail,) = box.mails
    assert box.to == [["ops@example.com"]]
    assert mail["Bcc"] is None
    assert mail["Subject"].startswith("[tidegate] x  Bcc: all@example.com")
    assert "\x1b" not in mail.get_content()
    assert "\nBcc" not in mail.get_content()


def test_a_mail_that_a_receiver_does_not_get_is_not_sent(box: Mailbox) -> None:
    box.refused = {"gone@example.com"}
    with pytest.raises(NotSent, match=r"no receiver is accepted: gone@example.com"):
        send(mail_to(box, "gone@example.com"), alert())
    with pytest.raises(NotSent, match=r"refuses gone@example.com"):
        send(mail_to(box, "ops@example.com", "gone@example.com"), alert())


def test_a_mail_server_without_tls_gets_no_mail_by_default(box: Mailbox) -> None:
    channel = Mail(host="127.0.0.1", port=box.port, sender="t@example.com", to=("ops@example.com",))
    with pytest.raises(NotSent, match="STARTTLS"):
        send(channel, alert())
    assert box.mails == []


def test_a_command_gets_arguments_and_json_without_a_shell(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    script = "import json, sys; json.dump([sys.argv[2:], json.load(sys.stdin)], open(sys.argv[1], 'w'))"
    arguments = ("-c", script, str(out), "{title}", "--text={text}", "{nothing}", "{subject} {job}")
    send(Command(command=(sys.executable, *arguments)), alert(text=HOSTILE))
    found, given = json.loads(out.read_text())
    assert found[0] == "sales/report failed"
    assert found[1].startswith(
        "--text=x  Bcc: all@example.com    <!channel> $(touch /tmp/no) {{7*7}} {job} ;"
    )
    assert found[2:] == ["{nothing}", "sales/report sales.report-1"]
    assert given["id"] == "a1"
    assert not Path("/tmp/no").exists()


@pytest.mark.parametrize(
    ("script", "because"),
    [
        ("import sys; sys.exit('bad\\nday')", "ended with 1: bad day"),
        ("import time; time.sleep(60)", "more than"),
    ],
)
def test_a_command_that_fails_or_hangs(script: str, because: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_module, "SECONDS", 1)
    with pytest.raises(NotSent, match=because):
        send(Command(command=(sys.executable, "-c", script)), alert())


def test_a_command_that_says_a_lot_or_goes_on_in_the_background() -> None:
    floods = "import sys; sys.stderr.write('x' * 10_000_000); sys.exit(3)"
    with pytest.raises(NotSent, match=r"ended with 3: x{100}"):
        send(Command(command=(sys.executable, "-c", floods)), alert())
    send(Command(command=("/bin/sh", "-c", "sleep 3 & echo sent >&2")), alert())


def test_a_command_that_reads_nothing_of_a_long_alert() -> None:
    send(Command(command=("/bin/true",)), alert(text="x" * 1_000_000))


def test_a_command_that_does_not_exist() -> None:
    with pytest.raises(NotSent, match="cannot be started"):
        send(Command(command=("/nowhere/notify",)), alert())


def test_a_title_is_short() -> None:
    assert len(title(alert(key="k" * 1000).message)) == 200


LINKS = {
    "run_url": "https://dagster.example.com/runs/run-1",
    "board_url": "https://tidegate.example.com/board/jobs/sales.report-1",
}


def test_links_are_links_in_a_chat_and_plain_in_a_mail(web: Web, box: Mailbox) -> None:
    found = alert(**LINKS)
    send_webhook(Webhook(url=web.url, format="slack"), found)
    send_webhook(Webhook(url=web.url, format="teams"), found)
    send_webhook(Webhook(url=web.url), found)
    slack, teams, plain_json = map(json.dumps, web.bodies)
    assert f"<{LINKS['run_url']}|run in Dagster>" in slack
    assert f"[board]({LINKS['board_url']})" in teams
    assert f'"board_url": "{LINKS["board_url"]}"' in plain_json
    text = mail_of(mail_to(box, "ops@example.com"), found).get_content()
    assert f"board: {LINKS['board_url']}" in text


def test_an_alert_names_up_to_ten_keys_its_project_and_its_environment() -> None:
    keys = tuple(f"2026-03-{day:02}" for day in range(1, 11))
    found = message(key="2026-04-16", keys=keys, more_keys=37, count=47, environment="production")
    assert title(found).startswith("sales/report failed, 47 times since ")
    (line,) = (line for line in lines(found) if line.startswith("keys: "))
    assert line == f"keys: {', '.join(keys)}, and 37 more"
    assert "environment: production" in lines(found)
    assert "project: p" in lines(found)


def test_apprise_reaches_a_service_by_an_address_in_a_variable(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHONE_URL", web.url.replace("http://", "json://"))
    send(Apprise(url_env="PHONE_URL"), alert())
    (body,) = web.bodies
    assert body["title"] == title(message())
    assert "job: sales.report-1" in body["message"]
    assert body["type"] == "failure"


@pytest.mark.parametrize(
    ("url", "because"),
    [
        ("", "PHONE_URL is not set"),
        ("nothing://secret", "does not know the address"),
        (None, "has not accepted"),
    ],
)
def test_apprise_that_cannot_send_names_no_address(
    web: Web, monkeypatch: pytest.MonkeyPatch, url: str | None, because: str
) -> None:
    web.code = 500
    monkeypatch.setenv("PHONE_URL", web.url.replace("http://", "json://") if url is None else url)
    with pytest.raises(NotSent, match=because) as error:
        send(Apprise(url_env="PHONE_URL"), alert())
    assert "secret" not in str(error.value)


def test_apprise_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(NotSent, match="is not installed") as error:
        send(Apprise(url_env="PHONE_URL"), alert())
    assert error.value.hint == 'run `pip install "tidegate[apprise]"`'
