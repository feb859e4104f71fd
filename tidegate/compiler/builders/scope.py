"""The scope in which a part of an app is built: its zone, the names it may use, the findings.

Passed to every builder of triggers and constraints, so that a new kind needs no further
argument. Resolving a name reports it when it is unknown.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tidegate.compiler.diagnostics.diagnostic import Findings, Place
from tidegate.compiler.reader.node import ScalarNode
from tidegate.domain.model import At, Calendar, Dataset, Program
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """What a builder may refer to.

    Attributes:
        timezone: the app's.
        datasets, programs, calendars: those that were built.
        broken: names of datasets, programs and calendars that have errors of their own. They are known,
            and what refers to them cannot be judged.
    """

    findings: Findings
    timezone: str
    datasets: dict[str, Dataset] = field(default_factory=dict[str, Dataset])
    programs: dict[str, Program] = field(default_factory=dict[str, Program])
    groups: dict[str, str] = field(default_factory=dict[str, str])
    calendars: dict[str, Calendar] = field(default_factory=dict[str, Calendar])
    broken: frozenset[str] = frozenset()

    def at(self, place: Place) -> At:
        """A place as the model keeps it."""
        return self.findings.at(place)

    def dataset(self, name: ScalarNode) -> Dataset | None:
        """The dataset of that name; reports it if there is none."""
        found = self.datasets.get(str(name.value))
        if found is None and f"datasets.{name.value}" not in self.broken:
            self._unknown("N301", "dataset", name, self.datasets)
        return found

    def program(self, name: ScalarNode) -> Program | None:
        """The program of that name; reports it if there is none."""
        found = self.programs.get(str(name.value))
        if found is None and f"programs.{name.value}" not in self.broken:
            self._unknown("N302", "program", name, self.programs)
        return found

    def calendar(self, name: ScalarNode) -> Calendar | None:
        """The calendar of that name; reports it if there is none."""
        found = self.calendars.get(str(name.value))
        if found is None and f"calendars.{name.value}" not in self.broken:
            self._unknown("N307", "calendar", name, self.calendars)
        return found

    def group(self, name: ScalarNode) -> bool:
        """Whether a group may be used. An app that declares none may use any."""
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
