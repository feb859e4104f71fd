"""Variables in YAML: what a value brings into a file is held to the rules of the file."""

import pytest

from tidegate.compiler.compile import compile_files

TEXT = b"app: a\ndescription: from ${env.PLACE}\n"


@pytest.mark.parametrize("value", ["here", "two words"])
def test_a_value_takes_the_place_of_its_reference(value: str) -> None:
    compilation = compile_files({"a.yaml": TEXT}, variables={"PLACE": value})
    assert compilation.ok
    assert compilation.apps["a"].app.description == f"from {value}"


def test_a_value_with_an_invisible_character_is_refused() -> None:
    (found,) = compile_files({"a.yaml": TEXT}, variables={"PLACE": "he\u200bre"}).diagnostics
    assert (found.code, found.at.line) == ("R122", 2)
    assert "U+200B in 'from ${env.PLACE}'" in found.summary


def test_a_value_that_is_far_too_long_is_refused() -> None:
    (found,) = compile_files({"a.yaml": TEXT}, variables={"PLACE": "x" * 100_000}).diagnostics
    assert (found.code, found.hint) == ("R122", "look for the wrong variable")
    assert "at most 100,000 characters, got 100,005" in found.summary
