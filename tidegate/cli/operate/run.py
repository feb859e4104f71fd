"""`tidegate run`: one program by hand, in this process, without the queue.

    names and keys are checked ─► no job writes the same ─► journal ─► program ─► published exactly once
              └── --dry-run ends here, without Spark

The run has an id of its own, made from `--request` where that is given: the same request publishes once. It
waits for no trigger and no constraint, and takes no slot.
"""

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from tidegate.cli.by_hand import by_hand, yaml_option
from tidegate.cli.printing import Format, FormatOption, ReasonOption, print_json, print_line, print_table
from tidegate.domain.error import UserError
from tidegate.scheduler.model.deployed import APPS

if TYPE_CHECKING:
    from tidegate.cli.commits.project import CommitsProject
    from tidegate.domain.commits import CheckVerdict
    from tidegate.domain.model import App, Program
    from tidegate.domain.published import PublishedPartition
    from tidegate.scheduler.model.journal import By

ID_DIGITS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What is to be run.

    Attributes:
        app: with the datasets of other apps under their whole names.
        elsewhere: the inputs that belong to other projects.
    """

    run_id: str
    app: "App"
    program: "Program"
    elsewhere: frozenset[str]
    keys: tuple[str, ...]
    args: Mapping[str, Any]

    @property
    def ref(self) -> str:
        """Return "app/program"."""
        return f"{self.app.name}/{self.program.name}"

    @property
    def commit(self) -> str:
        """Return the commit id: like that of a run that is started in Dagster."""
        return f"{self.run_id}.{self.app.name}.{self.program.name}"


def run(
    program: Annotated[
        str, typer.Argument(help='The program, as "app/program" or alone.', metavar="PROGRAM")
    ],
    key: Annotated[
        list[str] | None,
        typer.Option(help="A partition to write; may be repeated.", metavar="KEY", show_default=False),
    ] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            help="An argument, over those of the program's schedule; the value is YAML. May be repeated.",
            metavar="NAME=VALUE",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what it would read and write; start no Spark.")
    ] = False,
    request: Annotated[
        str, typer.Option(help="A key of yours: a second call with it publishes nothing more.", metavar="KEY")
    ] = "",
    reason: ReasonOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Run one program now, in this process, and publish its outputs exactly once."""
    from tidegate.cli.commits.project import opened_project

    given = dict(yaml_option("--arg", text, "NAME=YAML", "min_delay=15") for text in arg or ())
    with opened_project() as project:
        folder = str(project.settings.project)
        if folder not in sys.path:
            # As in the code location, whose working folder is the project.
            sys.path.insert(0, folder)
        plan = _planned(project, program, key or [], given, request)
        if dry_run:
            _print_plan(plan, project, format)
            return
        verdicts: list[CheckVerdict] = []
        try:
            published = _run(plan, project, by_hand(reason), verdicts)
        finally:
            _print_failed_checks(verdicts)
        _print_published(plan, published, verdicts, format)


def _planned(
    project: "CommitsProject", name: str, keys: Sequence[str], given: Mapping[str, Any], request: str
) -> Plan:
    """Check what is asked for.

    Raises:
        Refused: a name or key is wrong, or a job writes the same.
        ProgramError: the function does not exist.
    """
    from tidegate.cli.commits.project import now
    from tidegate.domain.model.others import with_others
    from tidegate.domain.part_name import app_of, whole_name
    from tidegate.scheduler.explain.names import find_program
    from tidegate.scheduler.launch.by_hand import (
        args_by_hand,
        check_keys,
        refuse_beside_jobs,
        refuse_existing,
    )
    from tidegate.spark_jobs.programs.loading import load_program

    own = {app.name for app in project.apps()}
    with project.store.reading() as reader:
        app, program = find_program(reader, name, project.settings.name)
        refuse_existing(app, program)
        check_keys(app, program, keys, now())
        args = {**args_by_hand(reader, app.name, program.name, keys), **given}
        whole = with_others(app, [each.app for each in reader.records(APPS)])
        refuse_beside_jobs(reader, app, program, keys)
    if program.run:
        load_program(program.run)
    digest = hashlib.sha256(request.encode()).hexdigest() if request else uuid4().hex
    return Plan(
        run_id=f"hand-{digest[:ID_DIGITS]}",
        app=whole,
        program=program,
        elsewhere=frozenset(each for each in program.reads if app_of(whole_name(app.name, each)) not in own),
        keys=tuple(dict.fromkeys(keys)),
        args=args,
    )


