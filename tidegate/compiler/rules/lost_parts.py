"""The second net: each part of the text is a part of the app, or has an error that says why it is not.

A builder leaves out what is wrong and reports it. One that left out a part without a word would let a
deployment delete that part, so the parts of both are counted once everything is built.
"""

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, Node
from tidegate.domain.model import App
from tidegate.domain.wording import shown

_SINGULAR = {
    "datasets": "dataset",
    "programs": "program",
    "schedules": "schedule",
    "tasks": "task",
    "policies": "policy",
    "calendars": "calendar",
}


def check_lost_parts(root: MappingNode, app: App, examples: int, findings: Findings) -> None:
    """Report the parts of a file that its app does not have, unless an error has been reported."""
    if findings.failed:
        return
    for section, singular in _SINGULAR.items():
        written, built = root.mapping(section), getattr(app, "schedules" if section == "tasks" else section)
        for name, key in written.keys.items() if written is not None else ():
            if name not in built:
                report_lost(f"{singular} {shown(name)}", key, findings)
    written = len(root.items("examples"))
    if examples < written:
        report_lost(f"of {written} examples {written - examples}", root.keys["examples"], findings)


def report_lost(part: str, place: Node, findings: Findings) -> None:
    """Report a part that was left out without an error."""
    findings.add(
        "S199",
        place,
        f"every part of a file becomes a part of the app, got {part} left out without an error",
        "this is a fault of Tidegate: report it with this file, and write the part in another way",
    )
