"""The switches of former versions, in which each app had a dispatcher of its own.

An app whose dispatcher a person had switched off must not launch because of an upgrade. So the first tick or
loop after it puts such apps on hold (`scheduler.commands.by_hand.held_apps`); `tidegate apps release`
releases them. It is done once for each Dagster instance: the store notes that.
"""

from collections.abc import Collection
from datetime import datetime

from dagster import DagsterInstance

from tidegate.dagster_defs.deployed.names import former_dispatcher
from tidegate.dagster_defs.ingest.event_log import storage_id
from tidegate.dagster_defs.internals.instigators import InstigatorStatus, InstigatorType
from tidegate.scheduler.commands.by_hand.held_apps import hold_app
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.protocol import Store

BY = By(actor="ui")


class FormerSwitches:
    """Takes over the former switches of a project, once; shared by the ticks of a process."""

    def __init__(self) -> None:
        self._done = False

    def take_over(
        self, instance: DagsterInstance, store: Store, project: str, apps: Collection[str], now: datetime
    ) -> None:
        """Put the apps on hold whose former dispatcher is switched off, unless that was done before."""
        if self._done:
            return
        name = f"former-dispatchers:{storage_id(instance)}:{project}"
        with store.reading() as reader:
            noted = reader.cursor(name) is not None
        if not noted:
            off = _stopped_sensors(instance)
            held = sorted(app for app in apps if former_dispatcher(app) in off)
            with store.transaction() as transaction:
                for app in held:
                    hold_app(transaction, app, now, BY)
                transaction.set_cursor(name, held)
        self._done = True


def _stopped_sensors(instance: DagsterInstance) -> set[str]:
    if instance.schedule_storage is None:
        return set()
    states = instance.all_instigator_state(
        instigator_type=InstigatorType.SENSOR, instigator_statuses={InstigatorStatus.STOPPED}
    )
    return {state.instigator_name for state in states}
