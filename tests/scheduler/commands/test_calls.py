"""Calls for single schedules, and tokens: what they change in the store, and what the journal has of it."""

import pytest

from tests.worlds.by import CLI
from tests.worlds.samples import NOON, at
from tidegate.compiler.compile import compile_files
from tidegate.compiler.compile_one import compile_schedule
from tidegate.domain.model import App, Schedule
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.commands.deployment.schedules import delete_schedules, put_schedule
from tidegate.scheduler.commands.tokens import create_token, revoke_token
from tidegate.scheduler.model.journal import By, EntryKind
from tidegate.scheduler.model.records.token import TOKENS, Role, token_hash
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.memory.store import MemoryStore

OPS = By(actor="rest:ops", reason="late feed")
TEXT = b"""
app: a
programs: {p: {run: m.p}}
schedules:
  daily: {program: p, trigger: {cron: "0 6 * * *"}}
"""


def app() -> App:
    return compile_files({"a.yaml": TEXT}).models()["a"]


def compiled(name: str, cron: str) -> Schedule:
    found, diagnostics = compile_schedule(app(), name, {"program": "p", "trigger": {"cron": cron}})
    assert found is not None, diagnostics
    return found


@pytest.fixture
def store() -> MemoryStore:
    found = MemoryStore()
    with found.transaction() as transaction:
        deploy(transaction, {"a": app()}, NOON, by=CLI)
    return found


def test_what_calls_did_is_remembered_named_by_plan_and_undone_by_a_deployment(store: MemoryStore):
    with store.transaction() as transaction:
        put_schedule(transaction, "a", compiled("called", "0 7 * * *"), at(1), OPS)
        put_schedule(transaction, "a", compiled("daily", "0 8 * * *"), at(2), OPS)
        states = {state.name: state for state in transaction.schedules()}
        planned = {c.name: c.because for c in difference(transaction, {"a": app()}).schedules()}
        entry = transaction.journal()[-1]

    assert (states["called"].source, states["called"].revision) == ("api", 1)
    assert (states["daily"].source, states["daily"].revision, states["daily"].overridden) == (
        "deploy",
        2,
        True,
    )
    assert planned == {"called": "it was created over REST", "daily": "it was changed over REST"}
    assert (entry.kind, entry.data["by"], entry.data["why"]) == (EntryKind.DEPLOY, "rest:ops", "late feed")

    with store.transaction() as transaction:
        deploy(transaction, {"a": app()}, at(3), by=CLI)
        (daily,) = transaction.schedules()
    assert (daily.name, daily.overridden, daily.revision) == ("daily", False, 3)


def test_a_deleted_schedule_leaves_its_app(store: MemoryStore):
    with store.transaction() as transaction:
        delete_schedules(transaction, ["a/daily"], at(1), by=OPS)
        assert deployed_apps(transaction)["a"].schedules == {}
        with pytest.raises(Refused, match="no schedule a/daily"):
            delete_schedules(transaction, ["a/daily"], at(2), by=CLI)


def test_tokens_are_created_once_and_revoked(store: MemoryStore):
    with store.transaction() as transaction:
        create_token(transaction, "ops", Role.OPERATE, "a", token_hash("s"), NOON, CLI)
        for name, app_name, said in (
            ("ops", None, "already"),
            ("a b", None, "name of a token"),
            ("x", "A/b", "no app"),
        ):
            with pytest.raises(Refused, match=said):
                create_token(transaction, name, Role.READ, app_name, "h", NOON, CLI)
        revoke_token(transaction, "ops", at(1), CLI)
        with pytest.raises(Refused, match="no token"):
            revoke_token(transaction, "ops", at(2), CLI)
        (token,) = transaction.records(TOKENS)
        actions = [each.data["action"] for each in transaction.journal() if each.kind is EntryKind.TOKEN]

    assert (token.revoked_at, token.hash) == (at(1), token_hash("s"))
    assert actions == ["create", "revoke"]
    assert Role.ADMIN.includes(Role.READ) and not Role.READ.includes(Role.OPERATE)
