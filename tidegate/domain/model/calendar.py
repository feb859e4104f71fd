"""Business calendars, as an app declares them and as its crons and windows carry them.

`domain.time.calendar` computes the business days.
"""

from datetime import date
from typing import Literal

from tidegate.domain.value import Value

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
