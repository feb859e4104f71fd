"""The warning for two programs that write the same dataset.

The later run overwrites the partitions of the earlier one. This can be intended, for example by a
correction program, so it is a warning and not an error.
"""

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.domain.model import App, Program


def check_writers(app: App, findings: Findings) -> None:
    """Warn of each dataset with more than one writer, at the second one."""
    first: dict[str, Program] = {}
    for program in app.programs.values():
        for dataset in program.writes:
            earlier = first.setdefault(dataset, program)
            if earlier is program or program.at is None or earlier.at is None:
                continue
            findings.add(
                "L405",
                program.at,
                f'a dataset has one writer, got "{dataset}" from {earlier.name} and {program.name}',
                "let one of them write a dataset of its own, unless they write different partitions",
                (Related(at=earlier.at, note=f"{earlier.name} is here"),),
            )
