"""Presence: which code locations have the jobs of maintenance: those of projects that have policies."""

from tidegate.dagster_defs.deployed.plan_state import Plan


def apps_with_policies(plan: Plan) -> frozenset[str]:
    """Return the names of the project's own apps that have policies; those of others are theirs."""
    return frozenset(loaded.app.name for loaded in plan.apps if loaded.app.policies)
