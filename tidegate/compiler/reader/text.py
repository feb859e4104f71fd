"""The decoder: checks of size, encoding and invisible characters.

A mistake that is invisible in an editor is hard to find, so tabs, control characters and all invisible
characters are refused, each with its place.
"""

import re

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.domain.model import At

MAX_FILE_BYTES = 1024 * 1024
"""1 MiB is some 30,000 lines: more than one team can maintain in an app."""

_SUSPECT = re.compile(
    "[\x00-\x08\x09\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\uffff"
    "\U000e0000-\U000e0fff]"
)
"""Refused characters: controls except line ends, unusual spaces, zero-width and bidirectional ones."""

_BYTE_ORDER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_UTF8_MARK = b"\xef\xbb\xbf"


def decode(file: str, data: bytes, max_bytes: int = MAX_FILE_BYTES) -> tuple[str | None, Findings]:
    """Return the text of a file, or None with the reason among the findings."""
    findings = Findings(file)
    start = At(file=file, line=1, column=1)
    if len(data) > max_bytes:
        findings.add(
            "R101",
            start,
            f"a file has at most {max_bytes} bytes ({max_bytes // 1024**2} MiB), got {len(data)}",
            "split the app: one file is one app, and an app is what is deployed together",
        )
        return None, findings
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            findings.add(
                "R102",
                start,
                f"a file must be UTF-8, got {encoding}",
                "save the file as UTF-8",
            )
            return None, findings
    # Some editors write a byte order mark at the very beginning, which every parser accepts.
    body = data.removeprefix(_UTF8_MARK)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        _report_encoding(file, findings, body, error)
        return None, findings
    findings = Findings(file, text)
    for number, match in enumerate(_SUSPECT.finditer(text)):
        if number >= _MAX_REPORTED:
            break
        _report_character(findings, text, match.start())
    return (None if findings.failed else text), findings


def suspect_character(text: str) -> str | None:
    """Return the first character of a text that no file may have; None for none."""
    found = _SUSPECT.search(text)
    return None if found is None else found[0]


def text_of(data: bytes) -> str:
    """Return the text of a file that `decode` accepts."""
    return data.removeprefix(_UTF8_MARK).decode("utf-8")


_MAX_REPORTED = 20
"""A file with one invisible character often has many; twenty places are enough."""


def _place(file: str, text: str, offset: int) -> At:
    """The place of a character; "\\r\\n", "\\n" and "\\r" each end one line."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    return At(file=file, line=before.count("\n") + 1, column=offset_in_line(before) + 1)


def offset_in_line(before: str) -> int:
    """Return the number of characters after the last line end."""
    return len(before) - (before.rfind("\n") + 1)


def _report_encoding(file: str, findings: Findings, body: bytes, error: UnicodeDecodeError) -> None:
    before = body[: error.start].decode("utf-8", errors="replace")
    findings.add(
        "R102",
        _place(file, before, len(before)),
        f"a file must be UTF-8, got the byte 0x{body[error.start]:02x} at byte {error.start + 1}",
        "save the file as UTF-8; in an editor, look for the encoding in the status line",
    )


def _report_character(findings: Findings, text: str, offset: int) -> None:
    character = text[offset]
    place = _place(findings.file, text, offset)
    name = f"U+{ord(character):04X}"
    if character == "\t":
        findings.add(
            "R105",
            place,
            "a tab is not allowed, got U+0009",
            'use spaces; in a string write "\\t"',
        )
    elif character < " " or "\x7f" <= character <= "\x9f":
        findings.add(
            "R103",
            place,
            f"a control character is not allowed, got {name}",
            "delete it, and write the text again",
        )
    else:
        findings.add(
            "R104",
            place,
            f"an invisible character is not allowed, got {name}",
            "delete it, or write a plain space; it often comes with text copied from a web page",
        )
