"""A page of the documentation as a program: its command blocks are run, its output blocks expected.

    ```sh              commands; variables and the working folder last from block to block
    ```sh background   a command that stays at work while the following ones run
    ```text            what the commands before it print, line by line; `…` means any text

Commands whose output is not yet as expected are run again, as a reader would, until it is.
"""

import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```(sh|sh background|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WAIT_SECONDS = 300
POLL_SECONDS = (4.0, 15.0)
"""Before a command is run again, which is seconds of work: each wait is twice as long, up to the second."""
END_SECONDS = 60


class Step(NamedTuple):
    """Commands, and what they print in the end."""

    commands: str
    background: bool
    expected: tuple[str, ...]


def steps(page: str) -> Iterator[Step]:
    """Read the steps of a page."""
    blocks = BLOCK.findall(page)
    for number, (kind, text) in enumerate(blocks):
        if kind == "text":
            continue
        after = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
        expected = tuple(after[1].splitlines()) if after[0] == "text" else ()
        yield Step(commands=text, background=kind.endswith("background"), expected=expected)


def missing(output: str, expected: tuple[str, ...]) -> list[str]:
    """Return the expected lines that an output does not have."""
    text = "\n".join(" ".join(line.split()) for line in output.splitlines())
    return [line for line in expected if not re.search(_pattern(line), text)]


def _pattern(line: str) -> str:
    return ".*".join(re.escape(" ".join(part.split())) for part in line.split("…"))


class Reader:
    """A person who types the commands of a page; leaving the context ends what stays at work."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self._state = folder / "state.sh"
        self._state.write_text(f"cd '{folder}'\n")
        self._log = folder / "background.log"
        self._variables = variables
        self._background: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._background:
            process.send_signal(signal.SIGTERM)
            process.wait(END_SECONDS)

    def follow(self, step: Step) -> str:
        """Run a step until it prints what is expected; returns what it has printed."""
        if step.background:
            self._start(step.commands)
        deadline = time.monotonic() + WAIT_SECONDS
        wait, longest = POLL_SECONDS
        while True:
            output = self._log.read_text() if step.background else self.run(step.commands)
            lacking = missing(output, step.expected)
            if not lacking:
                return output
            assert time.monotonic() < deadline, f"{step.commands}printed no {lacking}, but:\n{output}"
            time.sleep(wait)
            wait = wait if step.background else min(2 * wait, longest)

    def run(self, commands: str) -> str:
        keep = f'export -p >"{self._state}"; printf "cd %q\\n" "$PWD" >>"{self._state}"'
        script = f'set -e; . "{self._state}"\n{commands}\n{keep}'
        found = subprocess.run(
            ["bash", "-c", script],
            env=dict(self._variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert found.returncode == 0, f"{commands}\n{found.stdout}"
        return found.stdout

    def _start(self, command: str) -> None:
        with self._log.open("wb") as log:
            script = f'. "{self._state}"; exec {command}'
            self._background.append(
                subprocess.Popen(
                    ["bash", "-c", script],
                    env=dict(self._variables),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )
