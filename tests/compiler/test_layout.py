"""`tidegate fmt`: comments stay, keys get their order, and the specification never changes."""

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.effort import pick
from tidegate.compiler import layout
from tidegate.compiler.compile import compile_files
from tidegate.compiler.fingerprint import canonical
from tidegate.compiler.layout import BEFORE, PARTS, NotFormatted, format_file, order_at

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "schedules").rglob("*.yaml"))
GOLDEN = sorted((ROOT / "tests/golden").rglob("*.yaml"))

MESSY = """\
# yaml-language-server: $schema=app.schema.json
# The app of sales.

programs:
    # The program that sums.
    sums:
        writes: [sums]


        # What it reads.
        reads:
        - orders   # landed
        run: programs.sums
app: sales
datasets:
    sums: {partitions: {cycle: day, start: 2026-01-01}}   # written
    orders:
        path: landing/orders
        partitions: {cycle: day,
                     start: 2026-01-01}
        description: |
            first line
              deeper line  \n
            # not a comment
schedules:
    daily:
        # As soon as the orders are there.
        trigger:
            all:
            -   partitions: {dataset: orders}
                quiet: 10m
            # and at six
            - cron: "0 6 * * *"
        program: sums
# the end
"""

TIDY = """\
# yaml-language-server: $schema=app.schema.json
# The app of sales.

app: sales
datasets:
  sums: {partitions: {cycle: day, start: 2026-01-01}}   # written
  orders:
    description: |
        first line
          deeper line  \n
        # not a comment
    partitions: {cycle: day,
                 start: 2026-01-01}
    path: landing/orders
programs:
  # The program that sums.
  sums:
    run: programs.sums

    # What it reads.
    reads:
      - orders   # landed
    writes: [sums]
schedules:
  daily:
    program: sums
    # As soon as the orders are there.
    trigger:
      all:
        - partitions: {dataset: orders}
          quiet: 10m
        # and at six
        - cron: "0 6 * * *"
# the end
"""


def formatted(data: bytes) -> str:
    text, diagnostics = format_file("app.yaml", data)
    assert text is not None, diagnostics
    return text


def specification(data: bytes) -> Any:
    """What a file says, without places."""
    apps = compile_files({"app.yaml": data}).apps.values()
    return [canonical(compiled.app, defaults=True) for compiled in apps]


def comments(text: str) -> list[str]:
    return sorted(f" {line}".partition(" #")[2] for line in text.splitlines() if " #" in f" {line}")


def test_a_messy_file_becomes_tidy_with_its_comments_above_what_they_are_about() -> None:
    assert formatted(MESSY.encode()) == TIDY
    assert specification(MESSY.encode()) == specification(TIDY.encode()) != []


@pytest.mark.slow
@pytest.mark.parametrize("file", [*EXAMPLES, *pick(GOLDEN, 40)], ids=lambda file: str(file.relative_to(ROOT)))
def test_every_file_that_is_yaml_keeps_its_specification_and_its_comments(file: Path) -> None:
    data = file.read_bytes()
    text, diagnostics = format_file(str(file), data)
    if text is None:
        assert diagnostics
        return
    assert formatted(text.encode()) == text
    assert specification(text.encode()) == specification(data)
    assert comments(text) == comments(data.decode())


@pytest.mark.slow
@pytest.mark.parametrize("seed", pick(range(40), 6))
def test_random_layouts_of_one_app_keep_its_specification(seed: int) -> None:
    chance = random.Random(seed)
    file = chance.choice(EXAMPLES)
    content = shuffled(yaml.load(file.read_text(), Loader=yaml.BaseLoader), chance)
    messy = yaml.dump(
        content,
        sort_keys=False,
        indent=chance.choice([2, 3, 4, 6, 8]),
        width=chance.choice([30, 80, 200]),
        default_flow_style=chance.choice([False, None]),
    )
    data = commented(messy, chance).encode()

    text = formatted(data)

    assert formatted(text.encode()) == text
    assert specification(text.encode()) == specification(data)
    assert comments(text) == comments(data.decode())


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same content with keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(each, chance) for each in value] if isinstance(value, list) else value


def commented(text: str, chance: random.Random) -> str:
    """The same content with comments above some keys."""
    found: list[str] = []
    for number, line in enumerate(text.splitlines()):
        if line.rstrip().endswith(":") and chance.random() < 0.3:
            found += [""] * chance.randint(0, 3)
            found.append(f"{' ' * (len(line) - len(line.lstrip()))}# comment {number}")
        found.append(line)
    return "\n".join(found)


def test_what_is_not_yaml_is_refused_with_its_diagnostics() -> None:
    text, diagnostics = format_file("app.yaml", b"app: a\napp: b\n")

    assert (text, [each.code for each in diagnostics]) == (None, ["R111"])


def test_content_that_a_layout_would_change_is_refused() -> None:
    with pytest.raises(NotFormatted):
        format_file("app.yaml", b"app: a\ndescription: |+\n  text\n\n\n\ntimezone: UTC\n")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("{app: a}  \n\n\n", "{app: a}\n"),
        ("x:\n-\n    k: 1\n    l: 2\n-   m\n", "x:\n  -\n      k: 1\n      l: 2\n  - m\n"),
        ("x:\n- # why\n  k: 1\n", "x:\n  - # why\n    k: 1\n"),
        ("x:\n  a:\n    - 1\n\n\n\n  b: 2\n\n\n", "x:\n  a:\n    - 1\n\n  b: 2\n"),
    ],
    ids=["in braces", "below its dash", "below a comment", "empty lines"],
)
def test_less_usual_forms_keep_their_content(given: str, expected: str) -> None:
    assert formatted(given.encode()) == expected == formatted(expected.encode())


def test_a_layout_that_does_not_come_to_rest_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "PASSES_MAX", 1)
    with pytest.raises(NotFormatted, match="does not come to rest"):
        format_file("app.yaml", MESSY.encode())
    assert format_file("app.yaml", TIDY.encode()) == (TIDY, ())


def test_the_order_is_that_of_the_schema_but_for_a_few_habits() -> None:
    assert order_at(())[0] == "app"
    for section, kind in PARTS.items():
        order = order_at((section, "name"))
        assert len(set(order)) == len(order) > 2
        if kind in BEFORE:
            key, other = BEFORE[kind]
            assert order.index(key) == order.index(other) - 1
    assert order_at(("schedules", "daily", "trigger")) == ()
