"""One file on its way through the compiler: read, checked and built, or kept from an earlier time.

bytes ──► nodes, checked against the schema ──► app, warnings and notes of this file alone ──► kept
  └──────────────── what was kept, if all that it depends on is as it was ─────────────────────┘
"""

from collections.abc import Callable, Mapping
from datetime import date
from typing import NamedTuple

import msgspec

from tidegate.compiler.builders.app import build_app, offered_app
from tidegate.compiler.diagnostics.diagnostic import Findings, Found
from tidegate.compiler.expansion.expand import expand, with_placeholders
from tidegate.compiler.fingerprint import content_digest
from tidegate.compiler.kept_file import (
    Cache,
    KeptFile,
    NotedFiles,
    NotedFormats,
    decoded,
    digest_of,
    encoded,
    key_of,
)
from tidegate.compiler.outline import Outline, outline_of
from tidegate.compiler.reader import MappingNode, read
from tidegate.compiler.reader.json_text import JsonText
from tidegate.compiler.reader.text import text_of
from tidegate.compiler.rules.lost_parts import check_lost_parts
from tidegate.compiler.rules.times.daylight_saving import check_day_fields, check_daylight_saving
from tidegate.compiler.schema.check import Broken, check_app
from tidegate.compiler.schema.validator import app_schema
from tidegate.compiler.schema.whole_numbers import whole_numbers
from tidegate.compiler.scope.formats import Formats
from tidegate.compiler.scope.others import OtherApp, Others
from tidegate.compiler.scope.project_files import ReadFile, no_files
from tidegate.domain.model import App, OnUpdate
from tidegate.domain.part_name import app_of


class Inputs(NamedTuple):
    """What the build of a file depends on beside the file; see `compile_files`."""

    on_update: OnUpdate
    formats: Formats
    today: date | None
    variables: Mapping[str, str]
    read_file: ReadFile
    cache: Cache | None


class _Checked(NamedTuple):
    """A file, read and checked against the schema; the root is None if it could not be read."""

    root: MappingNode | None
    findings: Findings
    broken: Broken = frozenset()


class Source:
    """One file.

    Args:
        read: reads and checks it.
        inputs: what its build depends on.
        key: of what was made of it; None for what is not kept.
        kept: what was made of it, with its text.

    Attributes:
        findings: what is wrong with it.
        files: reads the files that it names.
        notes: for the special dates; of a file without errors, once it is built.
    """

    def __init__(
        self,
        read: Callable[[], _Checked],
        inputs: Inputs,
        files: NotedFiles,
        key: bytes | None = None,
        kept: tuple[KeptFile, Findings] | None = None,
    ) -> None:
        self._read, self._inputs, self.files, self._key = read, inputs, files, key
        self._checked: _Checked | None = None
        self._offered: OtherApp | None = None
        self._new: KeptFile | None = None
        self.kept, self.findings = (None, self._now().findings) if kept is None else kept
        self.notes = Found()

    def _now(self) -> _Checked:
        if self._checked is None:
            self._checked = self._read()
        return self._checked

    @property
    def readable(self) -> bool:
        """Whether it has an app, perhaps with errors."""
        return self.kept is not None or self._now().root is not None

    @property
    def broken(self) -> Broken:
        """The paths that have errors."""
        return frozenset() if self.kept is not None else self._now().broken

    @property
    def app_name(self) -> str:
        """The name of its app; "" if it has none."""
        return self.root().text("app") if self.kept is None else self.kept.app.name

    def root(self) -> MappingNode:
        """Return its nodes; it is readable."""
        root = self._now().root
        assert root is not None, "what is readable has nodes"
        return root

    def offered(self) -> OtherApp:
        """Return what it offers to other apps."""
        if self._offered is None:
            offered = self.kept.offered if self.kept is not None and self._has_formats(self.kept) else None
            self._offered = offered or offered_app(self.root(), self.broken, self._inputs.formats)
        return self._offered

    def built(self, others: Others) -> tuple[Outline, App, tuple[App, ...]]:
        """Return its outline, its app, and the other apps of which it names parts."""
        kept, today = self.kept, self._inputs.today
        if kept is not None and self._has_formats(kept) and self._has_others(kept, others):
            named = tuple(other.app for name in kept.named if (other := others.app(name)) is not None)
            if today is not None:
                if kept.today != today:
                    notes = _notes(kept.app, today, self.findings)
                    kept = self._new = msgspec.structs.replace(kept, today=today, notes=notes)
                self.notes = kept.notes
            return kept.outline, kept.app, named
        self.kept, self.findings = None, self._now().findings
        return self._build(others)

    def _build(self, others: Others) -> tuple[Outline, App, tuple[App, ...]]:
        findings, inputs, root = self.findings, self._inputs, self.root()
        others.asked.clear()
        deployed = NotedFormats(inputs.formats.deployed)
        formats = Formats(default=inputs.formats.default, deployed=deployed)
        app, named = build_app(root, findings, self.broken, others, inputs.on_update, formats, self.files)
        outline = outline_of(root)
        if not findings.failed:
            if inputs.today is not None:
                self.notes = _notes(app, inputs.today, findings)
            if self._key is not None and _is_whole(root, app):
                self._new = KeptFile(
                    app=app,
                    digest=content_digest(app),
                    outline=outline,
                    found=findings.found(),
                    readings=self.files.readings(),
                    formats=deployed.asked,
                    others={name: digest_of(others.app(name)) for name in sorted(others.asked)},
                    named=tuple(each.name for each in named),
                    today=inputs.today,
                    notes=self.notes,
                )
        return outline, app, named

    def digest_of(self, app: App) -> str:
        """Return the digest of its app, if it is the app that is kept; else ""."""
        kept = self._new or self.kept
        return kept.digest if kept is not None and kept.app is app else ""

    def keep(self) -> None:
        """Keep what is new of it, once all files are built."""
        new = self._new
        if new is None and self.kept is not None and self.kept.offered is None and self._offered is not None:
            new = self.kept
        if new is None or self._key is None or self._inputs.cache is None:
            return
        content = encoded(msgspec.structs.replace(new, offered=self._offered or new.offered))
        if content is not None:
            self._inputs.cache.put(self._key, content)

    def _has_formats(self, kept: KeptFile) -> bool:
        """Return whether its datasets would get the formats that they have, with the same notes."""
        formats, app = self._inputs.formats, kept.app
        own = {f"{app.name}/{name}": each.format for name, each in app.datasets.items()}
        same = kept.digest and kept.digest == formats.digests.get(app.name)
        known = own if same else formats.deployed
        for name, before in kept.formats.items():
            now = (known if app_of(name) == app.name else formats.deployed).get(name)
            # One that was not deployed got its default; it does so too where it is deployed with that.
            if now != before and not (before is None and now == own.get(name)):
                return False
        return True

    def _has_others(self, kept: KeptFile, others: Others) -> bool:
        return all(digest_of(others.app(name)) == digest for name, digest in kept.others.items())


