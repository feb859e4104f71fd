"""The charts of docs/benchmarks.md: bars of the figures that `benchmarks/figures.toml` keeps.

`make pages` draws them again. A chart is an SVG file with its own colours for light and dark; on a chart
whose values differ by more than a hundred the bars have a logarithmic scale, which its title says.
"""

import math
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from tidegate.domain.value import Value

FIGURES = Path(__file__).with_name("figures.toml")
IMAGES = Path(__file__).parents[1] / "docs" / "images"

WIDTH, LABEL_WIDTH, VALUE_WIDTH = 760, 300, 90
BAR, GAP, TOP, BOTTOM = 20, 8, 44, 12
LOGARITHMIC_FROM = 100
"""Ratio of the largest value of a chart to its smallest one."""

SHORTEST = 0.02
"""The part of the width that the smallest value has on a logarithmic scale."""

_STYLE = (
    "text{font:13px sans-serif;fill:#123}.title{font-weight:bold}.bar{fill:#8ab}.ours{fill:#1a6fb0}"
    ".aim{stroke:#b04a1a;stroke-width:2;stroke-dasharray:4 3}"
    "@media(prefers-color-scheme:dark){text{fill:#dde6ee}.bar{fill:#5b6b7a}.ours{fill:#5aa9e6}"
    ".aim{stroke:#e69a5a}}"
)


class Bar(Value, kw_only=True, forbid_unknown_fields=True):
    """A bar: whose figure it is, and the figure in the unit of its chart."""

    label: str
    value: float
    ours: bool = True


class Chart(Value, kw_only=True, forbid_unknown_fields=True):
    """A chart.

    Attributes:
        name: of its file, without ".svg".
        unit: of all values.
        aim: a value at which a line is drawn.
    """

    name: str
    title: str
    unit: str
    bars: tuple[Bar, ...]
    aim: float | None = None


def charts() -> tuple[Chart, ...]:
    """Return the charts of the kept figures."""
    found: dict[str, Any] = tomllib.loads(FIGURES.read_text(encoding="utf-8"))
    return msgspec.convert(found["chart"], tuple[Chart, ...])


def drawn(chart: Chart) -> str:
    """Return the SVG text of a chart."""
    height = TOP + len(chart.bars) * (BAR + GAP) + BOTTOM
    return "\n".join(_lines(chart, height)) + "\n"


def _lines(chart: Chart, height: int) -> Iterator[str]:
    values = [bar.value for bar in chart.bars] + ([] if chart.aim is None else [chart.aim])
    logarithmic = max(values) / min(values) > LOGARITHMIC_FROM
    aim = "" if chart.aim is None else f"; aim {chart.aim:g}"
    title = f"{chart.title} ({chart.unit}{aim}{'; logarithmic scale' if logarithmic else ''})"
    said = "; ".join(f"{bar.label}: {bar.value:g}" for bar in chart.bars)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        f' aria-label="{escape(f"{title}. {said}")}">'
    )
    yield f"<style>{_STYLE}</style>"
    yield f'<text class="title" x="12" y="24">{escape(title)}</text>'
    for number, bar in enumerate(chart.bars):
        top, length = TOP + number * (BAR + GAP), _length(bar.value, values, logarithmic=logarithmic)
        yield f'<text x="{LABEL_WIDTH}" y="{top + 15}" text-anchor="end">{escape(bar.label)}</text>'
        yield (
            f'<rect class="{"ours" if bar.ours else "bar"}" x="{LABEL_WIDTH + 10}" y="{top}"'
            f' width="{length}" height="{BAR}"/>'
        )
        yield f'<text x="{LABEL_WIDTH + 16 + length}" y="{top + 15}">{bar.value:g}</text>'
    if chart.aim is not None:
        at = LABEL_WIDTH + 10 + _length(chart.aim, values, logarithmic=logarithmic)
        yield f'<line class="aim" x1="{at}" y1="{TOP - 6}" x2="{at}" y2="{height - BOTTOM}"/>'
    yield "</svg>"


def _length(value: float, values: list[float], *, logarithmic: bool) -> int:
    """Return the length of a bar: the largest value has the whole width that is left for bars."""
    whole, largest, smallest = WIDTH - LABEL_WIDTH - VALUE_WIDTH, max(values), min(values)
    part = value / largest
    if logarithmic:
        part = SHORTEST + (1 - SHORTEST) * math.log(value / smallest) / math.log(largest / smallest)
    return max(1, round(whole * part))


def write() -> None:
    """Write all charts into docs/images."""
    for chart in charts():
        (IMAGES / f"{chart.name}.svg").write_text(drawn(chart), encoding="utf-8")


if __name__ == "__main__":
    write()
