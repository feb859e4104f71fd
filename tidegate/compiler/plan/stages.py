"""The stages of a deployment, in their order: `plan` shows them, `deploy` runs them.

    rename      what has `renamed_from` gets its new name in every row of the store
    policies    the apps are as the YAML has them, with the tables and records of their maintenance
    schedules   schedules and tasks are created, changed and deleted, and their jobs with them
    events      changed schedules listen, and collect what exists; datasets are expected at their deadlines
    journal     the deployment and what it has changed get their record

Each stage finds in the store what the one before it has written; all of them are one transaction.
`scheduler.commands.deployment.deploy` has the function of each.
"""

from typing import Literal, get_args

Stage = Literal["rename", "policies", "schedules", "events", "journal"]

STAGES: tuple[Stage, ...] = get_args(Stage)
