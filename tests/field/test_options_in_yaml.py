"""On the command line `NO` became false, `22:30` became 1350, and a date was a traceback.

What a user types after `--set` or `--arg` means what it means in a file: the compiler's reader reads both.
"""

from typing import Any

import pytest

from tidegate.cli.by_hand import yaml_option
from tidegate.cli.operate.schedule_changes import _given
from tidegate.domain.error import WrongUsage


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("NO", "NO"),
        ("yes", "yes"),
        ("off", "off"),
        ("22:30", "22:30"),
        ("1:30:00", "1:30:00"),
        ("1_000", "1_000"),
        ("2026-03-09", "2026-03-09"),
        ("2026-03-09T10:00:00Z", "2026-03-09T10:00:00Z"),
        ("2026-02-30", "2026-02-30"),
        ("007", "007"),
        ("-08", "-08"),
        ("0", 0),
        ("7", 7),
        ("7.5", 7.5),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("", None),
        ('"7"', "7"),
        ("{from: 22:30, codes: [007, NO]}", {"from": "22:30", "codes": ["007", "NO"]}),
        ("${env.HOME}", "${env.HOME}"),
    ],
)
def test_a_value_means_what_it_means_in_a_file(written: str, value: Any) -> None:
    assert yaml_option("--arg", f"x={written}", "NAME=YAML", "x=1") == ("x", value)
    assert _given([f"x={written}"]) == {"x": value}


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("{a", "not YAML"),
        ("!!python/object:os.system x", "tags are not allowed"),
        ("{a: 1, a: 2}", "unique"),
        ("&a [*a]", "not allowed"),
        ("1e400", "finite"),
        (".inf", "finite"),
        ("a\x1b[31m", "control character"),
        ("9" * 30, "18 digits"),
        ("\udcff", "UTF-8"),
    ],
)
def test_what_a_file_may_not_have_is_refused(written: str, says: str) -> None:
    with pytest.raises(WrongUsage, match=says) as refused:
        yaml_option("--arg", f"x={written}", "NAME=YAML", "x=1")
    assert refused.value.message.startswith("the value of --arg x: ")
    assert refused.value.hint


@pytest.mark.parametrize("written", ["", "x", "=1"])
def test_an_option_has_a_name_and_a_value(written: str) -> None:
    with pytest.raises(WrongUsage, match="must be NAME=YAML"):
        yaml_option("--arg", written, "NAME=YAML", "x=1")
