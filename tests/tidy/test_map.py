"""The map in docs/architecture.md is that of the house, and its rule catches what it must."""

from pathlib import Path

from tests.tidy.house_map import HEADING, LAYERS, MAP_FILE, check_map, rows

ROOT = Path(__file__).parents[2]
ALERTS = "| **alerts** `alert` `alerts` |"


def paths() -> list[str]:
    """Every Python file and folder below `tidegate/`, and every page."""
    product = ROOT / "tidegate"
    files = [
        path.relative_to(product)
        for path in product.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    # Bytecode keeps a folder in place whose files have moved.
    folders = {parent.as_posix() for path in files for parent in path.parents if parent.name}
    found = [*sorted(folders), *(path.as_posix() for path in files if path.suffix == ".py")]
    return [*found, *(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))]


def test_the_map_is_that_of_the_house() -> None:
    text = (ROOT / MAP_FILE).read_text("utf-8")
    assert len(list(rows(text))) >= 20
    lines = [str(finding) for finding in check_map(text, paths())]
    assert not lines, "\n" + "\n".join(lines)


def test_what_moves_and_what_is_missing_is_caught() -> None:
    def found(*cells: str) -> list[str]:
        row = " | ".join((*cells, *("" for _ in range(len(LAYERS) - len(cells)))))
        text = f"# House\n\n{HEADING}\n\n{ALERTS} {row} |\n"
        house = ["domain/alert", "compiler/alerts", "compiler/alerts/old_alerts", "cli/alertness"]
        return [str(each) for each in check_map(text, house)]

    assert found("`domain/alert`", "`compiler/alerts/`") == []
    assert found("`domain/alert`", "`compiler/alert` `compiler/alerts/`") == [
        "docs/architecture.md:5: error: row alerts: compiler/alert does not exist: "
        "write where it is now, or take it out"
    ]
    assert found("`compiler/alerts/`", "`domain/alert`") == [
        "docs/architecture.md:5: error: row alerts: compiler/alerts is of the layer compiler, not of domain",
        "docs/architecture.md:5: error: row alerts: domain/alert is of the layer domain, not of compiler",
    ]
    assert found("", "`compiler/alerts/`") == [
        "docs/architecture.md:5: error: row alerts: "
        "add `domain/alert` to the cell domain, or name it after what it does"
    ]
