"""`tidegate apps`: an app on hold, as people see it."""

from tests.tidegate.project import Project
from tests.worlds.by import ME


def test_an_app_is_held_and_released(deployed: Project) -> None:
    assert deployed.json("apps", "list") == [
        {"name": "sales", "deployed": True, "project": "shop", "hold": None}
    ]
    assert deployed.run("apps", "hold", "sales") == (
        "sales is on hold: nothing of it is launched; `tidegate apps release sales` goes on\n"
    )
    assert deployed.run("apps", "hold", "sales") == "sales is already on hold\n"
    assert "on hold since" in deployed.run("apps", "list")
    assert deployed.json("apps", "list")[0]["hold"]["by"] == ME
    assert "nothing is launched of app sales: it is on hold since" in deployed.run("why", "report_daily")

    assert deployed.run("apps", "release", "sales") == "sales is released\n"
    assert deployed.run("apps", "release", "sales") == "sales was not on hold\n"
    assert "on hold" not in deployed.run("why", "report_daily")


def test_an_unknown_app_is_refused(deployed: Project) -> None:
    for command in ("hold", "release"):
        assert 'app "sale" is not deployed' in str(deployed.refused("apps", command, "sale"))


def test_an_app_that_is_renamed_stays_on_hold(deployed: Project) -> None:
    deployed.run("apps", "hold", "sales")
    deployed.edit("app: sales\n", "app: shop\nrenamed_from: sales\n")
    deployed.run("deploy")
    (app,) = deployed.json("apps", "list")
    assert app["name"] == "shop"
    assert app["hold"]["by"] == ME


def test_an_app_that_is_gone_can_be_released(project: Project) -> None:
    project.write("sales", "app: sales\n")
    project.run("deploy")
    project.run("apps", "hold", "sales")
    project.edit("app: sales", "app: shop")
    project.run("deploy", "--remove-apps")

    assert "(not deployed)" in project.run("apps", "list")
    project.run("apps", "release", "sales")
    assert [each["name"] for each in project.json("apps", "list")] == ["shop"]
