"""Apps made by chance: schedules of every kind, with limits that are the same wherever they are named.

A program's limit stands in each of its schedules and a group has one `max`, so that "never
exceeded" can be said without asking the engine. What lint refuses is left out.
"""

import json
import random
from typing import Any

from compiler.compile import compile_files
from compiler.model import App

DAYS = {"cycle": "day", "start": "2026-01-01"}

HEAD: dict[str, Any] = {
    "app": "a",
    "timezone": "America/New_York",
    "datasets": {
        "raw": {"partitions": DAYS},
        "other": {"partitions": DAYS},
        "hourly": {"partitions": {"cycle": "hour", "start": "2026-01-01-00:00"}},
        "chunks": {"partitions": {"day": DAYS, "origin": ["EWR", "JFK"]}},
        "plain": {},
        "out": {"partitions": DAYS},
    },
    "programs": {
        "p": {"run": "programs.p", "writes": ["out"]},
        "q": {"run": "programs.q"},
        "r": {"run": "programs.r"},
    },
}

PROGRAM_LIMITS = {"p": 2, "q": 1}
"""Limits of programs; r has none."""

GROUP_LIMITS = {"g": 2, "h": 1}

TRIES_MAX = 40
SHORT = ("1m", "10m", "45m")
LONG = ("45m", "2h", "6h", "1d")


class ChanceApp:
    """An app that can be changed by chance.

    Attributes:
        app: as it is deployed next.
    """

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._specs: dict[str, Any] = {}
        wanted = dice.randint(2, 6)
        for number in range(TRIES_MAX):
            if len(self._specs) < wanted:
                self._try({**self._specs, f"s{number}": self._schedule()})

    def change(self) -> App:
        """Replace, delete or add a schedule; returns the app, unchanged if lint refuses the change."""
        name = self._dice.choice(sorted(self._specs))
        specs = dict(self._specs)
        match self._dice.choice(("replace", "replace", "delete", "add", "moved")):
            case "replace":
                specs[name] = self._schedule()
            case "delete" if len(specs) > 1:
                del specs[name]
            case "add":
                specs["extra"] = self._schedule()
            case _:
                specs[name] = {**specs[name], "description": f"note {self._dice.randint(1, 99)}"}
        self._try(specs)
        return self.app

    def _try(self, specs: dict[str, Any]) -> None:
        compilation = compile_files({"a.yaml": json.dumps({**HEAD, "schedules": specs}).encode()})
        if compilation.ok:
            self._specs = specs
            self.app = compilation.apps["a"].app

    def _chance(self, share: float) -> bool:
        return self._dice.random() < share

    def _schedule(self) -> dict[str, Any]:
        dice = self._dice
        program = dice.choice(("p", "q", "r"))
        spec: dict[str, Any] = {
            "program": program,
            "trigger": self._trigger(2),
            "constraints": self._constraints(program),
            "status": "active" if self._chance(0.85) else "suspended",
            "priority": dice.choice(("low", "normal", "high")),
        }
        if self._chance(0.5):
            spec["for_each"] = dice.choice(("partition", "day", "month"))
        if self._chance(0.5):
            spec["timeout"] = {
                "after": dice.choice(LONG),
                "then": dice.choice(("discard", "run")),
                "from": dice.choice(("satisfied", "first_event")),
            }
        return spec

    def _trigger(self, depth: int) -> dict[str, Any]:
        dice = self._dice
        kind = dice.choice(("partitions", "partitions", "run", "cron", "all", "any"))
        if depth == 0 and kind in ("all", "any"):
            kind = "partitions"
        if kind in ("all", "any"):
            trigger: dict[str, Any] = {kind: [self._trigger(depth - 1) for _ in range(dice.randint(2, 3))]}
        elif kind == "partitions":
            trigger = {"partitions": self._partitions()}
        elif kind == "run":
            status = dice.choice(("started", "succeeded", "failed", "completed"))
            trigger = {"run": {"program": dice.choice("pqr"), "status": status, "count": dice.randint(1, 2)}}
        else:
            pattern = dice.choice(("0 */3 * * *", "30 6 * * *", "*/20 2 * * *", "0 9 * * mon-fri"))
            trigger = {"cron": pattern, "catch_up": dice.choice(("none", "latest", "all"))}
            if self._chance(0.3):
                trigger["catch_up_at_most"] = dice.choice(LONG)
        if self._chance(0.25):
            trigger["wait_at_most"] = dice.choice(LONG)
        return trigger

    def _partitions(self) -> dict[str, Any]:
        dice = self._dice
        dataset = dice.choice(("raw", "raw", "other", "hourly", "chunks", "plain", "out"))
        way = dice.choice(("count", "count", "distinct", "complete", "keys"))
        found: dict[str, Any] = {"dataset": dataset}
        if dataset == "plain" or way == "distinct":
            found |= {"count": dice.randint(1, 3), "distinct": False}
        elif way == "count":
            found["count"] = dice.randint(1, 3)
        elif way == "complete":
            found["complete"] = dice.choice(("day", "week"))
        elif dataset in ("raw", "other", "out"):
            found["keys"] = ["2026-03-02", "2026-03-04"]
        return found

    def _constraints(self, program: str) -> list[dict[str, Any]]:
        dice = self._dice
        found: list[dict[str, Any]] = []
        if program in PROGRAM_LIMITS:
            found.append({"concurrency": {"max": PROGRAM_LIMITS[program], **self._otherwise()}})
        for group, limit in GROUP_LIMITS.items():
            if self._chance(0.3):
                found.append({"concurrency": {"max": limit, "group": group, **self._otherwise()}})
        if self._chance(0.4):
            found.append({"delay": {"for": dice.choice(SHORT), **self._otherwise()}})
        if self._chance(0.3):
            opens, closes = dice.sample(("00:00", "06:00", "09:30", "17:00", "22:00"), 2)
            found.append({"window": {"from": opens, "to": closes, **self._otherwise()}})
        if self._chance(0.3):
            found.append({"since_last_run": {"for": dice.choice(LONG), **self._otherwise()}})
        return found

    def _otherwise(self) -> dict[str, str]:
        return {"otherwise": "skip"} if self._chance(0.2) else {}
