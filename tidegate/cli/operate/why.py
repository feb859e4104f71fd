"""`tidegate why`: the unmet conditions of a schedule, job or operation, as a tree, and its next possible run.

It prints the result of `scheduler.explain.why` and decides nothing. Every part shows its position
in the YAML. With `--at` it explains a past moment from the store that `scheduler.explain.past`
reconstructs from the journal.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import (
    NUMBER_MAX,
    Format,
    FormatOption,
    instant,
    print_json,
    print_line,
    print_rich,
)
from tidegate.domain.model.operation import Operation
from tidegate.domain.part_name import app_of

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from tidegate.scheduler.explain.explanation import Explanation
    from tidegate.scheduler.explain.unblock import Missing
    from tidegate.scheduler.model.verdict import Verdict
    from tidegate.scheduler.store.engine_reader import EngineReader
    from tidegate.scheduler.tick.held_apps import Hold


def why(
    name: Annotated[
        str, typer.Argument(help='A schedule or task ("app/schedule" or its name), a table, or a job id.')
    ],
    scheduled: Annotated[
        str | None,
        typer.Argument(help="Of a task: an instance, by its scheduled time. Of a table: an operation."),
    ] = None,
    backfill: Annotated[
        int | None, typer.Option(min=1, max=NUMBER_MAX, help="The number of the instance's backfill.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="INSTANT", help="A past moment, for example 2026-03-10T22:00:00Z."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Of a schedule with many waiting jobs, or a task: explain each.")
    ] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Explain why a schedule, job, instance or table's operation waits, what helps, and when it can run."""
    from msgspec.structs import replace

    from tidegate.cli.last_tick import scheduler_lines
    from tidegate.cli.opened_store import opened_store
    from tidegate.listings.explained import shown_explanation
    from tidegate.processes.explained import address_of, explained, past_instant
    from tidegate.project.local_time import use_zone_of_apps
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.explain.why import explain
    from tidegate.scheduler.launch.active_host import active_host
    from tidegate.scheduler.tick.clock import last_tick
    from tidegate.scheduler.tick.held_apps import held_apps

    now, settings = datetime.now(UTC), load_settings()
    moment = None if at is None else past_instant(at, now)
    with opened_store() as store, store.reading() as present:

        def explain_it(reader: "EngineReader", then: datetime) -> "tuple[Explanation, ...]":
            found = explained_operations(reader, present, name, scheduled, then)
            if found is not None:
                return found
            return explain(reader, _target(reader, name, scheduled, backfill), then, every=every)

        explanations = explained(store, present, explain_it, now, moment)
        ticked_at = last_tick(present)
        projects = {each.project for each in present.app_headers()}
        host = active_host(present, settings.name, now)
        held = held_apps(present)
        use_zone_of_apps(present, {app_of(each.schedule) for each in explanations})
        shown = [shown_explanation(each, present) for each in explanations]
    addresses = [address_of(settings, explanation) for explanation in explanations]
    apps = sorted({app_of(explanation.schedule) for explanation in explanations})
    shared = projects > {settings.name}
    # Asked last: Dagster may take seconds to answer.
    alive = (
        chain(_held(held, apps), scheduler_lines(settings, ticked_at, now, shared=shared, host=host))
        if at is None and apps
        else iter(())
    )
    if format is Format.JSON:
        lines = tuple(alive)
        pairs = zip(shown, addresses, strict=True)
        print_json([replace(each, run_address=address, scheduler=lines) for each, address in pairs])
        return
    for explanation, address in zip(explanations, addresses, strict=True):
        _print(explanation, address)
    for line in chain(count_lines(explanations), alive):
        print_line(line)


def _held(held: "Mapping[str, Hold]", apps: list[str]) -> Iterator[str]:
    """Yield a line for each of some apps that is on hold."""
    for app in apps:
        if app in held:
            since = f"{instant(held[app].at)}, by {held[app].by}"
            yield (
                f"nothing is launched of app {app}: it is on hold since {since};"
                f" `tidegate apps release {app}` goes on"
            )


