"""What failed, in one line: the exception's first line, and its place in the user's own code."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tidegate.dagster_defs.run.failure_text import TEXT_CHARACTERS, failure_text
from tidegate.domain.error import UserError
from tidegate.domain.partition_key import validate_key

HERE = Path(__file__).parent


def caught(act: Callable[[], object]) -> BaseException:
    with pytest.raises(Exception) as found:
        act()
    return found.value


def raising(error: BaseException) -> Callable[[], object]:
    def act() -> object:
        raise error

    return act


def test_the_place_is_the_deepest_one_in_code_of_the_users_own() -> None:
    def program() -> object:
        return validate_key(None, "x")

    line = program.__code__.co_firstlineno + 1

    assert failure_text(caught(program), HERE).endswith(f"(test_failure_text.py:{line})")


@pytest.mark.parametrize(
    ("error", "begins"),
    [
        (ValueError("one\ntwo"), "ValueError: one ("),
        (ValueError("\n  one"), "ValueError: one ("),
        (KeyError(), "KeyError ("),
        (ValueError("x" * 2 * TEXT_CHARACTERS), f"ValueError: {'x' * (TEXT_CHARACTERS - 13)}… ("),
    ],
)
def test_the_first_line(error: Exception, begins: str) -> None:
    assert failure_text(caught(raising(error)), HERE).startswith(begins)


def test_a_failure_outside_the_users_code_has_no_place() -> None:
    assert failure_text(ValueError("x"), HERE) == "ValueError: x"


def test_a_message_that_says_what_to_do_is_left_as_it_is() -> None:
    assert (
        failure_text(caught(raising(UserError("rows too many", "filter"))), HERE) == "rows too many; filter"
    )


def test_a_file_of_another_folder_is_named_whole(tmp_path: Path) -> None:
    assert f"({__file__}:" in failure_text(caught(raising(ValueError("x"))), tmp_path)


def test_a_file_that_is_not_python_is_named(tmp_path: Path) -> None:
    file = tmp_path / "program.py"

    error = caught(lambda: compile("x = (\n", str(file), "exec"))

    assert failure_text(error, tmp_path).endswith("(program.py:1)")
