"""Lint warned of `token_env = "NAME"`, and its hint turned a secret into a name that every error printed.

What is not like the name of a variable is never printed, as it may be the secret itself.
"""

from pathlib import Path

import pytest

from tidegate.alerts.channel import NotSent, secret
from tidegate.project.settings.literal_secrets import literal_secrets
from tidegate.project.yaml_files import compile_paths, read_files

SECRET = "xoxb-17-s3cr3t"
SETTINGS = """\
[alerts.channels]
chat = {{ kind = "webhook", url_env = "CHAT_URL", token_env = "{token}" }}
"""


def warnings(tmp_path: Path, token: str) -> str:
    file = tmp_path / "tidegate.toml"
    file.write_text(SETTINGS.format(token=token))
    return "\n".join(
        f"{each.summary} {each.hint} {each.source}" for each in literal_secrets(file, "tidegate.toml")
    )


def test_the_documented_spelling_is_no_secret(tmp_path: Path) -> None:
    assert warnings(tmp_path, "CHAT_TOKEN") == ""


def test_a_secret_in_place_of_a_name_is_named_without_it(tmp_path: Path) -> None:
    said = warnings(tmp_path, SECRET)
    assert "the name of the variable that has it" in said
    assert "${env" not in said
    assert SECRET not in said


@pytest.mark.parametrize(("name", "shown"), [("CHAT_TOKEN", True), (SECRET, False), ("s3cr3t", False)])
def test_what_does_not_look_like_a_name_is_not_printed(name: str, shown: bool) -> None:
    with pytest.raises(NotSent) as refused:
        secret(name)
    assert (name in str(refused.value)) is shown


def test_lint_prints_nothing_of_what_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "environ").write_text(f"TOKEN={SECRET}")
    schedules = tmp_path / "schedules"
    schedules.mkdir()
    (schedules / "a.yaml").symlink_to(tmp_path / "environ")
    (found,) = compile_paths([schedules]).diagnostics
    assert (found.code, found.severity) == ("R116", "error")
    assert "a link that leads out of its folder" in found.summary
    assert SECRET not in f"{found.summary}{found.hint}{found.source}"


def test_lint_does_not_look_into_a_folder_that_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "private" / "deep").mkdir(parents=True)
    (tmp_path / "private" / "deep" / "a.yaml").write_text(f"TOKEN={SECRET}")
    schedules = tmp_path / "schedules"
    schedules.mkdir()
    (schedules / "more").symlink_to(tmp_path / "private")
    (found,) = compile_paths([schedules], tmp_path).diagnostics
    assert (found.code, found.at.file) == ("R116", "schedules/more")
    assert "a link that leads out of its folder" in found.summary


def test_links_between_folders_of_schedules_are_read_once(tmp_path: Path) -> None:
    schedules = tmp_path / "real" / "schedules"
    (schedules / "one").mkdir(parents=True)
    (schedules / "one" / "a.yaml").write_text("app: a\n")
    (schedules / "two").symlink_to(schedules / "one")
    # The searched folder itself may be a link: the project names it.
    (tmp_path / "schedules").symlink_to(schedules)
    read = read_files([tmp_path / "schedules"], tmp_path)
    assert (len(read.contents), read.diagnostics) == (1, ())
