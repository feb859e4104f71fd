"""Publishes that failed checks withhold: what people see of them and decide, over REST and on the board."""

from collections.abc import Iterator
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest

from tests.server.board.board import HOSTILE, HTML, shown
from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served, problem
from tests.server.shop import fetched
from tests.worlds.samples import verdict
from tidegate.domain.published import PublishedPartition
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.token import Role
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_sequence
from tidegate.spark_jobs.errors import WithheldRefused
from tidegate.spark_jobs.publication import release

pytestmark = [pytest.mark.store]

COMMITS = f"{NS}/commits"
COMMIT = "run-1.sales.clean"
FAILED = verdict(
    "sales/cleaned", "not_null_id", "3 of 9 rows: id is null", kind="not_null", rows=9, bad=3,
    samples=({"id": None, "day": HOSTILE},),
)  # fmt: skip
PASSED = verdict("sales/cleaned", "rows", "9 rows", severity="warn", passed=True)


def withhold(server: Served, commit: str = COMMIT, dataset: str = "sales/cleaned") -> None:
    """A run has staged rows that break a check."""
    commits = server.service.commits
    token = commits.begin(commit, (dataset,), until=server.now + timedelta(minutes=2))
    sequence = CommitSequence(id=commit, datasets=(dataset,), token=token, steps=(), result=())
    body = encode_sequence(sequence)
    answer = commits.withhold(commit, (dataset,), token, body, (), (PASSED, FAILED), server.now)
    assert answer == "stored"


@pytest.fixture
def served(server: Served) -> Served:
    """A server of two apps, with a withheld publish of one."""
    for app in ("sales", "other"):
        deployed(server, {**SPEC, "app": app})
    withhold(server)
    return server


def test_a_list_says_since_when_and_by_which_check(served: Served):
    (row,) = fetched(served.client.get(COMMITS))["items"]
    assert row["state"].startswith("WITHHELD since 2026-") and row["state"].endswith("Z, check not_null_id")
    assert (row["commit"], row["checks"], row["blocked"]) == (COMMIT, ["not_null_id"], False)
    assert fetched(served.client.get(f"{COMMITS}?withheld=false"))["items"] == []
    assert len(fetched(served.client.get(f"{COMMITS}?withheld=true&dataset=sales/cleaned"))["items"]) == 1
    assert fetched(served.client.get(f"{COMMITS}?dataset=sales/raw"))["items"] == []


def test_one_has_its_verdicts_with_what_fails_first_and_keys_of_bad_rows(served: Served):
    found = fetched(served.client.get(f"{COMMITS}/{COMMIT}"))
    assert [each["name"] for each in found["verdicts"]] == ["not_null_id", "rows"]
    assert found["verdicts"][0]["samples"] == [{"id": None, "day": HOSTILE}]
    assert (found["job"], found["schedule"], found["datasets"]) == ("", "", ["sales/cleaned"])
    problem(served.client.get(f"{COMMITS}/none"), 404)


def test_an_abandoned_one_is_gone_and_a_second_person_is_refused(served: Served):
    answer = served.client.post(f"{COMMITS}/{COMMIT}/abandon", json={"reason": "wrong rows"})
    assert fetched(answer) == {"commit": COMMIT, "datasets": ["sales/cleaned"]}
    assert fetched(served.client.get(COMMITS))["items"] == []
    for action in ("abandon", "release"):
        refused = problem(served.client.post(f"{COMMITS}/{COMMIT}/{action}"), 409)
        assert refused["code"] == "E-STATE" and refused["detail"].startswith("E-STATE: ")
    problem(served.client.post(f"{COMMITS}/none/release"), 404)
    with served.store.reading() as reader:
        (entry,) = reader.journal(kinds=(EntryKind.COMMIT,))
    assert (entry.data["action"], entry.data["why"]) == ("abandon", "wrong rows")
    assert entry.data["by"].startswith("rest")


def test_of_two_people_at_once_one_succeeds(served: Served):
    together, answers = Barrier(2), list[int]()

    def abandon() -> None:
        together.wait()
        answers.append(served.client.post(f"{COMMITS}/{COMMIT}/abandon").status_code)

    people = [Thread(target=abandon) for _ in range(2)]
    for each in people:
        each.start()
    for each in people:
        each.join()
    assert sorted(answers) == [200, 409]


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The core of a release, which a test can let refuse."""
    called: dict[str, Any] = {}

    def released(commit: str, **more: Any) -> Any:
        called["refs"], called["commit"] = sorted(more["refs"]), commit
        if "refuses" in called:
            raise called["refuses"]
        return (PublishedPartition(dataset="cleaned", key="2026-03-09", rows=9, bytes=90, files=1),)

    monkeypatch.setattr(release, "release_withheld", released)
    yield called


def test_a_release_answers_with_what_is_published(served: Served, core: dict[str, Any]):
    found = fetched(served.client.post(f"{COMMITS}/{COMMIT}/release", json={"reason": "they are right"}))
    assert (found["commit"], found["finished"], found["partitions"][0]["rows"]) == (COMMIT, True, 9)
    assert (core["commit"], core["refs"][-1]) == (COMMIT, "sales/raw")


def test_a_release_of_what_is_no_longer_as_judged_is_refused(served: Served, core: dict[str, Any]):
    core["refuses"] = WithheldRefused("commit c9 has published sales/cleaned since", "abandon it")
    refused = problem(served.client.post(f"{COMMITS}/{COMMIT}/release"), 409)
    assert refused["detail"] == "E-STATE: commit c9 has published sales/cleaned since"
    assert (refused["code"], refused["hint"]) == ("E-STATE", "abandon it")
    assert len(fetched(served.client.get(COMMITS))["items"]) == 1


def test_the_page_shows_verdicts_and_keys_and_both_buttons(served: Served):
    page = served.client.get(f"/board/commits/{COMMIT}", headers=HTML)
    text = page.text
    assert "Check not_null_id of sales/cleaned failed: 3 of 9 rows: id is null" in text
    assert "Rows that break not_null_id" in text and "null" in text and "1 of 3" in text
    assert HOSTILE not in text, "keys of rows are escaped"
    assert 'formaction="/board/commits/run-1.sales.clean/abandon"' in text
    assert shown(served, f"/board/commits/{COMMIT}")["publish"]["commit"] == COMMIT
    assert f'href="/board/commits/{COMMIT}"' in served.client.get("/board/commits", headers=HTML).text
    assert COMMIT in served.client.get("/board/datasets/sales/cleaned", headers=HTML).text


def test_the_buttons_of_the_page_decide(served: Served, core: dict[str, Any]):
    here = f"/board/commits/{COMMIT}"
    done = served.client.post(
        f"{here}/release", data={"reason": "right"}, headers=HTML, follow_redirects=False
    )
    assert done.status_code == 303 and done.headers["location"].startswith("/board/commits?")
    done = served.client.post(
        f"{here}/abandon", data={"reason": "wrong"}, headers=HTML, follow_redirects=False
    )
    assert done.status_code == 303
    assert served.client.get(here, headers=HTML).status_code == 409


def test_who_may_see_and_decide(served: Served):
    reader, other = served.of(served.token(Role.READ)), served.of(served.token(Role.OPERATE, app="other"))
    problem(reader.post(f"{COMMITS}/{COMMIT}/release"), 403)
    problem(other.post(f"{COMMITS}/{COMMIT}/abandon"), 403)
    problem(other.get(f"{COMMITS}/{COMMIT}"), 403)
    assert "formaction" not in reader.get(f"/board/commits/{COMMIT}", headers=HTML).text
    foreign = {"Origin": "https://evil.example"}
    operator = served.of(served.token(Role.OPERATE, app="sales"))
    problem(operator.post(f"{COMMITS}/{COMMIT}/abandon", headers=foreign), 403)
    assert operator.post(f"{COMMITS}/{COMMIT}/abandon").status_code == 200


def test_metrics_have_the_number_and_the_age(served: Served):
    served.now += timedelta(minutes=5)
    text = served.client.get("/metrics").text
    assert 'tidegate_withheld_publishes{app="sales"} 1.0' in text
    assert 'tidegate_oldest_withheld_publish_seconds{app="sales"} 300.0' in text
    assert 'tidegate_withheld_publishes{app="other"} 0.0' in text
