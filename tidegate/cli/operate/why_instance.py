"""The parts of `tidegate why` that are about an instance of a task."""

from typing import TYPE_CHECKING

from tidegate.cli.printing import instant

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from tidegate.scheduler.explain.explanation import Explanation
    from tidegate.scheduler.explain.instances.awaited import Awaited
    from tidegate.scheduler.explain.instances.roots import Root
    from tidegate.scheduler.explain.unblock import Missing
    from tidegate.scheduler.model.job import Job

SHOWN_MAX = 8
"""So many upstream instances, and so many roots, are printed; `--format json` has all."""


def missing_besides(explanation: "Explanation") -> "list[Missing]":
    """Return the missing conditions that the roots of an instance do not say already."""
    said = ("task", "time", "report", "upstream", "held") if explanation.roots else ()
    return [each for each in explanation.missing if each.kind not in said]


def add_instance(tree: "Tree", explanation: "Explanation") -> None:
    """Add what an instance waits for: its upstream instances, and where their chains begin."""
    from rich.text import Text

    job = explanation.job
    if job is None or job.instance is None:
        return
    instance = job.instance
    kind = f"{instance.kind} {instance.number}" if instance.number else str(instance.kind)
    tree.add(Text(f"{kind}, business date {instance.business_date}, starts {instant(instance.start)}"))
    if explanation.upstream or explanation.diagnostics:
        _add_upstream(tree.add(Text("upstream instances")), explanation, job)
    _add_roots(tree, explanation.roots)


def _add_upstream(branch: "Tree", explanation: "Explanation", job: "Job") -> None:
    """Add the upstream instances, those first that are not successful, and the edges that are missing."""
    from rich.text import Text

    from tidegate.scheduler.explain.instances.facts import no_edge_help, no_edge_line

    upstream = sorted(explanation.upstream, key=_is_met)
    for each in upstream[:SHOWN_MAX]:
        sign, style = ("met  ", "green") if _is_met(each) else ("unmet", "yellow")
        status = str(each.status).replace("_", " ")
        line = f" {each.task} {each.key} is {status} since {instant(each.since)}, {each.rule}"
        branch.add(Text.assemble((sign, style), line))
    rest = upstream[SHOWN_MAX:]
    if rest:
        branch.add(Text(f"and {len(rest)} more, {sum(map(_is_met, rest))} of them successful"))
    for each in explanation.diagnostics:
        added = branch.add(Text.assemble(("none ", "red"), f" {no_edge_line(each)}"))
        added.add(Text(no_edge_help(each, job)))


def _is_met(each: "Awaited") -> bool:
    return each.status == "successful"


def _add_roots(tree: "Tree", roots: "tuple[Root, ...]") -> None:
    from rich.text import Text

    needed = [root for root in roots if root.kind.needs_a_person]
    if needed:
        title = (
            "this one would unblock it"
            if len(needed) == 1
            else f"all {len(needed)} of these would unblock it"
        )
        branch = tree.add(Text(title))
        for root in needed[:SHOWN_MAX]:
            added = branch.add(_root_line(root))
            added.add(Text(root.command, style="bold"))
            _add_path(added, root)
        _add_rest(branch, needed)
    others = [root for root in roots if not root.kind.needs_a_person]
    if others:
        branch = tree.add(Text("goes on by itself" if not needed else "then goes on by itself"))
        for root in others[:SHOWN_MAX]:
            added = branch.add(_root_line(root))
            if root.command:
                added.add(Text(root.command))
            _add_path(added, root)
        _add_rest(branch, others)


def _add_rest(branch: "Tree", roots: "list[Root]") -> None:
    from rich.text import Text

    if len(roots) > SHOWN_MAX:
        branch.add(Text(f"and {len(roots) - SHOWN_MAX} more"))


def _add_path(branch: "Tree", root: "Root") -> None:
    from rich.text import Text

    if len(root.path) > 1:
        for step in root.path:
            branch.add(Text(f"by {step}", style="dim"))


def _root_line(root: "Root") -> "Text":
    from rich.text import Text

    line = Text(f"{root.task} {root.key}: {root.what}")
    if root.by is not None:
        line.append(f", at {instant(root.by)}")
    elif root.since is not None:
        line.append(f", since {instant(root.since)}")
    return line
