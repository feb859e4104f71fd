"""Names of folders: nothing collides, and nothing leaves its dataset."""

from pathlib import Path, PurePosixPath

import pytest

from tidegate.domain.model import PartitionScheme, StaticDimension, TimeDimension
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, commit_folder, folder_value
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.iceberg.output import table_name

HOSTILE = ("", "a:b", "a_b", "x/y", "/abs", "..", "_hidden", ".h", "é漢字", "a" * 300, "0x12", "a b", "A%2Fb")


def test_commit_ids_never_share_a_folder_nor_leave_it() -> None:
    folders = [commit_folder(commit) for commit in HOSTILE]
    assert len(set(folders)) == len(HOSTILE)
    for folder in folders:
        assert PurePosixPath(folder).name == folder
        assert not folder.startswith((".", "_"))
        assert len(folder.encode()) <= 80


@pytest.mark.parametrize("plain", ["run-1", "flights.clean_flights.0a1b", "0199-aa"])
def test_a_plain_commit_id_is_its_own_folder(plain: str) -> None:
    assert commit_folder(plain) == plain


def test_partition_folders_are_escaped_and_read_back() -> None:
    ref = DatasetRef(
        app="a",
        name="b",
        scheme=PartitionScheme(
            time=TimeDimension(name="day", cycle="day", start="2013-01-01"),
            static=StaticDimension(name="code", keys=("../x/é=%",)),
        ),
    )
    folder = ref.partition_folder("../x/é=%|2013-12-22")
    assert folder == "code=..%2Fx%2F%C3%A9%3D%25/day=2013-12-22"
    assert [folder_value(part) for part in folder.split("/")] == [("code", "../x/é=%"), ("day", "2013-12-22")]
    assert folder_value("part-0.parquet") is None
    assert folder_value("=x") is None


def test_a_dataset_has_its_place_in_the_warehouse_or_in_the_project() -> None:
    warehouse = Warehouse(path=Path("/w"), project=Path("/p"))
    assert DatasetRef(app="a", name="b").root(warehouse) == "/w/a/b"
    assert DatasetRef(app="a", name="b", path="landing/b").root(warehouse) == "/p/landing/b"
    assert DatasetRef(app="a", name="b").partition_folder("") == ""
    assert DatasetRef(app="a", name="b").id == "a/b"


def test_a_warehouse_may_be_a_url() -> None:
    warehouse = Warehouse(path="hdfs://name:8020/lake/", project="s3a://landing")
    assert DatasetRef(app="a", name="b").root(warehouse) == "hdfs://name:8020/lake/a/b"
    assert DatasetRef(app="a", name="b", path="landing/b/").root(warehouse) == "s3a://landing/landing/b"


@pytest.mark.parametrize(
    ("app", "name", "path"),
    [
        ("a", "..", None), ("..", "b", None), ("a", "x/y", None), ("a", "../b", None), ("a", "/abs", None),
        ("a", "", None), ("", "b", None), (".", "b", None), ("a", "b\0c", None), ("a", "b", "../elsewhere"),
        ("a", "b", "/etc"), ("a", "b", "landing/../../etc"), ("a", "b", ""), ("a", "b", "landing//b"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["/w", "hdfs://name/w"])
def test_no_name_leads_out_of_the_warehouse(place: str, app: str, name: str, path: str | None) -> None:
    with pytest.raises(OutputError, match="tidegate lint"):
        DatasetRef(app=app, name=name, path=path).root(Warehouse(path=place, project=place))


def test_a_renamed_dataset_stays_at_its_place() -> None:
    warehouse = Warehouse(path=Path("/lake"), project=Path("/project"))
    ref = DatasetRef(app="shop", name="sales", stored_as="store/orders")
    assert (ref.id, ref.root(warehouse), table_name(ref)) == (
        "shop/sales",
        "/lake/store/orders",
        ("store", "orders"),
    )
