"""Every change that a command makes is in the journal with the user of the machine, and the reason given."""

from datetime import UTC, datetime

from tests.tidegate.project import Project
from tests.worlds.by import ME
from tidegate.scheduler.model.records.session import SESSIONS, Session


def sign_in(project: Project) -> None:
    """Let a person have two sessions, and another one."""
    until = datetime(2099, 1, 1, tzinfo=UTC)
    of_ann = {"subject": "0a1", "email": "Ann@example.org", "namespace": "default", "expires_at": until}
    ann = [Session(id=id, **of_ann) for id in ("1", "2")]
    bob = Session(id="3", subject="0b2", namespace="default", expires_at=until)
    of_token = Session(id="4", token="h", namespace="default", expires_at=until)
    store = project.store()
    with store.transaction() as transaction:
        transaction.put_records(SESSIONS, [*ann, bob, of_token])
    store.close()


def test_the_sessions_of_a_person_end_by_e_mail_subject_or_actor(deployed: Project) -> None:
    for person in ("ann@example.org", "0a1", "oidc:0a1", "oidc:0a1 (Ann@example.org)"):
        sign_in(deployed)
        assert deployed.run("token", "revoke", "--person", person) == f"2 sessions of {person} ended\n"
        store = deployed.store()
        with store.reading() as reader:
            assert [each.id for each in reader.records(SESSIONS)] == ["3", "4"]
            last = list(reader.journal())[-1]
        store.close()
        assert last.data["people"] == ["oidc:0a1 (Ann@example.org)"] and last.data["sessions"] == 2
    for wrong in ("", "an@example.org", "oidc:", "h"):
        assert "no session is of" in deployed.refused("token", "revoke", "--person", wrong).message
    for arguments in ((), ("ops", "--person", "0b2")):
        assert "one of a token and --person" in deployed.refused("token", "revoke", *arguments).message


def test_the_journal_has_the_user_and_the_reason_of_every_command(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    sign_in(deployed)
    (job,) = deployed.json("jobs", "list")
    commands = [
        ("jobs", "cancel", job["id"]),
        ("schedules", "suspend", "report_at_six"),
        ("schedules", "resume", "report_at_six"),
        ("schedules", "trigger", "report_at_six", "--key", "2026-03-09"),
        ("schedules", "update", "report_daily", "--set", "timeout=5h"),
        ("overrides", "revert", "report_daily"),
        ("apps", "hold", "sales"),
        ("apps", "release", "sales"),
        ("report", "orders", "--key", "2026-03-10", "--anyway"),
        ("gauge", "set", "cpu", "20"),
        ("token", "create", "ops", "--role", "read"),
        ("token", "revoke", "ops"),
        ("token", "revoke", "--person", "ann@example.org"),
        ("events", "replay", "orders", "--key", "2026-03-09", "--again"),
        ("schedules", "delete", "report_by_day"),
        ("deploy",),
    ]
    for number, command in enumerate(commands):
        deployed.run(*command, "--reason", f"no. {number}")

    store = deployed.store()
    with store.reading() as reader:
        noted = [entry.data for entry in reader.journal() if "by" in entry.data]
    store.close()

    assert {each["by"] for each in noted} == {ME}
    said = {each.get("why") for each in noted}
    assert [command for number, command in enumerate(commands) if f"no. {number}" not in said] == []
    assert deployed.json("deployments", "log")[0]["by"] == ME
