"""Schedules whose cron an older version read in another way, named by the first `plan` and `deploy` after it.

Before Vixie's rule of day fields (rule 9) a day was enough that matched one of `*/10` and `1-5`. What was
deployed then means something else now. A cursor of each app says that it was deployed since.
"""

from collections.abc import Iterator, Mapping

from tidegate.domain.model import App, leaves
from tidegate.domain.time.cron import parse
from tidegate.scheduler.store.protocol import Reader, Transaction

CURSOR = "cron-days:"
"""Before the name of an app that was deployed with crons of this kind since they are read so."""


def reread_crons(reader: Reader, before: Mapping[str, App], after: Mapping[str, App]) -> Iterator[str]:
    """Yield the remaining schedules that a deployment is the first to read in another way."""
    for name in sorted(before.keys() & after.keys()):
        found = [each for each in _other_crons(before[name]) if each[0] in after[name].schedules]
        if found and reader.cursor(CURSOR + name) is None:
            yield from (f'{name}/{schedule}: cron "{cron}"' for schedule, cron in found)


def note_crons_read(transaction: Transaction, after: Mapping[str, App]) -> None:
    """Note the apps whose crons are deployed as they are read now."""
    for name, app in after.items():
        if any(_other_crons(app)) and transaction.cursor(CURSOR + name) is None:
            transaction.set_cursor(CURSOR + name, True)


def _other_crons(app: App) -> Iterator[tuple[str, str]]:
    for name, schedule in sorted(app.schedules.items()):
        for leaf in leaves(schedule.trigger):
            cron = leaf.trigger.wall_clock
            if cron is not None and parse(cron.cron).read_otherwise:
                yield name, cron.cron