def _print(explanation: "Explanation", address: str) -> None:
    print_rich(explanation_tree(explanation))
    if address:
        print_line(f"its run in Dagster: {address}")


def count_lines(explanations: "Sequence[Explanation]") -> Iterator[str]:
    """Yield how many jobs of a schedule there are by reason, unless all are explained."""
    counts = explanations[0].open_jobs if explanations else {}
    if counts:
        reasons = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        found = ", ".join(f"{number:,} {reason}" for reason, number in reasons)
        first = f"the first {len(explanations)} of {sum(counts.values()):,} jobs, in launch order"
        yield f"{first}: {found}; `--all` explains each"


def _target(reader: "EngineReader", name: str, scheduled: str | None, backfill: int | None) -> str:
    """Return the ref of a schedule, or the id of a job or of an instance."""
    from tidegate.scheduler.explain.names import find_target, find_task

    if scheduled is None:
        if backfill:
            raise typer.BadParameter("--backfill needs the scheduled time of an instance")
        return find_target(reader, name)
    from tidegate.scheduler.commands.tasks.instances import InstanceName, instance_named

    wanted = InstanceName(scheduled=scheduled, number=backfill or 0)
    state = find_task(reader, name, or_schedule=bool(backfill))
    return instance_named(reader, state, wanted).id


def explanation_tree(explanation: "Explanation") -> "Tree":
    """Return an explanation as a rich tree: the conditions, the instants, then the history."""
    from rich.text import Text
    from rich.tree import Tree

    from tidegate.cli.operate.history import entry_data
    from tidegate.cli.operate.why_instance import add_instance, missing_besides
    from tidegate.scheduler.explain.outcome import outcome_line

    job, work = explanation.job, explanation.work
    key = f"[{job.key}]" if job is not None and job.key else ""
    if work is not None:
        key = f"[{work.table} {work.operation}]"
    tree = Tree(
        Text.assemble(
            (f"{explanation.schedule}{key}", "bold"), f" ({explanation.status}): {explanation.headline}"
        )
    )
    for override in explanation.overrides:
        tree.add(Text(f"by hand: {override.text}"))
    if explanation.missed:
        tree.add(Text(f"missed: {explanation.missed}"))
    if job is not None and job.id:
        tree.add(Text(f"job {job.id}, {job.state}"))
        if explanation.business_dates and job.instance is None:
            noun = "business date" if len(explanation.business_dates) == 1 else "business dates"
            tree.add(Text(f"{noun} {', '.join(explanation.business_dates)}"))
    if explanation.trigger is not None:
        _add(tree.add(Text("trigger")), explanation.trigger)
    if explanation.constraints:
        branch = tree.add(Text("constraints"))
        for verdict in explanation.constraints:
            _add(branch, verdict)
    for withheld in explanation.withheld:
        tree.add(Text(f"withheld: {withheld.text}"))
    for publish in explanation.withheld_publishes:
        branch = tree.add(Text(f"withheld: {publish.text}"))
        branch.add(Text(f"tidegate commits release {publish.commit}, or abandon it"))
    add_instance(tree, explanation)
    wanted = missing_besides(explanation)
    if wanted:
        branch = tree.add(Text("would unblock it"))
        for missing in wanted:
            branch.add(_missing_line(missing))
    if explanation.blocked:
        branch = tree.add(Text("blocked: a run would fail immediately", style="red"))
        for blocked in explanation.blocked:
            line = f"{blocked.dataset}, by commit {blocked.commit}: {blocked.error}"
            branch.add(Text(line)).add(Text(blocked.remedy))
    _add_dead(tree, explanation)
    if explanation.failed is not None:
        failed = explanation.failed
        branch = tree.add(Text(f"last job {failed.id}, ended {instant(failed.ended_at)}", style="red"))
        branch.add(Text(outcome_line(failed)))
        branch.add(Text(f"tidegate jobs retry {failed.id}   runs it again"))
    if explanation.next_check is not None:
        tree.add(Text(f"looked at: {instant(explanation.next_check, now=explanation.at)}"))
    if explanation.discarded_at is not None or explanation.never_discarded:
        ends = "never" if explanation.discarded_at is None else instant(explanation.discarded_at)
        tree.add(Text(f"discarded at: {ends}"))
    if explanation.can_run_at is not None:
        tree.add(Text(f"can run at: {instant(explanation.can_run_at, now=explanation.at)}"))
    if explanation.history:
        branch = tree.add(Text("history"))
        for entry in explanation.history:
            words = (instant(entry.at), entry.kind.value, entry.reason or "", entry_data(entry))
            branch.add(Text(" ".join(word for word in words if word)))
    return tree


