"""Windows drawn by chance near clock changes, and when the oracle finds them open."""

from datetime import UTC, date, datetime, time, timedelta

from hypothesis import strategies as st

from tests.domain.zones import YEAR, ZONES, changes_in
from tests.doubles.naive_window import naive_inside
from tidegate.domain.model import Calendar, WindowConstraint
from tidegate.domain.time.calendar import DAY_NAMES

OWN = Calendar(name="own", weekend=("fri", "sat"), closed=(date(2026, 3, 8),), open=(date(2026, 10, 24),))


def naive_open(given: WindowConstraint, instant: datetime) -> bool:
    """Whether it is open, by the oracle's reading of the rule."""
    return naive_inside(instant, given.from_, given.to, given.timezone, given.days, given.calendar)


CHANGES = [
    *((zone, change.at) for zone in ZONES for change in changes_in(zone, YEAR)),
    ("Asia/Kolkata", datetime(2026, 3, 8, tzinfo=UTC)),
    ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC)),
    # Put back over midnight at one minute past it: the end of a day comes after the next has begun.
    ("America/St_Johns", datetime(2011, 11, 6, 2, 31, tzinfo=UTC)),
]


@st.composite
def cases(draw: st.DrawFn) -> tuple[WindowConstraint, datetime]:
    """A window, mostly near the hours in which clocks are changed, and a moment around a change."""
    zone, change = draw(st.sampled_from(CHANGES))
    minutes = st.one_of(st.integers(0, 1439), st.integers(0, 18).map(lambda n: n * 15))
    opens, closes = draw(st.lists(minutes, min_size=2, max_size=2, unique=True))
    days = tuple(draw(st.sets(st.sampled_from(DAY_NAMES), max_size=4)))
    given = WindowConstraint(
        from_=time(opens // 60, opens % 60),
        to=time(closes // 60, closes % 60),
        days=tuple(sorted(days, key=DAY_NAMES.index)),
        timezone=zone,
        calendar=draw(st.sampled_from((None, None, OWN))),
    )
    # Seldom on a full minute, as the clock of a scheduler is.
    moment = change + timedelta(
        minutes=draw(st.integers(-1800, 600)), microseconds=draw(st.integers(0, 59_000_000))
    )
    return given, moment
