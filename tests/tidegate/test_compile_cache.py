"""The folder of the cache of compiled files: who is trusted, what is damaged, and what it may cost."""

import os
from pathlib import Path

import pytest

from tests.tidegate.project import Project
from tidegate.project import compile_cache
from tidegate.project.compile_cache import FOLDER, CompileCache

KEY, OTHER = b"k" * 20, b"o" * 20
LARGE = b"content " * (compile_cache.MIN_BYTES // 8)


def written(project: Path, key: bytes = KEY, content: bytes = LARGE) -> Path:
    """Write a content as a command does; return its file."""
    cache = CompileCache(project)
    with cache.writing():
        cache.put(key, content)
    return project / FOLDER / key.hex()


def test_what_was_put_is_found_by_its_key(tmp_path: Path) -> None:
    written(tmp_path)
    assert CompileCache(tmp_path).get(KEY) == LARGE
    assert CompileCache(tmp_path).get(OTHER) is None


def test_it_is_private_and_git_ignores_it(tmp_path: Path) -> None:
    file = written(tmp_path)
    assert [path.stat().st_mode & 0o777 for path in (file.parent.parent, file.parent, file)] == [
        0o700,
        0o700,
        0o600,
    ]
    assert (file.parent / ".gitignore").read_text() == "*\n"


def test_little_is_not_worth_a_folder(tmp_path: Path) -> None:
    written(tmp_path, content=b"little")
    assert not list(tmp_path.iterdir())
    written(tmp_path)
    written(tmp_path, OTHER, b"little")
    assert CompileCache(tmp_path).get(OTHER) == b"little"


@pytest.mark.parametrize("damage", [b"", b"x", None])
def test_a_damaged_file_is_none(tmp_path: Path, damage: bytes | None) -> None:
    file = written(tmp_path)
    content = file.read_bytes()
    file.write_bytes(content[:-1] if damage is None else damage)
    assert CompileCache(tmp_path).get(KEY) is None


def test_the_file_of_another_key_is_none(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.rename(file.with_name(OTHER.hex()))
    assert CompileCache(tmp_path).get(OTHER) is None


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_may_write_is_not_used(tmp_path: Path, mode: int) -> None:
    file = written(tmp_path)
    file.parent.chmod(mode)
    assert CompileCache(tmp_path).get(KEY) is None
    written(tmp_path, OTHER)
    assert not file.with_name(OTHER.hex()).exists()


def test_a_folder_or_file_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    mine = CompileCache(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1 + tmp_path.stat().st_uid)
    assert mine.get(KEY) is None
    assert CompileCache(tmp_path).get(KEY) is None


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    file = written(tmp_path / "one")
    (tmp_path / "two/.tidegate").mkdir(parents=True)
    (tmp_path / "two" / FOLDER).symlink_to(file.parent)
    assert CompileCache(tmp_path / "two").get(KEY) is None
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert CompileCache(tmp_path / "one").get(KEY) is None


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / ".tidegate").write_text("a file")
    written(tmp_path)
    assert CompileCache(tmp_path).get(KEY) is None


def test_the_older_half_goes_when_there_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_cache, "MAX_FILES", 6)
    keys = [bytes([number]) * 20 for number in range(7)]
    for number, key in enumerate(keys):
        os.utime(written(tmp_path, key), (number, number))
    cache = CompileCache(tmp_path)
    assert [key for key in keys if cache.get(key) is None] == keys[:3]


def test_the_code_and_the_time_zones_are_part_of_every_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = CompileCache(tmp_path).code
    assert code == CompileCache(tmp_path).code
    monkeypatch.setattr(compile_cache, "TZPATH", (str(tmp_path),))
    assert code != CompileCache(tmp_path).code


def test_lint_and_plan_say_the_same_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_cache, "MIN_BYTES", 0)
    first = project.run("lint"), project.run("plan", "--no-imports", exit_code=2)
    assert len(list((project.folder / FOLDER).iterdir())) == 2
    monkeypatch.setattr("tidegate.compiler.source.build_app", lambda *_: pytest.fail("built again"))
    assert (project.run("lint"), project.run("plan", "--no-imports", exit_code=2)) == first
