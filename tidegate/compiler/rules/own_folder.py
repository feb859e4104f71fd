"""Two datasets in one folder, or one inside the other: each would take the other's files for its own."""

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.domain.model import App, Dataset


def check_folders(app: App, findings: Findings) -> None:
    """Refuse each dataset whose path meets that of one before it, at the later one."""
    ends: dict[str, Dataset] = {}
    passed: dict[str, Dataset] = {}
    for dataset in app.datasets.values():
        if dataset.path is None or dataset.at is None:
            continue
        # Some file systems hold names that differ in case only for the same.
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
                "give each a folder that lies neither in nor around the other's",
                (Related(at=other.at, note=f"{other.name} stands here"),),
            )
        ends.setdefault(folders[-1], dataset)
        for folder in folders:
            passed.setdefault(folder, dataset)
