"""Shipped files that are not code: the documentation, the example app and the files for production.

In a checkout they are in `docs/`, `schedules/` and `deploy/`. The wheel contains them inside the package,
because it installs nothing else (`pyproject.toml` maps them).
"""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
CHECKOUT = PACKAGE.parent


def docs_folder() -> Path:
    """Return the folder of the documentation pages."""
    return _first(PACKAGE / "docs", CHECKOUT / "docs")


def example_app() -> Path:
    """Return the YAML file of the example app on the flights of 2013."""
    return _first(PACKAGE / "demo" / "flights.yaml", CHECKOUT / "schedules" / "flights.yaml")


def deploy_folder() -> Path:
    """Return the folder of the files for production: image, services, manifests, units, a dashboard."""
    return _first(PACKAGE / "deploy", CHECKOUT / "deploy")


def _first(installed: Path, checked_out: Path) -> Path:
    return installed if installed.exists() else checked_out
