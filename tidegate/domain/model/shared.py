"""What several parts of an app share: places in the YAML, calendars, deadlines, and routes of alerts.

The place of a part of an app in its YAML file, for diagnostics and `tidegate why`. A place is not part of a
fingerprint: moving a schedule down a file is not a change.

Business calendars, as an app declares them and as its crons and windows carry them. `domain.time.calendar`
computes the business days.
"""

from datetime import date, time, timedelta
from typing import Literal

from tidegate.domain.value import Value


class At(Value, kw_only=True, array_like=True):
    """A place in a YAML file. `line` and `column` count from 1.

    Attributes:
        row: of the template from which a part is, as "feeds: city=berlin"; "" for what the file says itself.
    """

    file: str
    line: int
    column: int
    row: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class Calendar(Value, kw_only=True):
    """A business calendar. A schedule carries the calendars it names, so a changed calendar changes it.

    Attributes:
        name: as the app declares it.
        country: ISO 3166 code, or a market such as "NYSE", of the package `holidays`; None for none.
        subdivision: of the country, for example "NY".
        weekend: days of the week that are not business days.
        closed: more holidays, in addition to those of the country.
        open: days that are business days, even on a holiday or weekend.
    """

    name: str
    country: str | None = None
    subdivision: str | None = None
    weekend: tuple[Day, ...] = ("sat", "sun")
    closed: tuple[date, ...] = ()
    open: tuple[date, ...] = ()


class Deadline(Value, kw_only=True):
    """Until when a job has to succeed, or data has landed: a time of the day, or a span.

    Attributes:
        by: a wall time in the zone of the schedule: the first such time at or after the end of the
            job's key, the start time of an instance, or the opening of a job without a key. None: `within`.
            Of a dataset: in the zone of its partitions, at or after the end of each period.
        within: after the trigger was satisfied, or after the start of the run. Of a dataset: after the end
            of each period; without partitions since the last update.
        after: from what `within` counts; a dataset has only the default.
    """

    by: time | None = None
    within: timedelta | None = None
    after: Literal["trigger", "start"] = "trigger"
    at: At | None = None


KINDS = ("failed", "dead_letter", "late", "blocked_commit", "recovered")
"""What an alert is about, as the YAML and the settings spell it (`scheduler.model.records.alert`)."""

Routes = dict[str, tuple[str, ...]]
"""The channels by kind of alert. A kind that is absent is decided further out; an empty list is silence."""


def channels_of(kind: str, *routes: Routes) -> tuple[str, ...]:
    """Return the channels of a kind: of the first routes that name it, the innermost first."""
    return next((each[kind] for each in routes if kind in each), ())
