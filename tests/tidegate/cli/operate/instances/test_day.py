"""`tidegate day`: the matrix in the terminal and as a page that needs nothing from elsewhere."""

from html.parser import HTMLParser

import msgspec
import pytest
from markupsafe import escape

from tests.tidegate.tasks import DAY, NINE, TEN, TaskProject, at
from tidegate.cli.operate.instances.day import lines
from tidegate.scheduler.explain.instances.day_matrix import Matrix, Row, Sign, matrix_of, worst
from tidegate.server.board.day import NODES_MAX, day_file, day_view

pytestmark = pytest.mark.slow  # whole commands


def matrix(tasks: TaskProject, *, edges: bool = True) -> Matrix:
    with tasks.store.reading() as reader:
        cells = NODES_MAX if edges else 0
        return matrix_of(reader, reader.schedules(), at("00:00").date(), at("10:30"), edges_of=cells)


def test_letters_say_it_without_colours_in_100_columns(morning: TaskProject) -> None:
    printed = morning.project.run("day", DAY)
    assert printed == (
        "2026-03-10   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
        "shop\n"
        "  feed                               S  S  N                                       \n"
        "  clean                              S  F  N                                       \n"
        "  revenue    N                                                                     \n"
        "  month_end  E                                                                     \n"
        "\n"
        "F failed 1   N not run 3   S successful 3   E empty run 1\n"
        "scheduled times, each task in its own zone: UTC\n"
        "\n"
        f"failed: tidegate why shop/clean {NINE}\n"
    )


def test_long_names_are_cut_and_several_instances_show_the_worst(morning: TaskProject) -> None:
    found = matrix(morning)
    clean = next(row for row in found.rows if row.task == "shop/clean")
    both = (*clean.cells[8], *clean.cells[9])
    assert worst(both) is Sign.FAILED
    row = msgspec.structs.replace(clean, task="shop/" + "n" * 60, cells={8: both})
    shown = [str(line) for line in lines(Matrix(day=found.day, rows=(row,)))]
    assert shown[2].startswith("  nnn") and "…" in shown[2] and "F*" in shown[2]
    assert "a letter with * is the worst of several instances of that hour" in shown
    assert max(map(len, shown)) <= 100


def test_upstream_tasks_are_above_their_consumers(morning: TaskProject) -> None:
    found = morning.project.json("day", DAY, "--app", "shop")
    assert [(task["task"], task["layer"]) for task in found["tasks"]] == [
        ("shop/feed", 0),
        ("shop/clean", 1),
        ("shop/revenue", 2),
        ("shop/month_end", 3),
    ]
    assert found["counts"] == {"failed": 1, "not run": 3, "successful": 3, "empty run": 1}
    revenue = found["tasks"][2]["instances"][0]
    assert [(edge["task"], edge["key"]) for edge in revenue["upstream"]] == [("shop/clean", TEN)]


def test_a_day_without_instances_says_so(tasks: TaskProject) -> None:
    assert tasks.project.run("day", "2026-03-05").startswith("No instances on 2026-03-05")
    refused = tasks.project.refused("day", "10.3.")
    assert refused.message == '"10.3." is not a date; write it as "2026-03-10"'
    assert refused.hint == "a day is written YYYY-MM-DD"
    assert "No task has an instance" in day_file(Matrix(day=at("00:00").date(), rows=()), at("00:00"))


class Elements(HTMLParser):
    """The elements of a page, and those that were left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_needs_nothing_from_elsewhere_and_has_every_cell(morning: TaskProject) -> None:
    printed = morning.project.run("day", DAY, "--html", "day.html")
    assert printed == "day.html: 8 instances of 4 tasks\n"
    text = (morning.project.folder / "day.html").read_text("utf-8")
    assert "http:" not in text and "https:" not in text and "url(" not in text.replace("url(#tip)", "")
    assert "default-src 'none'" in text and "color-scheme: light dark" in text
    elements = Elements(text)
    assert elements.open == []
    assert not {"link", "img", "iframe"} & set(elements.tags)
    assert not [name for name, _ in elements.attributes if name == "src" or name.startswith("on")]
    links = {value for name, value in elements.attributes if name == "href"}
    cells = {"c0-8", "c0-9", "c0-10", "c1-8", "c1-9", "c1-10", "c2-0", "c3-0"}
    assert links == {f"#{each}" for each in cells} | {"#main"}, "it leads nowhere without a server"
    assert (elements.tags.count("section"), elements.tags.count("circle")) == (8, 8)
    view = day_view(matrix(morning))
    assert sorted((arrow.source, arrow.target) for arrow in view.arrows) == [
        ("c0-10", "c1-10"),
        ("c0-8", "c1-8"),
        ("c0-9", "c1-9"),
        ("c1-10", "c2-0"),
    ]
    assert text.count('class="edge"') == 4


def test_what_people_wrote_is_never_markup(morning: TaskProject) -> None:
    evil = '</script><img src=x onerror="alert(1)">&'
    found = matrix(morning)
    rows: list[Row] = []
    for row in found.rows:
        cells = {
            hour: tuple(
                msgspec.structs.replace(entry, job=msgspec.structs.replace(entry.job, detail=evil))
                for entry in cell
            )
            for hour, cell in row.cells.items()
        }
        rows.append(msgspec.structs.replace(row, task=f"shop/{evil}", cells=cells))
    text = day_file(msgspec.structs.replace(found, rows=tuple(rows)), at("10:30"))
    elements = Elements(text)
    assert elements.open == []
    assert "img" not in elements.tags
    assert text.count("</script>") == 1
    assert escape(evil) in text


def test_a_large_graph_is_left_out_and_said_so(morning: TaskProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.server.board.day.NODES_MAX", 3)
    assert "8 nodes are too many to draw" in day_file(matrix(morning), at("10:30"))
    monkeypatch.setattr("tidegate.scheduler.explain.instances.day_matrix.LOOKED_UP_MAX", 0)
    found = matrix(morning)
    assert not found.edges_whole
    monkeypatch.undo()
    assert "Only recorded edges are drawn." in day_file(found, at("10:30"))


def test_a_file_that_cannot_be_written_is_refused(tasks: TaskProject) -> None:
    assert "cannot be written" in tasks.project.refused("day", DAY, "--html", "no/such/day.html").message
