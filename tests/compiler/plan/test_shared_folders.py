"""Folders that a deployment would share with another app of the store."""

import pytest

from tidegate.compiler.plan.blocked import Blocked, shared_places
from tidegate.compiler.plan.ownership import Storage
from tidegate.compiler.plan.shared_folders import Neighbours, shared_folders
from tidegate.domain.model import App, Dataset

LAKE = Storage(paths_from="/lake", warehouse="/lake/tables")
ELSEWHERE = Storage(paths_from="/srv/b", warehouse="/srv/b/tables")


def app(name: str, **paths: str | None) -> dict[str, App]:
    return {name: App(name=name, datasets={each: Dataset(name=each, path=paths[each]) for each in paths})}


def beside(storage: Storage = LAKE, *, former: Storage | None = None, owner: str = "feeds") -> Neighbours:
    """The app `feeds` of another project, with a landed dataset."""
    storages = {"feeds": storage} if former is None else {"feeds": storage, "sales": former}
    return Neighbours(apps=app("feeds", raw="landing/raw"), owners={"feeds": owner}, storages=storages)


def found(
    after: dict[str, App],
    neighbours: Neighbours | None = None,
    storage: Storage | None = LAKE,
    before: dict[str, App] | None = None,
) -> list[str]:
    blocks = list(shared_folders(before or {}, after, neighbours or beside(), "sales", storage, ()))
    assert all(each.forcible and "--force" in each.remedy for each in blocks)
    return [each.summary for each in blocks]


@pytest.mark.parametrize("path", ["landing/raw", "Landing/Raw", "landing", "landing/raw/day=1"])
def test_a_folder_that_is_in_or_around_that_of_another_project_is_refused(path: str) -> None:
    other = 'dataset feeds/raw of project "feeds"'
    assert found(app("sales", x=path)) == [f"dataset sales/x would share files with {other}, in /lake/{path}"]


def test_other_folders_and_other_bases_are_free() -> None:
    assert found(app("sales", x="landing/rows", y=None)) == []
    assert found(app("sales", x="landing/raw"), storage=ELSEWHERE) == []
    assert found(app("sales", x="landing/raw"), storage=None) == []
    assert found(app("sales", x="landing/raw"), beside(owner="")) == []


@pytest.mark.parametrize("base", ["file:/lake", "file:///lake"])
def test_a_file_url_is_a_local_folder(base: str) -> None:
    storage = Storage(paths_from=base, warehouse="s3a://bucket/lake/")
    assert len(found(app("sales", x="landing/raw"), storage=storage)) == 1
    bucket = Storage(paths_from="s3a://bucket", warehouse="/elsewhere")
    assert len(found(app("sales", x="lake/x"), beside(storage), bucket)) == 1


def test_the_warehouse_of_the_other_project_is_not_a_place_for_a_path() -> None:
    inside = Storage(paths_from="/lake", warehouse="/other")
    assert found(app("sales", x="tables/x"), storage=inside) == [
        'dataset sales/x would share files with the warehouse of project "feeds", in /lake/tables/x'
    ]


def test_a_new_warehouse_is_not_around_a_landed_folder_of_the_other_project() -> None:
    around = Storage(paths_from="/srv", warehouse="/lake/landing")
    (summary,) = found({}, storage=around)
    assert summary.startswith("the warehouse of this project would share files with dataset feeds/raw")
    assert found({}, beside(former=around), around) == []
    assert len(found({}, beside(former=ELSEWHERE), around)) == 1


def test_what_was_deployed_is_not_refused_again_until_it_moves() -> None:
    same = app("sales", x="landing/raw")
    assert found(same, beside(former=LAKE), before=same) == []
    assert len(found(same, beside(former=ELSEWHERE), before=same)) == 1
    assert len(found(same, beside(former=LAKE), before=app("sales", x="landing/old"))) == 1


def test_a_place_that_was_kept_after_a_rename_is_not_free_for_another_project() -> None:
    moved = Dataset(name="landed", stored_as="feeds/raw")
    neighbours = Neighbours(
        apps={"sources": App(name="sources", datasets={"landed": moved})},
        owners={"sources": "one"},
        storages={"one": LAKE},
    )
    wanted = app("feeds", raw=None)
    (block,) = shared_places(wanted, neighbours.in_warehouse("two", LAKE))
    assert block.summary.startswith("dataset feeds/raw would share its place with sources/landed")
    assert list(shared_places(wanted, neighbours.in_warehouse("two", ELSEWHERE))) == []
    assert list(shared_places(wanted, neighbours.in_warehouse("two", None))) == []
    unknown = Neighbours(apps=neighbours.apps, owners=neighbours.owners, storages={})
    assert list(shared_places(wanted, unknown.in_warehouse("two", LAKE))) == []
    assert len(list(shared_places(wanted, unknown.in_warehouse("one", None)))) == 1
    assert list(shared_places(app("later", y=None), {**wanted, **neighbours.apps})) == []


def own(
    after: dict[str, App], *, before: dict[str, App] | None = None, yaml: tuple[str, ...] = ()
) -> list[Blocked]:
    """Return the blocks of a deployment beside the app `feeds` of the same project, which it leaves."""
    return list(shared_folders(before or {}, after, beside(owner="sales"), "sales", None, yaml))


@pytest.mark.parametrize("path", ["landing/raw", "Landing/Raw", "landing", "landing/raw/day=1"])
def test_a_folder_of_an_app_that_left_the_yaml_and_is_still_deployed_is_refused(path: str) -> None:
    (block,) = own(app("lands", x=path))
    assert block.summary == (
        f"dataset lands/x would share files with dataset feeds/raw, in {path}:"
        " app feeds is not in the YAML and still deployed"
    )
    assert "`renamed_from: feeds` in app lands" in block.remedy and "--remove-apps" in block.remedy
    assert not block.forcible
    assert own(app("lands", x="landing/rows", y=None)) == []


def test_an_app_that_is_deployed_already_cannot_be_renamed_any_more() -> None:
    (block,) = own(app("lands", x="landing/raw"), before=app("lands", x="landing/old"))
    assert "renamed_from" not in block.remedy and "--remove-apps" in block.remedy
    same = app("lands", x="landing/raw")
    assert own(same, before=same) == []


def test_a_folder_that_the_yaml_moves_between_two_apps_is_deployed_with_both() -> None:
    (block,) = own(app("lands", x="landing/raw"), yaml=("feeds", "lands"))
    assert block.summary.endswith("app feeds has it until app feeds is deployed too")
    assert block.remedy == "deploy both at once: `--app feeds --app lands`, or all apps without `--app`"
