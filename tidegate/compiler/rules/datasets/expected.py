"""The rule that the deadline of a dataset has something to be about: periods, or updates of the whole."""

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.domain.model import App
from tidegate.domain.wording import shown


def check_expected(app: App, findings: Findings) -> None:
    """Report datasets with a deadline whose partitions have no period."""
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