def _run(
    plan: Plan, project: "CommitsProject", by: "By", verdicts: "list[CheckVerdict]"
) -> "tuple[PublishedPartition, ...]":
    """Run the program and publish.

    Args:
        verdicts: gets those of the checks of its outputs.

    Raises:
        PublishWithheld: a check failed.
        UserError: it failed; nothing of it is published, or what is promised is finished by a recovery.
    """
    import traceback

    from tidegate.cli.commits.project import now
    from tidegate.dagster_defs.run.failure_text import failure_text
    from tidegate.project.spark import spark_settings
    from tidegate.scheduler.launch.by_hand import note_run_by_hand
    from tidegate.spark_jobs.programs.params import Params
    from tidegate.spark_jobs.runner import run_program
    from tidegate.spark_jobs.session.executor_code import program_properties
    from tidegate.spark_jobs.session.executors import linked
    from tidegate.spark_jobs.session.session import program_conf

    datasets, spark = plan.app.datasets, spark_settings(project.settings)
    began = now()
    with project.store.transaction() as transaction:
        names = (plan.run_id, plan.app.name, plan.program.name)
        note_run_by_hand(transaction, *names, plan.keys, plan.args, began, by)
    params = Params(
        args=plan.args,
        partitions=plan.keys,
        key=plan.keys[0] if len(plan.keys) == 1 else "",
        now=began,
        job=plan.run_id,
    )
    try:
        with program_conf(program_properties(spark, plan.program, datasets)):
            return run_program(
                linked(project.spark, spark.history_of(plan.program.cluster), _print_link),
                project.warehouse,
                project.commits,
                app=plan.app.name,
                program=plan.program,
                datasets=datasets,
                elsewhere=plan.elsewhere,
                params=params,
                commit=plan.commit,
                events=project.context.events,
                judged=verdicts.extend,
            )
    except UserError:
        raise
    except Exception as error:
        traceback.print_exc()
        raise UserError(
            f"{plan.ref} failed: {failure_text(error, Path(project.settings.project))}",
            "nothing is published; `tidegate commits list` shows what is promised and not finished",
        ) from error


def _print_link(link: str) -> None:
    print_line(f"Spark: {link}", err=True)


def _print_plan(plan: Plan, project: "CommitsProject", format: Format) -> None:
    from tidegate.domain.model.table_format import format_facts
    from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref

    def described(name: str) -> dict[str, Any]:
        dataset = plan.app.datasets[name]
        ref = dataset_ref(plan.app.name, dataset)
        facts = format_facts(ref.format)
        place = f"{facts.title} catalog" if facts.in_catalog else str(ref.root(project.warehouse))
        return {"dataset": ref.id, "format": dataset.format, "place": place}

    reads = [{**described(name), "rows": _selected(plan, name)} for name in plan.program.reads]
    writes = [
        {
            **described(name),
            "mode": plan.app.datasets[name].write_mode(),
            "partitions": list(plan.keys) if plan.app.datasets[name].partitions is not None else None,
        }
        for name in plan.program.writes
    ]
    if format is Format.JSON:
        code = {"function": plan.program.run} if plan.program.run else {"sql": _files_of(plan.program)}
        facts = {"program": plan.ref, **code, "args": plan.args}
        print_json({**facts, "reads": reads, "writes": writes})
        return
    does = f"call {plan.program.run}" if plan.program.run else f"run {', '.join(_files_of(plan.program))}"
    print_line(f"{plan.ref} would {does}; nothing was run")
    for name, value in plan.args.items():
        print_line(f"  argument {name} = {value}")
    rows = [["reads", each["dataset"], each["rows"], each["place"]] for each in reads]
    rows += [
        [
            "writes",
            each["dataset"],
            f"{each['mode']} {', '.join(each['partitions'] or ['all'])}",
            each["place"],
        ]
        for each in writes
    ]
    print_table(["", "dataset", "partitions", "place"], rows)


def _files_of(program: "Program") -> list[str]:
    return [query.file for query in program.sql]


def _selected(plan: Plan, name: str) -> str:
    """Say which partitions of an input the run reads."""
    from tidegate.spark_jobs.datasets.key_selection import KeySelection

    outputs = [plan.app.datasets[each].partitions for each in plan.program.writes]
    scheme = next((each for each in outputs if each is not None), None)
    every = KeySelection(scheme, plan.keys).selects_all(plan.app.datasets[name].partitions)
    which = "all" if every else f"those of {', '.join(plan.keys)}"
    return f"{which}, only what is new" if plan.program.incremental.get(name, False) else which


def _print_failed_checks(verdicts: "Sequence[CheckVerdict]") -> None:
    for each in verdicts:
        if not each.passed:
            says = "failed" if each.blocks else "warns"
            print_line(f"check {each.name} of {each.dataset} {says}: {each.found}", err=True)


def _print_published(
    plan: Plan,
    published: "tuple[PublishedPartition, ...]",
    verdicts: "Sequence[CheckVerdict]",
    format: Format,
) -> None:
    if format is Format.JSON:
        facts = {"run": plan.run_id, "commit": plan.commit, "program": plan.ref, "args": plan.args}
        print_json({**facts, "published": published, "checks": verdicts})
        return
    for part in published:
        name = f"{plan.app.name}/{part.dataset} {part.key}".strip()
        print_line(f"{name}: {part.rows:,} rows, {part.bytes:,} bytes, {part.files:,} files")
    print_line(f"run {plan.run_id} of {plan.ref} has published {len(published)} partitions")
