"""`tidegate commits abandon`: removes an unfinished or withheld sequence permanently, or one output of it.

It is for a sequence, or an output, that can never be finished: its staging is lost, its table was dropped, or
its data is not wanted. Published data remains published, so the command shows the state and asks for
confirmation. The tables refuse the commit from then on, and the store keeps a record.
"""

from typing import Annotated

import typer

from tidegate.cli.commits.project import CommitsProject, now, opened_project
from tidegate.cli.commits.withheld import DECLINED_EXIT_CODE, give_up, nothing_left
from tidegate.cli.printing import instant, print_line
from tidegate.domain.error import UserError
from tidegate.domain.suggest import did_you_mean
from tidegate.scheduler.store.commits.noted import NotedAction
from tidegate.spark_jobs.commit.outputs import SequenceOutput, outputs_in, steps_of, without_output
from tidegate.spark_jobs.commit.process import is_gone, shown
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_result, encode_sequence
from tidegate.spark_jobs.commit.step import Effect, RefusableStep, Verdict, verify_step
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.errors import SparkJobError
from tidegate.spark_jobs.repair.orphans import find_orphans, remove_orphans


def abandon(
    commit: Annotated[str, typer.Argument(help="The commit id, from `commits list`.")],
    output: Annotated[
        list[str] | None,
        typer.Option(
            help='Only this output, as "app/dataset"; may be repeated. The rest is finished later.',
            show_default=False,
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option(help="Why, for the journal and the record of it.", metavar="TEXT")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Also if the next run will append published rows once more.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove an unfinished or withheld commit, or one output of an unfinished one; published data remains."""
    with opened_project() as opened:
        project = opened.noting(NotedAction.ABANDON, reason)
        kept = project.commits.withheld(commit)
        if kept is not None:
            if output:
                raise UserError(
                    f"commit {commit} is withheld: nothing of it is published",
                    "abandon all of it: leave --output out",
                )
            give_up(project, kept, yes=yes)
            return
        sequence = project.sequence(commit)
        if sequence is None:
            raise nothing_left(project, commit)
        _refuse_active(project, commit)
        chosen = _chosen(sequence, output or ())
        for line in consequences(sequence, project, chosen):
            print_line(line)
        repeated = () if chosen else _repeated(sequence, project)
        if repeated and not force:
            raise _would_repeat(sequence, repeated)
        if not yes and not typer.confirm("Abandon it?"):
            typer.echo("nothing was changed")
            raise typer.Exit(DECLINED_EXIT_CODE)
        if chosen:
            _abandon_outputs(project, sequence, chosen, reason)
        else:
            _abandon_all(project, sequence, reason)


def consequences(
    sequence: CommitSequence, project: CommitsProject, chosen: tuple[SequenceOutput, ...] = ()
) -> list[str]:
    """Return the state of each step, and what readers will see after the abandonment.

    Args:
        chosen: the outputs to abandon; empty for the whole sequence.
    """
    answers = [
        (step, verify_step(step, project.context))
        for step in sequence.steps
        if step.effect is not Effect.CLEANS
    ]
    lines = [f"{answer.verdict:<9} {step.describe()}" for step, answer in answers]
    if chosen:
        return [*lines, *(f"{one.dataset} will not have the rows of this commit." for one in chosen)]
    shown = [answer.verdict for step, answer in answers if step.effect is Effect.PUBLISHES]
    if all(verdict is Verdict.DONE for verdict in shown):
        lines.append("All data is published: `tidegate commits recover` would only run the remaining steps.")
    elif Verdict.DONE in shown:
        lines.append(
            "Readers keep seeing the published part and will never see the rest: run the program again."
        )
    elif Verdict.UNKNOWN in shown:
        lines.append("It is unknown whether readers see its data; check the datasets.")
    else:
        lines.append("Readers do not see its data: the datasets remain as before the commit.")
    published = ", ".join(one.dataset for one in published_outputs(sequence, project))
    if published and not _moves_watermarks(sequence):
        lines.append(f"Published already, and not written again by the next run of this work: {published}.")
    following = [answer.verdict for step, answer in answers if step.effect is Effect.FOLLOWS]
    if Verdict.NOT_DONE in following and Verdict.DONE in shown:
        lines.append("The next run reads its input again, and its data does not trigger any schedule.")
    return lines


def published_outputs(sequence: CommitSequence, project: CommitsProject) -> tuple[SequenceOutput, ...]:
    """Return the outputs that are published."""
    return tuple(
        one for one in outputs_in(sequence) if verify_step(one.step, project.context).verdict is Verdict.DONE
    )


def _chosen(sequence: CommitSequence, names: list[str] | tuple[()]) -> tuple[SequenceOutput, ...]:
    """Return the outputs of these names.

    Raises:
        UserError: the sequence has no such output, or no other one.
    """
    outputs = {one.dataset: one for one in outputs_in(sequence)}
    for name in names:
        if name not in outputs:
            raise UserError(
                f"commit {sequence.id} has no output {name}", did_you_mean(name, outputs, "outputs")
            )
    if names and not outputs.keys() - {*names}:
        raise UserError(
            f"commit {sequence.id} has no other output", "abandon the whole commit: leave --output out"
        )
    return tuple(one for name, one in outputs.items() if name in names)


def _moves_watermarks(sequence: CommitSequence) -> bool:
    return any(isinstance(step, SetWatermark) for step in sequence.steps)


def _repeated(sequence: CommitSequence, project: CommitsProject) -> tuple[str, ...]:
    """Return the published outputs to which the next run, whichever it is, would append the rows again."""
    moves = [step for step in sequence.steps if isinstance(step, SetWatermark)]
    if all(verify_step(step, project.context).verdict is not Verdict.NOT_DONE for step in moves):
        return ()
    published = published_outputs(sequence, project)
    return tuple(one.dataset for one in published if getattr(one.step, "mode", "") == "append")


def _would_repeat(sequence: CommitSequence, repeated: tuple[str, ...]) -> UserError:
    others = [one.dataset for one in outputs_in(sequence) if one.dataset not in repeated]
    alone = " ".join(f"--output {name}" for name in others)
    return UserError(
        f"{', '.join(repeated)} {'has' if len(repeated) == 1 else 'have'} the rows of this commit, and its"
        " watermarks have not moved: the next run would read the rows again and append them once more",
        f"abandon only what is not published: tidegate commits abandon {sequence.id} {alone}"
        if others
        else "finish it with: tidegate commits recover; or add --force to have the rows twice",
    )


def _abandon_all(project: CommitsProject, sequence: CommitSequence, reason: str) -> None:
    commit = sequence.id
    _refuse_in_tables(project, tuple(step for step in sequence.steps if isinstance(step, RefusableStep)))
    # Asked after the tables refuse the commit, so the answer is final.
    published = () if _moves_watermarks(sequence) else published_outputs(sequence, project)
    kept = {one.dataset: encode_result(one.parts) for one in published}
    # A recovery that finds it refused by its tables may have recorded that already.
    if not project.commits.abandon(commit, reason, now(), kept) and not project.commits.was_abandoned(commit):
        _refuse_active(project, commit)
        raise UserError(f"commit {commit} was finished in the meantime", "nothing was abandoned")
    print_line(f"{commit}: abandoned; {', '.join(sequence.datasets)} can be written again")
    _clean(project, sequence)


def _abandon_outputs(
    project: CommitsProject, sequence: CommitSequence, chosen: tuple[SequenceOutput, ...], reason: str
) -> None:
    commit = sequence.id
    _refuse_in_tables(project, tuple(one.step for one in chosen))
    published = {one.dataset for one in published_outputs(sequence, project)}
    for one in chosen:
        if one.dataset in published:
            raise UserError(
                f"{one.dataset} is published already, so it cannot be abandoned",
                f"what remains of the commit: tidegate commits show {commit}",
            )
    stored = project.commits.get(commit) or ""
    for one in chosen:
        rest = without_output(sequence, one)
        body = encode_sequence(rest)
        if not project.commits.abandon_output(
            commit, one.dataset, before=stored, body=body, note=reason, now=now()
        ):
            _refuse_active(project, commit)
            raise UserError(f"commit {commit} has changed in the meantime", "look at it again, and repeat")
        print_line(f"{one.dataset}: abandoned; it can be written again")
        _clean_output(project, sequence, one)
        sequence, stored = rest, body
    print_line(f"{commit}: the recovery finishes the rest, or do it now: tidegate commits recover")


def _refuse_active(project: CommitsProject, commit: str) -> None:
    state = project.commits.recovery_state(commit)
    if state is None or state.until is None or state.until <= now():
        return
    if is_gone(state.owner):
        project.commits.release(commit, state.owner)
        return
    raise UserError(
        f"commit {commit} is being finished by {shown(state.owner)}, at least until {instant(state.until)}",
        "wait for it, or stop that process first",
    )


def _refuse_in_tables(project: CommitsProject, steps: tuple[RefusableStep, ...]) -> None:
    """Make the tables refuse the commit, so that a driver that only sleeps cannot publish it later."""
    for step in steps:
        try:
            step.refuse(project.context)
        except (SparkJobError, OSError) as error:
            print_line(f"the table could not be made to refuse the commit: {error}", err=True)
            typer.echo("end the process of its driver: if it wakes up, it may add its rows", err=True)


def _clean_output(project: CommitsProject, sequence: CommitSequence, output: SequenceOutput) -> None:
    """Remove the staging of one output; `fsck` finds staging that cannot be removed now."""
    for step in steps_of(sequence, output):
        if step.effect is Effect.CLEANS:
            try:
                step.execute(project.context)
            except (SparkJobError, OSError) as error:
                print_line(f"its staging could not be removed: {error}", err=True)


def _clean(project: CommitsProject, sequence: CommitSequence) -> None:
    """Remove its staging; `fsck` finds staging that cannot be removed now."""
    refs = [ref for name, ref in project.datasets().items() if name in sequence.datasets]
    warehouse = project.warehouse
    try:
        found = find_orphans(refs, warehouse, project.commits, project.spark)
        mine = [one for one in found if one.token in sequence.tokens]
        remove_orphans(mine, refs, warehouse, project.spark)
    except (SparkJobError, OSError) as error:
        print_line(f"its staging could not be removed: {error}", err=True)
        typer.echo("remove it later with: tidegate commits fsck --clean", err=True)
