"""Templates with files of rows as a person uses them: lint, plan, diff and fmt, and files from elsewhere."""

from pathlib import Path

import pytest

from tests.tidegate.cli.develop.test_diff import git
from tests.tidegate.project import Project
from tidegate.cli.develop import dev

pytestmark = pytest.mark.slow  # whole commands

SHOPS = """\
app: shops
programs:
  load: {run: programs.make_report}
templates:
  shops:
    for: {rows: shops.csv}
    schedules:
      load_${each.shop}:
        program: load
        trigger: {cron: "0 6 * * *"}
        retries: ${each.retries}
"""
ROWS = "shop,retries,note\nnorth,2,x\nsouth,3,\n"


@pytest.fixture
def shops(project: Project) -> Project:
    project.write("sales", SHOPS)
    (project.folder / "schedules/shops.csv").write_text(ROWS)
    return project


def test_a_change_of_the_rows_shows_in_plan_and_a_saved_plan_is_refused(shops: Project) -> None:
    printed = shops.run("plan", "--no-imports", exit_code=2)
    assert "schedule load_north" in printed and "schedule load_south" in printed
    shops.run("plan", "--no-imports", "--out", "it.plan", exit_code=2)
    rows = shops.folder / "schedules/shops.csv"
    rows.write_text(ROWS.replace("south,3", "south,4"))
    refusal = shops.refused("deploy", "--no-imports", "--plan", "it.plan")
    assert "app shops has changed in the YAML, in its rows" in refusal.message
    rows.write_text(ROWS)
    shops.run("deploy", "--no-imports", "--plan", "it.plan")
    assert shops.run("plan", "--no-imports").startswith("No changes.")
    rows.write_text(ROWS.replace("south,3", "west,4"))
    printed = shops.run("plan", "--no-imports", exit_code=2)
    assert "+ schedule load_west" in printed and "- schedule load_south" in printed
    assert "load_north" not in printed


def test_a_wrong_row_deploys_nothing(shops: Project) -> None:
    (shops.folder / "schedules/shops.csv").write_text(ROWS.replace("south,3", "south,many"))
    result = shops.run("deploy", "--no-imports", exit_code=1)
    assert not (shops.folder / ".tidegate/store.db").exists(), result
    printed = shops.run("lint", exit_code=1)
    assert "schedules/sales.yaml:11:18: error[S104]" in printed
    assert 'got "many" (shops: shop=south, retries=many)' in printed


def test_rows_are_in_the_project_or_beside_the_file(
    shops: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = shops.folder / "schedules/shops.csv"
    rows.rename(shops.folder / "shops.csv")
    assert shops.run("lint") == "ok: 1 app, 2 schedules\n"
    shops.edit("rows: shops.csv", "rows: ../shops.csv")
    assert shops.run("lint") == "ok: 1 app, 2 schedules\n"
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "shops.csv").write_text("secret\n")
    (shops.folder / "link.csv").symlink_to(elsewhere / "shops.csv")
    (shops.folder / "inner.csv").symlink_to(shops.folder / "shops.csv")
    (shops.folder / "folder.csv").mkdir()
    shops.edit("../shops.csv", "inner.csv")
    assert shops.run("lint") == "ok: 1 app, 2 schedules\n"
    named = "inner.csv"
    for wrong, why in (
        ("link.csv", "a link that leads out of the project"),
        ("folder.csv", "not a regular file"),
        (f"../../{elsewhere.name}/shops.csv", "a path that leads out of the project"),
        (str(elsewhere / "shops.csv"), "a path that leads out of the project"),
        ("shops.txt", ".csv, .yaml or .yml"),
        ("nowhere.csv", "no such file"),
        ("tidegate.toml", ".csv, .yaml or .yml"),
    ):
        shops.edit(f"rows: {named}", f"rows: {wrong}")
        named = wrong
        printed = shops.run("lint", exit_code=1)
        assert "schedules/sales.yaml:6:17: error[R132]" in printed and why in printed
        assert "1 error" in printed and "secret" not in printed


def test_revisions_have_their_own_rows(shops: Project) -> None:
    git(shops.folder, "init", "-q")
    git(shops.folder, "add", "-A")
    git(shops.folder, "commit", "-qm", "one")
    (shops.folder / "schedules/shops.csv").write_text(ROWS.replace("south,3", "south,4"))
    printed = shops.run("diff", "HEAD", exit_code=2)
    assert "~ schedule load_south" in printed and "load_north" not in printed
    git(shops.folder, "commit", "-qam", "two")
    assert "load_south" in shops.run("diff", "HEAD~1", "HEAD", exit_code=2)


def test_a_yaml_file_of_rows_is_not_an_app_and_is_not_formatted(shops: Project) -> None:
    shops.edit("shops.csv", "shops.yaml")
    rows = shops.folder / "schedules/shops.yaml"
    rows.write_text("-   {shop: north,   retries: 2}\n")
    assert shops.run("lint") == "ok: 1 app, 1 schedule\n"
    assert shops.run("fmt") == "ok: 1 files are formatted\n"


def test_fmt_orders_the_keys_of_templates_and_defaults(project: Project) -> None:
    project.write(
        "sales",
        """\
defaults:
  schedules:
    owner: feeds
    on_suspend: hold
templates:
  second:
    schedules:
      ${each.b}:
        trigger: {cron: "@daily"}
        # the program
        program: load
    for: {b: [one]}
  first:
    for: {a: [two]}
    datasets: {"${each.a}": {}}
app: sales
""",
    )
    project.run("fmt")
    assert (
        (project.folder / "schedules/sales.yaml").read_text()
        == """\
app: sales
templates:
  second:
    for: {b: [one]}
    schedules:
      ${each.b}:
        # the program
        program: load
        trigger: {cron: "@daily"}
  first:
    for: {a: [two]}
    datasets: {"${each.a}": {}}
defaults:
  schedules:
    on_suspend: hold
    owner: feeds
"""
    )


def test_dev_sees_a_change_of_the_rows(shops: Project) -> None:
    elsewhere = shops.folder / "shops.csv"
    (shops.folder / "schedules/shops.csv").rename(elsewhere)
    seen = dev.changes(shops.folder / "schedules")
    assert not next(seen)
    for count in range(2):
        replaced = Path(f"{elsewhere}.new")
        replaced.write_text(ROWS + f"more,{count},\n")
        replaced.replace(elsewhere)
        assert any(next(seen) for _ in range(10))


def test_render_prints_the_parts_which_lint_clean_and_change_nothing(shops: Project) -> None:
    printed = shops.run("render", "shops")
    assert (
        printed
        == """\
app: shops

programs:
  load: {run: programs.make_report}

schedules:
  load_north: {program: load, trigger: {cron: "0 6 * * *"}, retries: 2}
  load_south: {program: load, trigger: {cron: "0 6 * * *"}, retries: 3}
"""
    )
    shops.run("deploy", "--no-imports")
    shops.write("sales", printed)
    assert shops.run("fmt", "--check") == "ok: 1 files are formatted\n"
    assert shops.run("lint") == "ok: 1 app, 2 schedules\n"
    assert shops.run("plan", "--no-imports").startswith("No changes.")
    assert 'no app "shop"' in shops.refused("render", "shop").message
    shops.write("sales", "app: [")
    shops.run("render", "shops", exit_code=1)
