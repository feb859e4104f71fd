"""Hints for the callers of the server: what they can do instead of a command, over REST or on the board.

The engine refuses with a hint that names commands, for people at a terminal. A caller over REST reads the
call that does the same, and a person in a browser the page or the button.
"""

import re

COMMANDS: dict[str, tuple[str, str]] = {
    "alerts list": ("GET /alerts", "the page Alerts"),
    "alerts test": ("POST /alerts/{id}/retry", "the button Send again"),
    "apps hold": ("POST /apps/{app}/hold", "the button Hold of the app"),
    "apps release": ("POST /apps/{app}/release", "the button Release of the app"),
    "backfill start": ("POST /backfills", "the page Backfills"),
    "backfill status": ("GET /backfills", "the page Backfills"),
    "commits abandon": ("POST /commits/{commit}/abandon", "the button Abandon of the commit"),
    "commits list": ("GET /commits", "the page Commits"),
    "commits release": ("POST /commits/{commit}/release", "the button Release of the commit"),
    "deploy": ("PUT /apps/{app}", "a deployment"),
    "deployments log": ("GET /deployments", "the page Deployments"),
    "instances list": ("GET /instances", "the page Day"),
    "instances show": ("GET /instances/{task}/{scheduled}", "the page of the instance"),
    "instances pause": ("POST /instances/{task}/{scheduled}/pause", "the button Pause"),
    "instances rerun": ("POST /instances/{task}/{scheduled}/rerun", "the button Rerun"),
    "jobs cancel": ("POST /jobs/{id}/cancel", "the button Cancel"),
    "jobs list --dead-letters": ("GET /jobs?reason=F-LAUNCH", "the page Jobs"),
    "jobs list --failed": ("GET /jobs?state=FAILED", "the page Jobs"),
    "jobs list": ("GET /jobs", "the page Jobs"),
    "jobs retry": ("POST /jobs/{id}/retry", "the button Retry"),
    "maintenance explain": ("GET /api/v1/tables/{namespace}/{table}/trigger-status", "the page of the table"),
    "maintenance run": ("POST /api/v1/maintenance/trigger", "the button Run now of the table"),
    "maintenance tables": ("GET /api/v1/maintenance/tables", "the page Maintenance"),
    "overrides list": ("GET /overrides", "the page Overrides"),
    "schedules list": ("GET /apps/{app}/schedules", "the page Schedules"),
    "schedules resume": ("POST /apps/{app}/schedules/{s}/resume", "the button Resume of the schedule"),
    "schedules show": ("GET /apps/{app}/schedules/{s}", "the page of the schedule"),
    "schedules suspend": ("POST /apps/{app}/schedules/{s}/suspend", "the button Suspend of the schedule"),
    "schedules trigger": ("POST /apps/{app}/schedules/{s}/trigger", "the button Trigger of the schedule"),
    "tasks list": ("GET /tasks", "the page Tasks"),
    "why": ("GET /jobs/{id}/why", "the page of the job"),
}
"""By command: the call that does the same, below the namespace, and what does it on the board."""

_COMMAND = re.compile(r"`tidegate ([^`]+)`")
_KEY = re.compile(r"--key (?:'([^']+)'|([^\s`]+))")


def for_call(hint: str) -> str:
    """Return a hint as a caller over REST reads it."""
    hint = _KEY.sub(lambda found: f'`"key": "{found[1] or found[2]}"` in the body', hint)
    return _COMMAND.sub(lambda found: _instead(found, 0), hint)


def for_page(hint: str) -> str:
    """Return a hint as a person in a browser reads it."""
    hint = _KEY.sub(lambda found: f"{found[1] or found[2]}", hint)
    return _COMMAND.sub(lambda found: _instead(found, 1), hint)


def known(command: str) -> str | None:
    """Return the longest known command with which a command line begins; None if there is none."""
    begins = (name for name in COMMANDS if f"{command} ".startswith(f"{name} "))
    return max(begins, key=len, default=None)


def _instead(found: re.Match[str], which: int) -> str:
    name = known(found[1])
    if name is None:
        return found[0]
    instead = COMMANDS[name][which]
    return f"`{instead}`" if which == 0 else instead
