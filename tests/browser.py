"""The browser of the tests: the one that `TIDEGATE_CHROMIUM` names, Debian's, or the binary of npm's package.

`make test` runs this module before the tests. It installs Debian's `chromium` where it may, else unpacks
the npm package `@sparticuz/chromium` into `.venv`, which needs Node.js; where neither is possible, it fails
and says what to do. So no machine leaves out the tests of a browser silently.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests import tally

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VARIABLE = "TIDEGATE_CHROMIUM"
PACKAGE = "@sparticuz/chromium"
UNPACKED = Path(sys.prefix) / "browser"
"""Where the binary of the npm package is kept, with the libraries that it may lack on a small machine."""

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-gpu-rasterization",
    "--disable-gpu-compositing",
    "--disable-lcd-text",
    "--no-first-run",
    "--disable-background-networking",
)
"""Pages are drawn without an emulated graphics card, which Debian's asks for and which takes more time, and
without the coloured edges of letters on flat screens."""

INSTALL_SECONDS = 600
ANSWER_SECONDS = 60

REMEDY = f"""error: the tests of the board need Chromium, and this machine has none that starts
hint: apt-get install chromium, or install Node.js 20 and npm, or name one: {VARIABLE}=/path/to/chromium"""

WRAPPER = """#!/bin/sh
LD_LIBRARY_PATH="{folder}/al2023/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}" exec "{folder}/chromium" "$@"
"""

UNPACK = f"import('{PACKAGE}').then(({{default: browser}}) => browser.executablePath())"


def find_browser() -> Path | None:
    """Return the browser of this machine: the one that is named, or the first one that starts."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named) if _starts(Path(named)) else None
    installed = shutil.which("chromium")
    places = [*([Path(installed)] if installed else []), UNPACKED / "start"]
    return next(filter(_starts, places), None)


def install_browser() -> Path | None:
    """Return the browser of this machine, after installing one if it has none; None if that is impossible."""
    found = find_browser()
    if found is not None or os.environ.get(VARIABLE):
        return found
    for install in (_install_with_apt, _install_with_npm):
        install()
        found = find_browser()
        if found is not None:
            return found
    return None


FIRST_PAINT = """() => new Promise((known) => {
    new PerformanceObserver((seen) => {
        for (const paint of seen.getEntriesByName("first-paint")) known(paint.startTime);
    }).observe({ type: "paint", buffered: true });
})"""
"""Waits for the first paint of a page, and returns its milliseconds, where a policy forbids `eval`."""


@contextmanager
def launched() -> Iterator["Browser"]:
    """Start the browser. A machine without one fails the test, with the remedy."""
    from playwright.sync_api import sync_playwright

    path = find_browser()
    assert path is not None, REMEDY
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        tally.take_part("browser")
        yield started
        started.close()


def _starts(path: Path) -> bool:
    return path.is_file() and _runs([str(path), "--version"], ANSWER_SECONDS)


def _install_with_apt() -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("installing chromium (once)")
        if _runs(["apt-get", "update", "-qq"]):
            _runs(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"])


def _install_with_npm() -> None:
    if not (shutil.which("npm") and shutil.which("node")):
        return
    print(f"installing {PACKAGE} (once)")
    UNPACKED.mkdir(parents=True, exist_ok=True)
    # The package unpacks to the folder for temporary files, and its libraries only where it finds itself in a
    # function of a cloud.
    environment = {**os.environ, "TMPDIR": str(UNPACKED), "AWS_LAMBDA_JS_RUNTIME": "nodejs20.x"}
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(UNPACKED), PACKAGE]
    if _runs(command) and _runs(["node", "-e", UNPACK], cwd=UNPACKED, env=environment):
        start = UNPACKED / "start"
        start.write_text(WRAPPER.format(folder=UNPACKED))
        start.chmod(0o755)


def _runs(
    command: list[str],
    seconds: float = INSTALL_SECONDS,
    *,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> bool:
    """Whether a command ends well."""
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            timeout=seconds,
            check=False,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def main() -> int:
    """Install the browser of the tests, and return the exit code."""
    if install_browser() is None:
        print(REMEDY, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