def file_source(name: str, data: bytes, inputs: Inputs) -> Source:
    """Return a file; what was made of it is used if its own part of what it depends on is as it was."""
    files, cache = NotedFiles(inputs.read_file), inputs.cache

    def read_again() -> _Checked:
        root, findings = read(name, data, inputs.variables)
        return _Checked(None, findings) if root is None else _checked(root, findings, files)

    if cache is None:
        return Source(read_again, inputs, files)
    key, content = _kept_content(cache, name, data, inputs)
    kept = None if content is None else decoded(content)
    if kept is None or not files.same(kept.readings):
        return Source(read_again, inputs, files, key)
    findings = Findings(name, text_of(data))
    findings.take(kept.found)
    return Source(read_again, inputs, files, key, (kept, findings))


def _kept_content(cache: Cache, name: str, data: bytes, inputs: Inputs) -> tuple[bytes, bytes | None]:
    """Return the key of a file, and what is kept; at first what was before any app was deployed."""
    settings = (inputs.on_update, inputs.formats.default)
    fresh = key_of(cache.code, settings, name, data, inputs.variables)
    if not inputs.formats.deployed:
        return fresh, cache.get(fresh)
    key = key_of(cache.code, (*settings, "deployed"), name, data, inputs.variables)
    content = cache.get(key)
    if content is None and (content := cache.get(fresh)) is not None:
        cache.put(key, content)
    return key, content


def document_source(name: str, document: JsonText, inputs: Inputs) -> Source:
    """Return an app that is a value and no file; nothing of it is kept."""

    def read_it() -> _Checked:
        findings = Findings(name, document.text)
        return _checked(with_placeholders(document.root, findings), findings, no_files)

    return Source(read_it, inputs, NotedFiles(inputs.read_file))


def _checked(written: MappingNode, findings: Findings, read_file: ReadFile) -> _Checked:
    root = expand(written, findings, read_file)
    if root is None:
        return _Checked(None, findings)
    root = whole_numbers(root, app_schema())
    return _Checked(root, findings, check_app(root, findings))


def _notes(app: App, today: date, findings: Findings) -> Found:
    """Return the notes for the special dates after a day."""
    alone = Findings(findings.file, findings.text)
    check_daylight_saving(app, today, alone)
    check_day_fields(app, today, alone)
    return alone.found()


def _is_whole(root: MappingNode, app: App) -> bool:
    """Return whether an app has all parts of its file."""
    lost = Findings(root.text("app"))
    check_lost_parts(root, app, len(root.items("examples")), lost)
    return not lost.failed
