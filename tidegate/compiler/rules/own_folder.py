"""The rule that datasets do not share or nest folders: each would read the files of the other."""

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.domain.model import App, Dataset


def check_folders(app: App, findings: Findings) -> None:
    """Report each dataset whose folder equals, contains or is inside the folder of an earlier one."""
    ends: dict[str, Dataset] = {}
    passed: dict[str, Dataset] = {}
    for dataset in app.datasets.values():
        if dataset.path is None or dataset.at is None:
            continue
        # In some file systems names that differ only in case are equal.
        parts = dataset.path.casefold().split("/")
        folders = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        around = next((ends[folder] for folder in folders if folder in ends), None)
        other = around or passed.get(folders[-1])
        if other is not None and other.at is not None:
            both = f'"{dataset.path}" beside "{other.path}" of {other.name}'
            findings.add(
                "V207",
                dataset.at,
                f"a dataset has a folder of its own, got {both}",
                "give each a folder that is neither inside nor around the other's",
                (Related(at=other.at, note=f"{other.name} is here"),),
            )
        ends.setdefault(folders[-1], dataset)
        for folder in folders:
            passed.setdefault(folder, dataset)
