"""What a person who lists events has named: also parts that are deployed no longer, and still have events."""

from collections.abc import Collection

from tidegate.domain.part_name import SEPARATOR
from tidegate.scheduler.explain.names import find_dataset, find_job, find_schedule, in_namespace
from tidegate.scheduler.model.event import partition_event_key
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.wanted import EventsWanted


def key_of_dataset(reader: ListingReader, name: str, apps: Collection[str] | None = None) -> str:
    """Return the key of the events of a dataset, "app/dataset" or the name alone.

    Raises:
        UnknownName: it is not deployed, and has no events.
        AmbiguousName: several apps have it.
    """
    whole = in_namespace(reader, name)
    key = partition_event_key("", whole)
    if SEPARATOR in whole and reader.events_page(EventsWanted(key=key, apps=apps), 1):
        return key
    return partition_event_key("", find_dataset(reader, whole, apps))


def ref_of_schedule(reader: ListingReader, name: str, apps: Collection[str] | None = None) -> str:
    """Return "app/schedule" of a schedule that has received events, so named or by the name alone.

    Raises:
        UnknownName: it is not deployed, and has no events.
        AmbiguousName: several apps have it.
    """
    whole = in_namespace(reader, name)
    if SEPARATOR in whole and reader.events_page(EventsWanted(schedule=whole, apps=apps), 1):
        return whole
    return find_schedule(reader, whole, apps).ref


def id_of_job(reader: ListingReader, name: str) -> str:
    """Return the id of a job that has received events, also if it was pruned, or the one id that begins so.

    Raises:
        UnknownName: there is no such job.
        AmbiguousName: the ids of several jobs begin so.
    """
    if reader.events_page(EventsWanted(job=name), 1):
        return name
    return find_job(reader, name).id
