"""docs/recipes: the app of each page compiles without a word, and its scenarios hold on the real engine."""

import re
from pathlib import Path

import pytest

from tidegate.compiler.compile import CompiledApp, compile_files
from tidegate.scheduler.simulation.play import play

ROOT = Path(__file__).parents[3]
RECIPES = sorted((ROOT / "docs/recipes").glob("*.md"))
STORIES = sorted(each.name for each in (ROOT / "schedules/stories").glob("[01][0-9]_*.yaml"))


def app_of(page: Path) -> CompiledApp:
    """The app of a page, about which lint has nothing to say."""
    (block,) = re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    compilation = compile_files({f"{page.stem}.yaml": block.encode()})
    assert [f"{each.at} {each.code} {each.summary}" for each in compilation.diagnostics] == []
    (app,) = compilation.apps.values()
    return app


def read_file(name: str) -> bytes:
    raise AssertionError(f"a recipe deploys no other file, got {name}")


@pytest.mark.parametrize("page", RECIPES, ids=lambda page: page.stem)
def test_the_scenarios_of_a_recipe_hold(page: Path) -> None:
    app = app_of(page)

    assert app.scenarios
    for scenario in app.scenarios:
        performance = play(scenario, app, read_file=read_file)
        assert [(each.expected, each.observed) for each in performance.failures] == [], scenario.name


def test_each_story_has_a_recipe_and_the_index_has_all() -> None:
    index = (ROOT / "docs/recipes.md").read_text("utf-8")
    texts = "\n".join(page.read_text("utf-8") for page in RECIPES)

    assert [story for story in STORIES if story not in texts] == []
    assert len(STORIES) == len(RECIPES) == 11
    assert [page.stem for page in RECIPES if f"(recipes/{page.stem}.md)" not in index] == []
