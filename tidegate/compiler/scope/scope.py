"""The scope in which a part of an app is built: the zone, the declared names, the findings.

Every builder of triggers and constraints receives it. Resolving a name reports an unknown one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import time
from typing import Any, Literal

from tidegate.compiler.diagnostics.diagnostic import Findings, Place
from tidegate.compiler.reader.node import ScalarNode
from tidegate.compiler.scope.formats import NO_FORMATS, Formats
from tidegate.compiler.scope.others import Others
from tidegate.compiler.scope.project_files import ReadFile, no_files
from tidegate.domain.model import At, Calendar, Dataset, Day, OnUpdate, Program
from tidegate.domain.part_name import SEPARATOR, is_of_other, name_in, whole_name
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown, with_article

_CODES = {"dataset": "N301", "program": "N302"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """The zone and the declared names that a builder may use.

    Attributes:
        timezone: the app's zone.
        day_starts: when the app's days of business dates begin.
        others: the other apps, whose parts may be named too.
        datasets, programs: the parts that were built, and those of other apps that were named.
        read_file: returns the files of the project that the YAML names.
        broken: names of datasets, programs and calendars with errors. A reference to one of them is not
            reported as unknown, and is not checked further.
    """

    findings: Findings
    timezone: str
    week_starts: Day = "sun"
    day_starts: time = time()
    app: str = ""
    others: Others = field(default_factory=Others)
    datasets: dict[str, Dataset] = field(default_factory=dict[str, Dataset])
    programs: dict[str, Program] = field(default_factory=dict[str, Program])
    groups: dict[str, str] = field(default_factory=dict[str, str])
    calendars: dict[str, Calendar] = field(default_factory=dict[str, Calendar])
    formats: Formats = NO_FORMATS
    on_update: OnUpdate = "reset"
    read_file: ReadFile = no_files
    broken: frozenset[str] = frozenset()

    def at(self, place: Place) -> At:
        """Return a place as a value of the model."""
        return self.findings.at(place)

    def dataset(self, name: ScalarNode) -> Dataset | None:
        """Return the dataset of that name; report an unknown name."""
        text = self.name_of(name)
        if is_of_other(text) and text not in self.datasets:
            return self._of_other("dataset", text, name)
        found = self.datasets.get(text)
        if found is None and f"datasets.{text}" not in self.broken:
            self._unknown("N301", "dataset", name, self.datasets)
        return found

    def program(self, name: ScalarNode) -> Program | None:
        """Return the program of that name; report an unknown name."""
        text = self.name_of(name)
        if is_of_other(text) and text not in self.programs:
            return self._of_other("program", text, name)
        found = self.programs.get(text)
        if found is None and f"programs.{text}" not in self.broken:
            self._unknown("N302", "program", name, self.programs)
        return found

    def calendar(self, name: ScalarNode) -> Calendar | None:
        """Return the calendar of that name; report an unknown name."""
        found = self.calendars.get(str(name.value))
        if found is None and f"calendars.{name.value}" not in self.broken:
            self._unknown("N307", "calendar", name, self.calendars)
        return found

    def group(self, name: ScalarNode) -> bool:
        """Return whether a group may be used; report an unknown one. An app without groups may use any."""
        if not self.groups or name.value in self.groups:
            return True
        self._unknown("N303", "group", name, self.groups)
        return False

    def _unknown(self, code: str, what: str, name: ScalarNode, known: Iterable[str]) -> None:
        if self.findings.full:
            return
        if self.findings.repeats(code, name):
            self.findings.add(code, name, f"a {what} must be declared", "")
            return
        summary = f"a {what} must be declared in `{what}s`, got {shown(name.value)}"
        broken = (b.partition(".")[2] for b in self.broken if b.startswith(f"{what}s."))
        own = (each for each in known if not is_of_other(each))
        hint = did_you_mean(str(name.value), [*own, *broken], f"{what}s")
        self.findings.add(code, name, summary, hint)

    def name_of(self, name: ScalarNode) -> str:
        """Return the name of a part as the model has it: "feeds/raw" is `raw` in the app `feeds`."""
        return name_in(self.app, str(name.value))

    def is_own(self, name: ScalarNode, rule: str, hint: str) -> bool:
        """Return whether a name is one of this app; report another app's with the rule."""
        own = not is_of_other(self.name_of(name))
        if not own:
            self.findings.add("N309", name, f"{rule}, got {shown(name.value)}", hint)
        return own

    def _of_other(self, what: Literal["dataset", "program"], text: str, place: ScalarNode) -> Any:
        """Return a part of another app, and keep it for the rules; report an unknown app or part."""
        app, _, name = text.partition(SEPARATOR)
        other = self.others.app(app)
        if other is None:
            self._report_app(what, app, place)
            return None
        found = other.dataset(name) if what == "dataset" else other.program(name)
        if found is None:
            if f"{what}s.{name}" not in other.broken:
                parts = other.app.datasets if what == "dataset" else other.app.programs
                summary = f"app {app} must have the {what} that is named, got {shown(place.value)}"
                hint = did_you_mean(text, [whole_name(app, each) for each in parts], f"{what}s")
                self.findings.add(_CODES[what], place, summary, hint)
            return None
        parts_named: dict[str, Any] = self.datasets if what == "dataset" else self.programs
        parts_named[text] = found
        return found

    def _report_app(self, what: str, app: str, place: ScalarNode) -> None:
        names = [name for name in self.others.names() if name != self.app]
        advice = did_you_mean(app, names, "apps") if names else "write the name without an app for an own one"
        self.findings.add(
            _CODES[what],
            place,
            f"the app of {with_article(what)} must be in these files or in the store, got {shown(app)}",
            f"{advice}; an app of another project is deployed first",
        )
