"""A test that cannot run is red: without a browser, parameters, a real part in all tests."""

from collections import Counter
from pathlib import Path

import pytest

from tests import browser, tally
from tests.tidy.finding import Source
from tests.tidy.shape import check_shape


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_named_browser_is_the_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = program(tmp_path / "named", "exit 0")
    monkeypatch.setenv(browser.VARIABLE, str(named))
    assert browser.find_browser() == named


@pytest.mark.parametrize("named", ["missing", "broken"])
def test_a_named_browser_that_does_not_start_fails_with_the_remedy(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program(tmp_path / "broken", "exit 127")
    monkeypatch.setenv(browser.VARIABLE, str(tmp_path / named))
    assert browser.main() == 1
    assert "apt-get install chromium" in capsys.readouterr().err
    with pytest.raises(AssertionError, match="this machine has none that starts"), browser.launched():
        pass


def test_without_debian_and_npm_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(browser.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browser, "UNPACKED", tmp_path / "unpacked")
    assert browser.main() == 1
    assert f"{browser.VARIABLE}=/path/to/chromium" in capsys.readouterr().err


def test_the_binary_of_npm_is_unpacked_where_apt_cannot_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """npm and node are doubles here: the first one makes the folder, the second one the binary."""
    monkeypatch.delenv(browser.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(browser, "UNPACKED", tmp_path / "unpacked")
    monkeypatch.setattr(browser, "_install_with_apt", lambda: None)
    program(tmp_path / "chromium", "exit 1")
    program(tmp_path / "npm", "exit 0")
    program(
        tmp_path / "node", 'printf "#!/bin/sh\\nexit 0\\n" >"$TMPDIR/chromium"; chmod +x "$TMPDIR/chromium"'
    )
    assert browser.install_browser() == tmp_path / "unpacked" / "start"


def test_the_closing_line_names_the_parts_that_took_part_and_those_that_did_not() -> None:
    all_parts = Counter({f"real part: {part}": 1 for part in tally.PARTS})
    assert (
        tally.closing_line(all_parts) == "real parts: Spark, Iceberg, PostgreSQL, Dagster, browser, SMTP, S3"
    )
    assert tally.closing_line(all_parts - Counter({"real part: browser": 1})) == (
        "real parts: Spark, Iceberg, PostgreSQL, Dagster, SMTP, S3; without browser"
    )
    assert tally.lines(all_parts) == []


def test_a_list_of_parameters_that_is_empty_fails_a_run(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.getini("empty_parameter_set_mark") == "fail_at_collect"


@pytest.mark.parametrize(
    ("decorator", "caught"),
    [
        ("@pytest.fixture(params=[])", "never runs"),
        ("@pytest.mark.parametrize('x', ())", "never runs"),
        ("@pytest.fixture(params=[p for p in (A,) if p.is_file()])", "depend on the machine (p.is_file)"),
        ("@pytest.mark.parametrize('x', ['a'] if shutil.which('a') else [])", "(shutil.which)"),
    ],
)
def test_parameters_that_another_machine_may_not_have_are_caught(decorator: str, caught: str) -> None:
    text = f'"""What it is."""\n{decorator}\ndef f(x): ...\n'
    [found] = check_shape(Source(path="tests/test_x.py", text=text))
    assert caught in str(found)
