"""Schedules made by chance, as the YAML would spell them: every kind of trigger, constraint and option.

A number means a schedule, always the same one, so a schedule that lint accepts is compiled
once whatever number of histories it appears in.
"""

import random
from typing import Any

SHORT = ("1m", "10m", "45m")
LONG = ("45m", "2h", "6h", "1d")
DATASETS = ("raw", "raw", "other", "hourly", "chunks", "plain", "out")
CRONS = ("0 */3 * * *", "30 6 * * *", "*/20 2 * * *", "0 9 * * mon-fri", "15 2,3 * * *", "@hourly")

PROGRAM_LIMITS = {"p": 2, "q": 1}
"""How many runs of a program may be active; r has no limit."""

GROUP_LIMITS = {"g": 2, "h": 1}
GAUGES = ("cpu", "disk")
GAUGE_MAX = 80

COMPOSITES = ("all", "any", "at_least", "sequence", "sequence")
LEAVES = ("partitions", "partitions", "partitions", "size", "run", "cron", "elapsed")


def chance_schedule(number: int) -> dict[str, Any]:
    """The schedule of a number; lint may refuse it."""
    return _Maker(random.Random(number)).schedule()


class _Maker:
    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def schedule(self) -> dict[str, Any]:
        dice = self._dice
        program = dice.choice(("p", "q", "r"))
        for_each = dice.choice(("partition", "day", "month")) if self._chance(0.4) else None
        spec: dict[str, Any] = {
            "program": program,
            "trigger": self._seldom(for_each) or self._trigger(2, keyed=for_each is not None),
            "constraints": self._constraints(program),
            "status": "active" if self._chance(0.85) else "suspended",
            "priority": dice.choice(("low", "normal", "high")),
            "on_suspend": dice.choice(("discard", "drain", "hold", "backlog")),
            "on_update": dice.choice(("reset", "carry")),
        }
        if for_each is not None:
            spec["for_each"] = for_each
        if self._chance(0.5):
            spec["timeout"] = {
                "after": dice.choice(LONG),
                "then": dice.choice(("discard", "run")),
                "from": dice.choice(("satisfied", "first_event")),
            }
        if self._chance(0.25):
            spec["batching"] = "each"
        elif self._chance(0.3):
            spec["max_batch"] = dice.randint(1, 4)
        if self._chance(0.3):
            spec["args"] = {"limit": dice.randint(1, 9), "what": self._reference()}
        return spec

    def _chance(self, share: float) -> bool:
        return self._dice.random() < share

    def _reference(self) -> str:
        name = self._dice.choice(
            ("trigger.count", "trigger.partitions", "trigger.bytes", "scheduled_time", "key")
        )
        return self._dice.choice((f"{{{{ {name} }}}}", f"for {{{{ {name} }}}}"))

    def _seldom(self, for_each: str | None) -> dict[str, Any] | None:
        """A trigger of a shape that trees made by chance hardly ever have."""
        dice, dataset = self._dice, self._dice.choice(("raw", "other", "out"))
        any_partition = {"partitions": {"dataset": dataset}}
        if for_each is not None:
            # The fires count for each key that waits.
            return {"all": [any_partition, self._cron()]} if self._chance(0.4) else None
        match dice.choice(("twice", "evidence", *("no",) * 5)):
            case "twice":
                # Every event comes to two leaves.
                return {"any": [{"partitions": {"dataset": dataset, "count": 2}}, any_partition]}
            case "evidence":
                # What was first stays, although it is too old to count again.
                first = any_partition | {"collect_within": dice.choice(SHORT)}
                second = {"partitions": {"dataset": "plain", "count": 3, "distinct": False}}
                return {"sequence": [first, second], "wait_at_most": dice.choice(LONG)}
            case _:
                return None

    def _trigger(self, depth: int, *, keyed: bool) -> dict[str, Any]:
        dice = self._dice
        kind = dice.choice(LEAVES + (COMPOSITES if depth else ()))
        if keyed and kind in ("run", "cron", "elapsed"):
            kind = "partitions"
        match kind:
            case "all" | "any" | "sequence":
                trigger: dict[str, Any] = {kind: self._members(depth, keyed)}
            case "at_least":
                trigger = {kind: {"n": dice.randint(1, 2), "of": self._members(depth, keyed)}}
            case "partitions":
                trigger = {"partitions": self._partitions()}
            case "size":
                trigger = {"size": self._size()}
            case "run":
                status = dice.choice(("started", "succeeded", "failed", "cancelled", "completed"))
                trigger = {
                    "run": {"program": dice.choice("pqr"), "status": status, "count": dice.randint(1, 2)}
                }
            case "elapsed":
                since: dict[str, Any] = {"since": "last_run"}
                if self._chance(0.5):
                    since = {"since": "last_event", "dataset": dice.choice(DATASETS)}
                trigger = {"elapsed": {"for": dice.choice(LONG), **since}}
            case _:
                trigger = self._cron()
        return trigger | self._options()

    def _members(self, depth: int, keyed: bool) -> list[dict[str, Any]]:
        return [self._trigger(depth - 1, keyed=keyed) for _ in range(self._dice.randint(2, 3))]

    def _options(self) -> dict[str, str]:
        dice = self._dice
        options: dict[str, str] = {}
        if self._chance(0.25):
            options["wait_at_most"] = dice.choice(LONG)
        if self._chance(0.15):
            options["quiet"] = dice.choice(SHORT)
            if self._chance(0.5):
                options["quiet_at_most"] = dice.choice(("2h", "6h"))
        if self._chance(0.15):
            options["collect_within"] = dice.choice(LONG)
        return options

    def _cron(self) -> dict[str, Any]:
        dice = self._dice
        trigger: dict[str, Any] = {
            "cron": dice.choice(CRONS),
            "catch_up": dice.choice(("none", "latest", "all")),
        }
        if self._chance(0.3):
            trigger["catch_up_at_most"] = dice.choice(LONG)
        if self._chance(0.3):
            trigger["calendar"] = "office"
            if trigger["cron"] == "30 6 * * *":
                trigger["nth_business_day"] = dice.choice((1, 5, -1))
        return trigger

    def _partitions(self) -> dict[str, Any]:
        dice = self._dice
        dataset = dice.choice(DATASETS)
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

    def _size(self) -> dict[str, Any]:
        dice = self._dice
        found: dict[str, Any] = {"dataset": dice.choice(DATASETS)}
        found |= dice.choice(({"bytes": "10MB"}, {"bytes": "50MB"}, {"rows": 1000}))
        if self._chance(0.3):
            found["distinct"] = False
        return found

    def _constraints(self, program: str) -> list[dict[str, Any]]:
        dice = self._dice
        found: list[dict[str, Any]] = []
        if program in PROGRAM_LIMITS:
            found.append({"concurrency": {"max": PROGRAM_LIMITS[program], **self._otherwise()}})
        for group, limit in GROUP_LIMITS.items():
            if self._chance(0.25):
                found.append({"concurrency": {"max": limit, "group": group, **self._otherwise()}})
        if self._chance(0.3):
            found.append({"delay": {"for": dice.choice(SHORT), **self._otherwise()}})
        if self._chance(0.25):
            opens, closes = dice.sample(("00:00", "02:30", "06:00", "09:30", "17:00", "22:00"), 2)
            window: dict[str, Any] = {"from": opens, "to": closes, **self._otherwise()}
            if self._chance(0.3):
                window["days"] = ["mon", "fri", "sun"]
            found.append({"window": window})
        if self._chance(0.2):
            measured = {"measured_from": "start"} if self._chance(0.5) else {}
            found.append({"since_last_run": {"for": dice.choice(LONG), **measured, **self._otherwise()}})
        if self._chance(0.25):
            rate = {"max": dice.randint(1, 3), "per": dice.choice(("30m", "2h"))}
            found.append({"rate": {**rate, **self._otherwise()}})
        if self._chance(0.15):
            found.append({"load": {"max_active_runs": dice.randint(2, 4), **self._otherwise()}})
        if self._chance(0.15):
            gauge = {"gauge": dice.choice(GAUGES), "max": GAUGE_MAX}
            found.append({"load": {**gauge, **self._otherwise()}})
        return found

    def _otherwise(self) -> dict[str, str]:
        return {"otherwise": "skip"} if self._chance(0.15) else {}
