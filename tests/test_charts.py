"""The charts of the benchmarks show the figures that are in the tables beside them."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.chart import IMAGES, Bar, Chart, charts, drawn

PAGE = (Path(__file__).parents[1] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"(?<![\d.,])\d[\d,]*(?:\.\d+)?")


@pytest.mark.parametrize("chart", charts(), ids=lambda chart: chart.name)
def test_a_chart_is_drawn_from_its_figures_and_agrees_with_the_page(chart: Chart) -> None:
    file = IMAGES / f"{chart.name}.svg"

    assert file.read_text(encoding="utf-8") == drawn(chart), "`make pages` draws the charts again"
    assert f"(images/{chart.name}.svg)" in PAGE
    on_the_page = {float(number.replace(",", "")) for number in NUMBER.findall(PAGE)}
    assert {bar.value for bar in chart.bars} <= on_the_page


def widths(chart: Chart) -> list[int]:
    rects = ElementTree.fromstring(drawn(chart)).iter("{http://www.w3.org/2000/svg}rect")
    return [int(rect.attrib["width"]) for rect in rects]


def test_bars_are_as_long_as_their_values_or_as_their_logarithms() -> None:
    def of(*values: float) -> list[int]:
        bars = tuple(Bar(label="<x> & y", value=value) for value in values)
        return widths(Chart(name="c", title="t", unit="s", bars=bars))

    whole = 370
    assert of(50, 25, 10) == [whole, whole / 2, whole / 5]
    large, middle, small = of(1_000, 31.6228, 1)
    assert large == whole
    assert middle - small == pytest.approx(large - middle, abs=1)
