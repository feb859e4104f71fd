"""What commands print, without the characters that drive a terminal.

Reasons, owners, descriptions, arguments and errors are texts of callers: a control character in one could
delete lines, set a title or reverse the order of what is read. All output of commands goes through
`cleaned_output`, which drops these characters. The codes of colours pass only where `own_colours` says
that the text was cleaned before.
"""

import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from functools import wraps
from typing import Any

import typer

from tidegate.domain.wording import one_line

_CONTROLS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line end, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction
    "\u00ad\u180e\u200b-\u200d\u2028\u2029\u2060-\u2065\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible
)
_CONTROL = re.compile(f"[{_CONTROLS}]")
_COLOUR = r"\x1b\[[0-9;]*m"
_COLOUR_OR_CONTROL = re.compile(f"{_COLOUR}|[{_CONTROLS}]")

_MARKUP = re.compile(r"(?<!\\)\[(?=[a-z#/@])")

_COLOURS = ContextVar("colours", default=False)


def without_controls(text: str) -> str:
    """Return a text without control characters, invisible ones and those that change its direction."""
    return _COLOUR_OR_CONTROL.sub("", text)


def without_line_ends(text: str) -> str:
    """Return a text of callers as one line without controls."""
    return without_controls(one_line(text))


def with_controls_escaped(text: str) -> str:
    """Return the text of a JSON value whose strings have escapes instead: the value is the same."""
    return _CONTROL.sub(lambda found: _escape(found[0]), text)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


class _Cleaned:
    """A text stream that drops characters; it hides `buffer`, so that nothing is written beside it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError("only text can be printed")
        self._stream.write(
            _COLOUR_OR_CONTROL.sub(_colour_only, text) if _COLOURS.get() else without_controls(text)
        )
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self._stream, name)


def below_cleaning(stream: Any) -> Any:
    """Return the stream below, for a bar that moves the cursor and has texts that were cleaned before."""
    return stream._stream if isinstance(stream, _Cleaned) else stream


def _colour_only(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) > 1 else ""


@contextmanager
def cleaned_output() -> Generator[None]:
    """Clean stdout and stderr, if they are not yet."""
    if isinstance(sys.stdout, _Cleaned):
        yield
        return
    out, err = (_Cleaned(typer.get_text_stream(name)) for name in ("stdout", "stderr"))
    with redirect_stdout(out), redirect_stderr(err):
        yield


@contextmanager
def own_colours(*, pass_: bool = True) -> Generator[None]:
    """Let codes of colours pass, or not: all texts of callers in what is printed are cleaned already."""
    before = _COLOURS.set(pass_)
    try:
        yield
    finally:
        _COLOURS.reset(before)


def clean_commands(command: Any) -> None:
    """Let a command, or all commands of a group, print no codes but those that `own_colours` allows.

    The name of a section in their help, `[deploy]`, is not markup of rich.
    """
    for each in getattr(command, "commands", {}).values():
        clean_commands(each)
    for each in (command, *command.params):
        if getattr(each, "help", None):
            each.help = _MARKUP.sub(r"\\[", each.help)
    if command.callback is not None:
        command.callback = _without_colours(command.callback)


def _without_colours(callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    def run(*arguments: Any, **options: Any) -> Any:
        with own_colours(pass_=False):
            return callback(*arguments, **options)

    return run
