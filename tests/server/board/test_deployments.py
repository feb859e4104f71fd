"""*Deployments*: the log, one deployment with its changes, and the way back."""

from typing import Any

import pytest

from tests.server.board.board import DAYS, HTML, job_of, shown
from tests.server.sales import DAILY, EACH_DAY, SPEC, deployed
from tests.server.serving import NS, Served, problem
from tidegate.scheduler.model.job import JobState

pytestmark = [pytest.mark.store]

LOG = "/board/deployments"


def with_schedules(**schedules: Any) -> dict[str, Any]:
    return {**SPEC, "schedules": schedules}


def newest(server: Served) -> int:
    found: int = shown(server, LOG)["items"][0]["number"]
    return found


def test_deployments_name_who_changed_what(board: Served):
    assert shown(board, LOG)["items"][-1]["by"] == "rest"


def test_a_deployment_lists_each_change_with_its_fields(board: Served):
    later = {**EACH_DAY, "timeout": "3h"}
    deployed(board, with_schedules(each_day=later, extra=DAILY))
    number = newest(board)

    view = shown(board, f"{LOG}/{number}")

    changes = {(each["section"], each["name"]): each for each in view["items"]}
    replaced = changes["schedules", "each_day"]
    assert (replaced["action"], replaced["lines"]) == ("replace", ['timeout.after: "1d" -> "3h"'])
    assert replaced["fields"] == [{"path": "timeout.after", "old": "1d", "new": "3h"}]
    assert {name: each["action"] for (_, name), each in changes.items()} == {
        "daily": "delete",
        "each_day": "replace",
        "extra": "create",
        "sales": "change",
    }
    # What is deleted has no page to which a link could lead.
    assert view["pages"] == ["sales/each_day", "sales/extra"]
    html = board.client.get(f"{LOG}/{number}", headers=HTML).text
    assert "timeout.after: &#34;1d&#34; -&gt; &#34;3h&#34;" in html
    assert 'href="/board/schedules/sales/daily"' not in html


def test_what_the_log_counts_is_what_its_links_list(board: Served):
    many = {f"extra_{number}": DAILY for number in range(22)}
    deployed(board, with_schedules(**many))
    created = newest(board)
    deployed(board, with_schedules(each_day=EACH_DAY))
    deleted = newest(board)

    html = board.client.get(LOG, headers=HTML).text

    for number, action, count in ((created, "create", 22), (deleted, "delete", 22), (created, "delete", 2)):
        path = f"{LOG}/{number}?app=sales&action={action}"
        assert path.replace("&", "&amp;") in html
        view = shown(board, path)
        assert (view["changes"], len(view["items"])) == (count, count)
    first = shown(board, f"{LOG}/{deleted}?action=delete&limit=20")
    rest = shown(board, f"{LOG}/{deleted}?action=delete&limit=20&cursor={first['next']}")
    assert [len(each["items"]) for each in (first, rest)] == [20, 2]
    assert rest["next"] is None


def test_a_button_rolls_back_with_a_reason_after_it_has_said_what_it_takes_away(board: Served):
    first = shown(board, LOG)["items"][-1]["number"]
    deployed(board, with_schedules(each_day={**EACH_DAY, "timeout": "3h"}, extra=DAILY))
    waiting = _waiting(board)
    path = f"{LOG}/{first}/rollback"
    assert path in board.client.get(LOG).text

    ahead = shown(board, path)

    assert ahead["changes"] == {"create": 1, "replace": 1, "delete": 1}
    assert ahead["taken_away"][0] == "sales/extra is deleted"
    html = board.client.get(path, headers=HTML).text
    assert all(line in html for line in ahead["taken_away"])
    problem(board.client.post(path, data={"reason": "", "agreed": ahead["agreed"]}), 400)
    changed = board.client.post(path, data={"reason": "r", "agreed": "another page"})
    assert "something else now than was shown" in problem(changed, 409)["detail"]
    assert (newest(board), _waiting(board)) == (shown(board, LOG)["items"][0]["number"], waiting)
    form = {"reason": "it is needed", "agreed": ahead["agreed"]}
    answer = board.client.post(path, data=form, follow_redirects=False)

    assert answer.status_code == 303 and answer.headers["location"].startswith(f"{LOG}?done=")
    view = shown(board, LOG)
    assert (view["items"][0]["rollback_to"], view["items"][0]["reason"]) == (first, "it is needed")
    text = board.client.get(LOG).text
    # Its own line, and that of the rollback to it.
    assert text.count(f'<a href="{LOG}/{first}">{first}</a>') == 2 and "it is needed" in text
    # What is deployed needs no way back to it.
    assert f"{LOG}/{newest(board)}/rollback" not in board.client.get(LOG).text
    same = shown(board, f"{LOG}/{newest(board)}/rollback")
    assert same["refusals"] == [f"nothing differs from deployment {newest(board)}"]


def test_a_rollback_says_how_many_waiting_jobs_it_discards(board: Served):
    first = shown(board, LOG)["items"][-1]["number"]
    trigger = {"partitions": {"dataset": "raw", "count": 5}}
    later = {"program": "clean", "trigger": trigger, "status": "active"}
    deployed(board, with_schedules(each_day=later, extra={**DAILY, "status": "active"}))
    board.client.post(f"{NS}/apps/sales/schedules/extra/trigger", json={})

    ahead = shown(board, f"{LOG}/{first}/rollback")

    assert "sales/extra: 1 waiting job is discarded with D-DELETED" in ahead["taken_away"]


def _waiting(server: Served) -> str:
    with server.store.reading() as reader:
        (job,) = reader.jobs(ids=[job_of(server, DAYS[1])])
    return JobState(job.state)
