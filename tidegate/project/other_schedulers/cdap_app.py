"""The app of the schedules of CDAP: its parts, what lint refuses as notes, and the scenarios.

JSON ──`cdap`──► schedules ──► YAML ──lint──► one that it refuses is a note, and again
                                 └─► events that satisfy a trigger ──played──► a scenario
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tidegate.compiler.compile import CompiledApp, compile_files
from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.domain.time.cron import parse
from tidegate.domain.time.wall_clock import zone_of
from tidegate.project.other_schedulers.cdap import (
    CdapSchedule,
    Names,
    ProgramKey,
    json_of,
    schedules_of,
    translate_schedule,
)
from tidegate.project.other_schedulers.translated import (
    BEFORE_THE_FIRE,
    FIRST_FIRES_FROM,
    Note,
    NotTranslated,
    Part,
    Translated,
)
from tidegate.scheduler.simulation.moment import Moment
from tidegate.scheduler.simulation.play import play

HEAD = ("CDAP takes the zone of its server for the crons. Write that zone here.",)
PARTITIONS = ("Write the `partitions` of the dataset here, and take `distinct: false` out of the triggers.",)
ZONE = "UTC"

FILE = "app.yaml"
PLAYED = timedelta(days=2)
"""How long a scenario is played until its schedule launches or discards a job."""

MAX_UPDATES = 10
"""Of a dataset in a scenario: one that needs more shows that the schedule waits."""

Listed = list[CdapSchedule | Note]


def read_cdap(data: bytes, app: str) -> Translated:
    """Return the app of CDAP's schedules.

    Raises:
        UserError: it is not JSON.
    """
    names = Names()
    listed: Listed = []
    for found in schedules_of(data):
        try:
            listed.append(translate_schedule(found, names))
        except NotTranslated as error:
            listed.append(Note(f"{_shown(found)} ({error})"))
    listed = _accepted(app, listed, names)
    translated = _app(app, listed, names)
    schedules = [each for each in listed if isinstance(each, CdapSchedule)]
    return replace(translated, examples=tuple(_examples(app, schedules, names)))


def _shown(found: Any) -> str:
    name = found.get("name") if isinstance(found, dict) else None
    return f"schedule {name}: {json_of(found)}" if name else json_of(found)


def _app(app: str, listed: Iterable[CdapSchedule | Note], names: Names) -> Translated:
    """Return the app without scenarios."""
    above: list[str] = []
    schedules: list[Part] = []
    programs: set[str] = set()
    datasets: set[str] = set()
    for each in listed:
        if isinstance(each, Note):
            above.append(each)
            continue
        schedules.append(Part(name=each.name, value=each.value, above=(*above, *each.above)))
        above.clear()
        programs |= each.programs
        datasets |= each.datasets
    jobs = {name: key for key, name in names.programs.items() if name in programs}
    return Translated(
        app=app,
        timezone=ZONE,
        head=HEAD if any(_crons(each.value["trigger"]) for each in schedules) else (),
        parts={
            "datasets": [
                Part(name=name, value={}, above=PARTITIONS)
                for name in names.datasets.values()
                if name in datasets
            ],
            "programs": [_job_of(name, key, names) for name, key in jobs.items()],
            "schedules": schedules,
        },
        below=tuple(above),
    )


def _job_of(name: str, key: ProgramKey, names: Names) -> Part:
    """Return the program of a workflow, with a comment where its job does not say which one it is."""
    namespace, application, workflow = key
    # A job has letters, digits and underscores; the workflows of all pipelines of CDAP have one name.
    job = re.sub(r"\W+", "_", workflow, flags=re.ASCII)
    several = sum(other[2] == workflow for other in names.programs) > 1
    above = (f"the workflow {workflow} of {namespace}/{application or '?'}",)
    return Part(name=name, value={"job": job}, above=above if several or job != workflow else ())


def compiled(translated: Translated) -> tuple[CompiledApp | None, tuple[Diagnostic, ...]]:
    """Return an app as it is compiled, and what is wrong with it."""
    found = compile_files({FILE: translated.text().encode()})
    wrong = tuple(each for each in found.diagnostics if each.severity != "note")
    return found.apps.get(translated.app), wrong


def _accepted(app: str, listed: Listed, names: Names) -> Listed:
    """Return the schedules, those that lint does not like as notes with its message."""
    while True:
        translated = _app(app, listed, names)
        _, wrong = compiled(translated)
        if not wrong:
            return listed
        at = _schedule_at(translated, wrong[0].at.line, listed)
        refused = listed[at]
        assert isinstance(refused, CdapSchedule)
        note = Note(f"schedule {refused.name}: {refused.source} ({wrong[0].code}: {wrong[0].summary})")
        listed = [*listed[:at], note, *listed[at + 1 :]]


def _schedule_at(translated: Translated, line: int, listed: Listed) -> int:
    """Return the index of the schedule at a line of the YAML; the last one before it."""
    lines = translated.text().split("\n")[:line]
    heads = {f"  {each.name}:": at for at, each in enumerate(listed) if isinstance(each, CdapSchedule)}
    begins = lines.index("schedules:") if "schedules:" in lines else 0
    found = [heads[text.replace('"', "")] for text in lines[begins:] if text.replace('"', "") in heads]
    return found[-1] if found else min(heads.values())


# --- scenarios --------------------------------------------------------------------------


def _examples(app: str, schedules: list[CdapSchedule], names: Names) -> Iterator[dict[str, Any]]:
    """Yield a scenario of each schedule: its events, and what the engine does then."""
    for each in schedules:
        start, given = _given(each)
        example: dict[str, Any] = {
            "name": "",
            "start": start.isoformat(),
            **({"given": given} if given else {}),
        }
        found = _played(_app(app, _near(each, schedules), names), each.name, example)
        yield _with_end(example, each.name, found, start)


def _near(schedule: CdapSchedule, schedules: list[CdapSchedule]) -> list[CdapSchedule]:
    """Return the schedules whose runs may change what a schedule does, itself among them."""
    programs = set(schedule.programs)
    while True:
        near = [each for each in schedules if each.programs & programs]
        more = programs.union(*(each.programs for each in near))
        if more == programs:
            return near
        programs = more


def _played(translated: Translated, name: str, example: dict[str, Any]) -> Moment | None:
    """Return the first launch or discard of a schedule; else the last wait, or None."""
    draft = {**example, "name": "draft", "until": f"+{PLAYED.days}d", "expect_only": [name]}
    app, _ = compiled(replace(translated, examples=(draft,)))
    assert app is not None
    moments = [each for each in play(app.scenarios[0], app, judged=False).moments if each.schedule == name]
    ended = next((each for each in moments if each.kind in ("launched", "discarded")), None)
    return ended or next((each for each in reversed(moments) if each.kind == "waiting"), None)


def _with_end(example: dict[str, Any], name: str, found: Moment | None, start: datetime) -> dict[str, Any]:
    at = BEFORE_THE_FIRE if found is None else found.when - start
    shown = f"+{int(at.total_seconds())}s"
    kind = "none" if found is None else found.kind
    expected: dict[str, Any]
    match kind:
        case "launched":
            said, expected = f"{name} starts once its trigger and its constraints hold", {"launch": name}
        case "discarded":
            assert found is not None
            said, expected = f"{name} discards a job", {"discarded": name, "reason": found.reason}
        case "waiting":
            assert found is not None
            said, expected = f"{name} waits", {"waiting": name, "reason": found.reason}
        case _:
            said, expected = f"{name} does nothing", {"none": name}
    return {**example, "name": said, "expect": [{"at": shown, **expected}], "expect_only": [name]}


def _given(schedule: CdapSchedule) -> tuple[datetime, list[dict[str, Any]]]:
    """Return the start of a scenario, and events that satisfy the trigger right after it."""
    trigger = schedule.value["trigger"]
    resumed = [{"at": "+0s", "resume": schedule.name}] if schedule.value["status"] == "suspended" else []
    events = list(_events(trigger))
    at = f"+{BEFORE_THE_FIRE.seconds}s"
    needed = [{"at": at, **event} for event in events]
    crons = [] if events and "any" in trigger else list(_crons(trigger))
    if crons:
        fire = parse(crons[0]).next_fire(FIRST_FIRES_FROM, ZONE)
    else:
        fire = _in_window(schedule.value.get("constraints", ()))
    return fire - BEFORE_THE_FIRE, [*resumed, *needed]


def _in_window(constraints: Iterable[Any]) -> datetime:
    """Return a time of a Monday at which the window opens, if there is one."""
    window = next(
        (each["window"] for each in constraints if isinstance(each, dict) and "window" in each), None
    )
    day = datetime(2026, 1, 5, 12)
    if window is None:
        return day.replace(tzinfo=UTC)
    hour, minute = map(int, window["from"].split(":"))
    return day.replace(hour=hour, minute=minute, tzinfo=zone_of(window["timezone"])).astimezone(UTC)


def _crons(trigger: Any) -> Iterator[str]:
    if isinstance(trigger, Note):
        return
    if "cron" in trigger:
        yield trigger["cron"]
    for member in (*trigger.get("all", ()), *trigger.get("any", ())):
        yield from _crons(member)


def _events(trigger: Any, number: int = 1) -> Iterator[dict[str, Any]]:
    """Yield the given actions that satisfy a trigger, but for its crons: of `any` those of one member."""
    if "partitions" in trigger:
        updates = trigger["partitions"]["count"]
        for _ in range(updates if updates <= MAX_UPDATES else 1):
            yield {"partitions": {"dataset": trigger["partitions"]["dataset"]}}
    elif "run" in trigger:
        program, status = trigger["run"]["program"], trigger["run"]["status"]
        yield {"run": {"program": program, "id": f"{program}_{number}", "status": status}}
    elif "all" in trigger:
        for place, member in enumerate(trigger["all"], start=1):
            yield from _events(member, number * 100 + place)
    elif "any" in trigger:
        members = [each for each in trigger["any"] if not isinstance(each, Note)]
        yield from next((found for each in members if (found := list(_events(each, number)))), [])
