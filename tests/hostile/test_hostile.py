"""Hostile and wrong YAML: every file here is refused at the right place, with a hint.

Each row names a file beside this one and the codes and places that `tidegate lint` must
print, in their order. "..." means any further ones of the same code. What the files
cost is measured by `make bench`.
"""

import re
from pathlib import Path

import pytest
import typer

from tidegate.cli.develop.lint import lint

HERE = Path(__file__).parent
REFUSED = {
    "alias_bomb": "R109 2:4, R109 3:4, R109 3:8, ...",
    "alias_to_itself": "R109 2:9, R109 2:21",
    "at_least_of_nothing": "S108 7:51",
    "billion_members": "S108 9:42, S108 9:59, S108 9:69, ...",
    "binary_tag": "R113 2:14",
    "byte_order_mark_inside": "R104 7:18",
    "calendar_at_the_end_of_time": "V214 7:18, V214 7:30",
    "calendar_of_every_module": "V214 7:18, V214 8:18, V214 9:37",
    "colon_in_plain_value": "R106 10:23",
    "complex_key": "R112 3:5",
    "composites_of_twelve_floors": "L409 7:174",
    "cron_endless_list": "S112 7:40",
    "cron_february_30": "V203 7:40",
    "cron_out_of_range": "V203 7:40",
    "cron_random": "V203 7:40",
    "cron_reboot": "V203 7:40",
    "cron_six_fields": "V203 7:40",
    "cycle_of_three": "L401 4:3",
    "duplicate_key_deep": "R111 9:31",
    "duplicate_schedule": "R111 9:3",
    "duration_of_a_million_days": "V201 7:60",
    "duration_without_unit": "S104 7:60",
    "empty": "R115 1:1",
    "escape_codes": "R103 2:15",
    "gauge_of_any_path": "S106 7:79",
    "integer_of_5000_digits": "R117 9:49",
    "integer_of_5000_hex_digits": "R117 10:15",
    "key_of_a_thousand_letters": "R112 2:1",
    "latin_1": "R102 2:17",
    "line_of_100_kb": "S112 2:14",
    "merge_key": "R109 7:8, R110 9:5, R109 9:9",
    "name_with_a_line_end": "S106 1:6",
    "negative_count": "S107 7:68",
    "nesting_bomb_blocks": "R107 66:129",
    "nesting_bomb_lists": "R107 2:75",
    "nesting_bomb_mappings": "R107 2:264",
    "no_break_space_in_key": "R104 7:16",
    "not_a_number": "R118 10:15, R118 10:24",
    "nul_byte": "R103 2:15",
    "null_sections": "S104 2:10, S104 3:10, S104 4:11",
    "number_keys": "R112 7:3",
    "object_tag": "R113 1:6",
    "only_comments": "R115 1:1",
    "path_out_of_the_project": "V207 3:15",
    "percent_directive": "R114 1:1",
    "prototype_keys": "S101 2:1, S101 3:1",
    "right_to_left_override": "R104 7:59",
    "run_is_shell": "S106 3:15",
    "size_of_a_googol": "V213 7:62",
    "size_with_a_sign": "S106 7:62",
    "surrogate_bytes": "R102 2:14",
    "surrogate_escape": "R106 7:61",
    "tabs_for_indentation": "R105 3:1",
    "template_bomb": "V215 7:73",
    "template_of_ten_thousand": "V215 7:73",
    "template_that_runs": "V215 7:73, V215 7:106",
    "template_without_quotes": "R112 7:74",
    "two_documents": "R114 2:1",
    "unclosed_bracket": "R106 8:3",
    "unclosed_quote": "R106 3:1",
    "unknown_names": "N302 8:14, N301 9:44, N302 9:67",
    "utf_16": "R102 1:1",
    "whole_file_is_a_list": "R115 1:1",
    "whole_file_is_a_string": "R115 1:1",
    "window_from_is_to": "V204 11:37",
    "wrong_types_everywhere": "S104 1:6, S104 2:11, S104 3:11, S104 4:11, S104 5:12, S104 6:11, S104 7:9",
    "zero_width_space": "R104 7:6",
    "zone_offset": "V202 2:11",
    "zone_path": "V202 2:11",
    "zone_that_is_none": "V202 7:60",
}


def test_every_hostile_file_has_its_row() -> None:
    assert {file.stem for file in HERE.glob("*.yaml")} == set(REFUSED)
    assert len(REFUSED) >= 40


@pytest.mark.parametrize(("name", "expected"), REFUSED.items())
def test_a_hostile_file_is_refused_at_its_place(
    name: str, expected: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(HERE)

    with pytest.raises(typer.Exit) as exit_:
        lint([Path(f"{name}.yaml")])

    printed = capsys.readouterr().out
    assert exit_.value.exit_code == 1
    assert "Traceback" not in printed
    heads = re.findall(r"^([^:\n]+):(\d+):(\d+): (?:error|warning)\[(\w+)\]", printed, re.MULTILINE)
    assert {file for file, *_ in heads} == {f"{name}.yaml"}
    found = [f"{code} {line}:{column}" for _, line, column, code in heads]
    wanted = expected.split(", ")
    if wanted[-1] == "...":
        wanted.pop()
        assert found[: len(wanted)] == wanted
        assert {place.split()[0] for place in found} <= {wanted[0].split()[0], "R119"}
    else:
        assert found == wanted
    assert printed.count("\nhint: ") == len(heads)
