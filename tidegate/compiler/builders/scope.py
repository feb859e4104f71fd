"""The scope in which a part of an app is built: the zone, the declared names, the findings.

Every builder of triggers and constraints receives it. Resolving a name reports an unknown one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tidegate.compiler.diagnostics.diagnostic import Findings, Place
from tidegate.compiler.reader.node import ScalarNode
from tidegate.domain.model import At, Calendar, Dataset, Day, OnUpdate, Program
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """The zone and the declared names that a builder may use.

    Attributes:
        timezone: the app's zone.
        week_starts: the first day of the app's weeks.
        datasets, programs, calendars: the parts that were built.
        on_update: what a schedule that says nothing does when it is changed.
        broken: names of datasets, programs and calendars with errors. A reference to one of them is not
            reported as unknown, and is not checked further.
    """

    findings: Findings
    timezone: str
    week_starts: Day = "sun"
    datasets: dict[str, Dataset] = field(default_factory=dict[str, Dataset])
    programs: dict[str, Program] = field(default_factory=dict[str, Program])
    groups: dict[str, str] = field(default_factory=dict[str, str])
    calendars: dict[str, Calendar] = field(default_factory=dict[str, Calendar])
    on_update: OnUpdate = "reset"
    broken: frozenset[str] = frozenset()

    def at(self, place: Place) -> At:
        """Return a place as a value of the model."""
        return self.findings.at(place)

    def dataset(self, name: ScalarNode) -> Dataset | None:
        """Return the dataset of that name; report an unknown name."""
        found = self.datasets.get(str(name.value))
        if found is None and f"datasets.{name.value}" not in self.broken:
            self._unknown("N301", "dataset", name, self.datasets)
        return found

    def program(self, name: ScalarNode) -> Program | None:
        """Return the program of that name; report an unknown name."""
        found = self.programs.get(str(name.value))
        if found is None and f"programs.{name.value}" not in self.broken:
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
        summary = f"a {what} must be declared in `{what}s`, got {shown(name.value)}"
        broken = (b.partition(".")[2] for b in self.broken if b.startswith(f"{what}s."))
        hint = did_you_mean(str(name.value), [*known, *broken], f"{what}s")
        self.findings.add(code, name, summary, hint)
