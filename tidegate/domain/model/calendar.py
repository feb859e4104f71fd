"""Business calendars, as an app declares them and as its crons and windows carry them.

Which days are business days is answered by `domain.time.calendar`.
"""

from datetime import date
from typing import Literal

from tidegate.domain.value import Value

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class Calendar(Value, kw_only=True):
    """Which days are business days. A schedule carries the calendars it names, so a changed one is a change.

    Attributes:
        name: as the app declares it.
        country: ISO 3166 code, or a market such as "NYSE", of the package `holidays`; None for none.
        subdivision: of the country, for example "NY".
        weekend: days that are no business days by themselves.
        closed: own holidays, besides those of the country.
        open: days that are business days whatever the country and the weekend say.
    """

    name: str
    country: str | None = None
    subdivision: str | None = None
    weekend: tuple[Day, ...] = ("sat", "sun")
    closed: tuple[date, ...] = ()
    open: tuple[date, ...] = ()
