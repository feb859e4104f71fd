"""Rules on what a dataset declares: its writers, its watched folder, and its deadline."""

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.domain.model import App, Program
from tidegate.domain.wording import shown


def check_writers(app: App, findings: Findings) -> None:
    """Warn of each dataset with more than one writer, at the second one.

    The later run overwrites the partitions of the earlier one. This can be intended, for example by a
    correction program, so it is a warning and not an error. Dagster knows one owner of an asset, whose
    program a materialisation in its UI starts: the message names it.
    """
    owners = app.owners()
    first: dict[str, Program] = {}
    for program in app.programs.values():
        for dataset in program.writes:
            earlier = first.setdefault(dataset, program)
            if earlier is program or program.at is None or earlier.at is None:
                continue
            owner = owners[dataset]
            other = earlier.name if program.name == owner else program.name
            findings.add(
                "L405",
                program.at,
                f'a dataset has one writer, got "{dataset}" from {earlier.name} and {program.name};'
                f" {owner}, the first by name, owns it",
                f"let {other} write a dataset of its own, unless they write different partitions",
                (Related(at=earlier.at, note=f"{earlier.name} is here"),),
            )


def check_watched(app: App, findings: Findings) -> None:
    """Report watched datasets without a path, and those that a program of the app writes.

    What a program publishes is an event already: a watcher would report it a second time.
    """
    for dataset in app.datasets.values():
        if dataset.watch is None or dataset.at is None:
            continue
        writers = sorted(each.name for each in app.programs.values() if dataset.name in each.writes)
        if dataset.path is None:
            wrong, hint = "without a `path`", "add for example path: landing/flights, or delete `watch`"
        elif writers:
            wrong = f"which {writers[0]} writes"
            hint = "delete `watch`: what a program publishes is an event by itself"
        else:
            continue
        findings.add(
            "L419", dataset.at, f"a watched dataset has landed files, got {shown(dataset.name)} {wrong}", hint
        )


def check_expected(app: App, findings: Findings) -> None:
    """Report datasets with a deadline whose partitions have no period.

    A deadline is about periods, or about updates of the whole.
    """
    for dataset in app.datasets.values():
        scheme, deadline = dataset.partitions, dataset.deadline
        if deadline is None or deadline.at is None or scheme is None or scheme.time is not None:
            continue
        findings.add(
            "L421",
            deadline.at,
            f"a deadline is about periods or updates, got {shown(dataset.name)} with a list of keys only",
            "add a dimension with a `cycle`, or delete `deadline`",
        )
