"""What was deployed, as the YAML that was written: the text that the store keeps.

What was renamed since has no text in the store. A schedule is spelled from the model then: that means the
same, and defaults that were written out are left out. An app has to be deployed once more.
"""

from typing import Any, cast

from tidegate.compiler.fingerprint import canonical
from tidegate.compiler.plan.forms import task_form
from tidegate.compiler.render.trigger_yaml import OF_THE_APP, written_trigger
from tidegate.domain.model import App, Schedule

_NOT_WRITTEN = ("name", "timezone", "trigger", "constraints", "output_from", "output_partition")


def written_schedule(spec: Schedule) -> dict[str, Any]:
    """Return a schedule or task as builtin values of its YAML."""
    return spec.written or _spelled(spec)


def written_app(app: App) -> dict[str, Any] | None:
    """Return an app with its schedules and tasks as builtin values of its YAML; None without its text."""
    if not app.written:
        return None
    schedules = {name: written_schedule(s) for name, s in app.schedules.items() if s.task is None}
    tasks = {name: written_schedule(s) for name, s in app.schedules.items() if s.task is not None}
    return {
        **app.written,
        **({"schedules": schedules} if schedules else {}),
        **({"tasks": tasks} if tasks else {}),
    }


def _spelled(spec: Schedule) -> dict[str, Any]:
    if spec.task is not None:
        form = {name: value for name, value in task_form(spec).items() if name not in OF_THE_APP}
        return {**form, **_deadline(spec)}
    form = canonical(spec)
    constraints = [_constraint(each) for each in form.get("constraints", ())]
    output = spec.output_partition
    return {
        "program": spec.program,
        "trigger": written_trigger(form["trigger"]),
        **({"constraints": constraints} if constraints else {}),
        **{key: value for key, value in form.items() if key not in (*_NOT_WRITTEN, "program")},
        **_deadline(spec),
        "batching": spec.batching,
        "output_partition": output if spec.output_from is None else _named_output(spec.output_from),
        "status": spec.status,
    }


def _deadline(spec: Schedule) -> dict[str, str]:
    """Spell a time of the day as it is written; a span is a mapping, as in the model."""
    by = spec.deadline.by if spec.deadline is not None else None
    return {} if by is None else {"deadline": f"{by:%H:%M}"}


def _named_output(dataset: str) -> dict[str, str]:
    return {"from": f"trigger.run.outputs.{dataset}"}


def _constraint(form: dict[str, Any]) -> dict[str, Any]:
    members = {key: value for key, value in form.items() if key != "kind"}
    if isinstance(members.get("calendar"), dict):
        members["calendar"] = cast("dict[str, Any]", members["calendar"])["name"]
    return {str(form["kind"]): members}
