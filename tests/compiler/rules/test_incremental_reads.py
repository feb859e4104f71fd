"""Reads that ask only for what is new: what the model says of them, and how a slip is worded."""

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.compiler.fingerprint import fingerprint

APP = """\
app: a
datasets:
  landed: {{path: landing/a}}
  out: {{format: iceberg, write: append}}
programs:
  p: {{run: j.p, reads: [{read}], writes: [out]}}
"""


def program(read: str):
    compilation = compile_files({"a.yaml": APP.format(read=read).encode()})
    assert not compilation.diagnostics
    return compilation.apps["a"].app.programs["p"]


@pytest.mark.parametrize(
    ("read", "incremental"),
    [
        ("landed", {}),
        ("{dataset: landed}", {}),
        ("{dataset: landed, incremental: false}", {}),
        ("{dataset: landed, incremental: true}", {"landed": True}),
        ("{dataset: landed, incremental: feeds.landed}", {"landed": "feeds.landed"}),
        ("{dataset: landed, incremental: feed}", {"landed": "feed"}),
    ],
)
def test_what_is_read_and_how(read: str, incremental: dict[str, object]) -> None:
    assert program(read).reads == ("landed",)
    assert program(read).incremental == incremental


def test_how_something_is_read_is_part_of_the_program() -> None:
    whole, new = program("landed"), program("{dataset: landed, incremental: true}")
    assert fingerprint(whole) == fingerprint(program("{dataset: landed}"))
    assert fingerprint(whole) != fingerprint(new)


@pytest.mark.parametrize(
    ("read", "code", "summary", "hint"),
    [
        ("5", "S104", "member 1 of `reads` must be a string or a mapping, got 5", "write for example raw"),
        ("Landed", "S106", "must be lower-case letters, digits and underscores, beginning", 'write "landed"'),
        (
            "{incremental: true}",
            "S103",
            "a dataset to read needs the key `dataset`",
            "add for example dataset",
        ),
        ("{dataset: landed, new: true}", "S101", 'a dataset to read has no such key, got "new"', "keys here"),
        (
            "{dataset: landed, incremental: 1}",
            "S104",
            "must be true or false or a string, got 1",
            "write for",
        ),
        (
            "{dataset: landed, incremental: a-b}",
            "S106",
            "must be true, or the dotted path of a module",
            "write",
        ),
        ("{dataset: landed, incremental: true}, landed", "S108", "names each dataset once", "delete one"),
        ("{dataset: [landed], incremental: true}", "S104", "`dataset` must be a string", "write for example"),
        ("{dataset: lnded, incremental: true}", "N301", 'got "lnded"', 'did you mean "landed"?'),
    ],
)
def test_a_slip(read: str, code: str, summary: str, hint: str) -> None:
    (found,) = compile_files({"a.yaml": APP.format(read=read).encode()}).diagnostics
    assert found.code == code
    assert summary in found.summary
    assert found.hint.startswith(hint)


def test_what_is_wrong_with_a_dataset_is_told_once() -> None:
    text = APP.format(read="{dataset: landed, incremental: true}").replace("path: landing/a", "path: 5")
    assert [d.code for d in compile_files({"a.yaml": text.encode()}).diagnostics] == ["S104"]


def test_weeks_that_begin_on_other_days_do_not_lie_in_one_partition_of_the_output() -> None:
    week = "partitions: {cycle: week, start: 2026-03-02, week_starts: mon}"
    other = week.replace("-02,", "-01,").replace("mon", "sun")
    text = APP.format(read="{dataset: landed, incremental: true}").replace(
        "write: append", f"write: append, {week}"
    )
    alike = text.replace("landing/a", f"landing/a, {week}")
    assert not compile_files({"a.yaml": alike.encode()}).diagnostics
    apart = text.replace("landing/a", f"landing/a, {other}")
    found = compile_files({"a.yaml": apart.encode()}).diagnostics
    assert "L416" in [each.code for each in found]