def _add_dead(tree: "Tree", explanation: "Explanation") -> None:
    from rich.text import Text

    for dead in explanation.dead:
        held = "runs it" if dead.resource is None else f"holds a slot of {dead.resource.replace(':', ' ')}"
        line = f"dead: run {dead.run_id} of {dead.of} {held}; its {dead.process} {dead.state}"
        branch = tree.add(Text(line, style="red"))
        branch.add(Text(f"its last sign of life: {instant(dead.since)}"))
        branch.add(Text(f"its slot: {dead.freed}"))


def _add(branch: "Tree", verdict: "Verdict") -> None:
    added = branch.add(_line(verdict))
    for part in verdict.parts:
        # Upstream instances have a branch of their own.
        if part.kind != "upstream":
            _add(added, part)


def _line(verdict: "Verdict") -> "Text":
    from rich.text import Text

    sign, style = ("met  ", "green") if verdict.met else ("unmet", "yellow")
    line = Text.assemble((sign, style), f" {verdict.kind}: {verdict.summary}")
    code = verdict.reason or verdict.discard
    if code is not None and not verdict.met:
        line.append(f" [{code}]")
    if verdict.met and verdict.since is not None:
        line.append(f", since {instant(verdict.since)}")
    if not verdict.met and verdict.next_check is not None:
        line.append(f", may change at {instant(verdict.next_check)}")
    if not verdict.met and verdict.blocked_on is not None and verdict.kind not in ("task", "upstream"):
        line.append(f", waits for {verdict.blocked_on}")
    if verdict.at is not None:
        line.append(f"  {verdict.at}", style="dim")
    return line


def _missing_line(missing: "Missing") -> "Text":
    from rich.text import Text

    line = Text(f"{missing.kind}: {missing.what}")
    if missing.by is not None:
        line.append(f", at {instant(missing.by)} at the latest")
    if missing.at is not None:
        line.append(f"  {missing.at}", style="dim")
    return line


def explained_operations(
    reader: "EngineReader", present: "EngineReader", name: str, which: str | None, moment: datetime
) -> "tuple[Explanation, ...] | None":
    """Explain the operations on a table.

    Args:
        reader: the store as it was at the moment.
        present: the store as it is: a past that was rebuilt from the journal has no tables.
        which: an operation; None for all.

    Returns:
        None if the name is not that of a table, or is that of a schedule or job too.

    Raises:
        UserError: an operation is named, and no such table is known.
    """
    from tidegate.domain.error import UserError
    from tidegate.scheduler.explain.names import find_table
    from tidegate.scheduler.explain.operations.why import explain_operations

    operation = Operation(which) if which in list(Operation) else None
    if operation is None and (which is not None or _is_known(reader, name)):
        return None
    try:
        table = find_table(present, name).name
    except UserError:
        if operation is not None:
            raise
        return None
    found = explain_operations(reader, table, moment, operation)
    if not found:
        what = "operation" if operation is None else str(operation)
        typer.echo(f"No {what} of {table} waits or runs, and no enabled policy configures it.", err=True)
    return found


def _is_known(reader: "EngineReader", name: str) -> bool:
    """Return whether a name is that of a schedule, a task or a job."""
    from tidegate.scheduler.explain.names import refs_named

    return bool("/" not in name and reader.jobs(ids=[name])) or bool(refs_named(reader, name))
