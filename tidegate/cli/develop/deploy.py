"""`tidegate deploy`: brings the project's YAML into the schedule store, in one transaction.

Apps that are no longer in the folder are deleted with it. Nothing is deployed while the YAML
has errors, and a deployment that would leave schedules without what triggers them is refused.
"""

from datetime import UTC, datetime
from typing import Annotated

import typer

from tidegate.cli.develop.plan import UpdateOption, compiled_apps, print_difference
from tidegate.cli.printing import Format, FormatOption


def deploy(
    update_schedules: UpdateOption = True,
    force: Annotated[
        bool, typer.Option("--force", help="Remove parts that schedules which stay are triggered by.")
    ] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Bring the YAML into the schedule store; print what was changed."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.settings import load_settings
    from tidegate.scheduler.commands.deploy import deploy as deploy_apps

    settings = load_settings()
    wanted = compiled_apps(settings, format)
    with opened_store(settings, create=True) as store, store.transaction() as transaction:
        applied = deploy_apps(
            transaction, wanted, datetime.now(UTC), update_schedules=update_schedules, force=force
        )
    print_difference(applied, format)
