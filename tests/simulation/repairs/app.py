"""Apps of chance whose results are functions of their inputs: joins, periods, and what depends on them.

    a, b, c (days) ──► joined (day) ──► margin (day), with c
                             └────────► period (week or month)
    h (hours) ───────► sums (day)

Each has a key, some have `repair`, and what they wait for is drawn: a wait of the trigger, one of a member, a
timeout from the first event, or nothing.
"""

import json
import random
from typing import Any, Literal

from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.domain.partition_key import enclosing_key

DAYS = {"cycle": "day", "start": "2026-01-01"}
PERIODS = {
    "week": {"cycle": "week", "start": "2025-12-28"},
    "month": {"cycle": "month", "start": "2026-01-01"},
}
WEEK = tuple(f"2026-02-{day:02}" for day in range(1, 8))
MONTH = tuple(f"2026-02-{day:02}" for day in range(1, 29))
"""A whole week, from Sunday, and a whole month; both are over when a history begins."""

OF_HOURS = WEEK[:1]
HOURS = tuple(f"{day}-{hour:02}:00" for day in OF_HOURS for hour in range(24))

READS = {
    "joined": ("a", "b"),
    "sums": ("h",),
    "margin": ("joined", "c"),
    "period": ("joined",),
}
"""What the result of each schedule is a function of; each schedule has the name of its output."""

WAITS = ("20m", "1h", "3h")
Waiting = Literal["own", "member", "nested", "timeout", "none"]


class ChanceRepairs:
    """An app that can be changed by chance.

    Attributes:
        app: as it is deployed next.
        days: the days of its joins: those of the period.
    """

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self.cycle = dice.choice(("week",) * 7 + ("month",))
        self.days = WEEK if self.cycle == "week" else MONTH
        self._with_c = dice.random() < 0.3
        self._schedules = {name: self._schedule(name) for name in READS}
        self._schedules["pooled"] = {"program": "pooled", "trigger": _of("joined"), "status": "active"}
        self.app = self._compiled()

    def inputs(self, name: str) -> tuple[str, ...]:
        """Return the datasets that the result of a schedule is a function of."""
        return (*READS[name], "c") if name == "joined" and self._with_c else READS[name]

    def parts(self, name: str, key: str) -> dict[str, tuple[str, ...]]:
        """Return all partitions that a key of a schedule is made of, by dataset."""
        if name == "sums":
            return {"h": tuple(hour for hour in HOURS if hour.startswith(key))}
        keys = self.days if name == "period" else (key,)
        return dict.fromkeys(self.inputs(name), keys)

    def keys(self, name: str) -> tuple[str, ...]:
        """Return the keys of a schedule."""
        if name == "period":
            scheme = self.app.datasets["joined"].partitions
            assert scheme is not None
            return (enclosing_key(scheme, self.days[0], self.cycle),)
        return OF_HOURS if name == "sums" else self.days

    def key_of(self, name: str, part: tuple[str, str]) -> str:
        """Return the key of a schedule to which a partition belongs."""
        return next(key for key in self.keys(name) if part[1] in self.parts(name, key).get(part[0], ()))

    def change(self) -> None:
        """Change the repair of a schedule, which resets nothing, or another part, which resets or carries."""
        schedule = self._schedules[self._dice.choice(sorted(READS))]
        if "repair" in schedule and self._dice.random() < 0.5:
            schedule["repair"] = self._repair()
        elif "all" in schedule["trigger"] and self._dice.random() < 0.5:
            schedule["trigger"] = {**schedule["trigger"], "all": schedule["trigger"]["all"][::-1]}
        else:
            schedule["priority"] = self._dice.choice(("high", "low"))
        self.app = self._compiled()

    def judged_by(self, name: str) -> dict[str, Any]:
        """Return what a schedule says, without its `repair`."""
        return {word: value for word, value in self._schedules[name].items() if word != "repair"}

    # --- what is drawn ---

    def _schedule(self, name: str) -> dict[str, Any]:
        dice = self._dice
        waiting: Waiting = dice.choice(("own", "own", "member", "timeout", "none"))
        if waiting == "member" and name == "joined" and dice.random() < 0.5:
            waiting = "nested"
        schedule: dict[str, Any] = {
            "program": name,
            "for_each": self.cycle if name == "period" else "day",
            "trigger": self._trigger(name, waiting),
            "status": "active",
            "on_update": dice.choice(("reset", "carry")),
        }
        if waiting == "timeout":
            schedule["timeout"] = {"after": dice.choice(WAITS), "then": "run", "from": "first_event"}
        if dice.random() < (0.4 if waiting == "none" else 0.9):
            schedule["repair"] = self._repair()
        if dice.random() < 0.4:
            schedule["retries"] = {"max": dice.choice((1, 2)), "wait": dice.choice(("1m", "2h"))}
        return schedule

    def _trigger(self, name: str, waiting: Waiting) -> dict[str, Any]:
        dice = self._dice
        wait = dice.choice(WAITS)
        if name in ("sums", "period"):
            trigger = _of(READS[name][0], complete="day" if name == "sums" else self.cycle)
            if waiting in ("own", "member"):
                trigger |= {"wait_at_most": wait}
                if dice.random() < 0.2:
                    trigger["collect_within"] = "8h"
            return trigger
        members = [_of(dataset) for dataset in self.inputs(name)]
        dice.shuffle(members)
        if waiting == "member":
            members[-1]["wait_at_most"] = wait
        if waiting == "nested" and len(members) > 2:
            return {"all": [{"all": members[:2], "wait_at_most": wait}, members[2]]}
        trigger = {"all": members}
        if waiting in ("own", "nested"):
            trigger["wait_at_most"] = wait
            if dice.random() < 0.2:
                trigger["quiet"] = "10m"
        return trigger

    def _repair(self) -> Any:
        dice = self._dice
        if dice.random() < 0.3:
            return True
        return {
            "after": dice.choice(("10m", "30m", "2h")),
            "at_most": dice.choice((1, 2, 3, 10, 10)),
            "within": dice.choice(("1d", "2d", "7d", "7d")),
        }

    def _compiled(self) -> App:
        days = {"partitions": DAYS}
        text = {
            "app": "a",
            "timezone": "UTC",
            "datasets": {
                **dict.fromkeys(("a", "b", "c", "joined", "sums", "margin"), days),
                "h": {"partitions": {"cycle": "hour", "start": "2026-01-01-00:00"}},
                "period": {"partitions": PERIODS[self.cycle]},
                "fed": {},
            },
            "programs": {
                **{
                    name: {"run": f"programs.{name}", "reads": list(self.inputs(name)), "writes": [name]}
                    for name in READS
                },
                "pooled": {"run": "programs.pooled", "reads": ["joined"], "writes": ["fed"]},
            },
            "schedules": self._schedules,
        }
        compilation = compile_files({"a.yaml": json.dumps(text).encode()})
        assert compilation.ok, [str(each) for each in compilation.diagnostics]
        return compilation.apps["a"].app


def _of(dataset: str, **given: str) -> dict[str, Any]:
    return {"partitions": {"dataset": dataset, **given}}
