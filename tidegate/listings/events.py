"""*Events*: what has happened, what became of it in each schedule, and reports that were refused."""

from tidegate.domain.launch_input import UpstreamRun
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.domain.withheld import WithheldPartition
from tidegate.listings.listing import Column, Filter, Instant, Listing


class Received(Value, kw_only=True):
    """What became of an event in one schedule.

    Attributes:
        schedule: "app/schedule".
        leaf: the member of its trigger: member numbers from 0 joined by ".".
        job: which has received it; null if it was discarded on arrival.
        state: of the job; DISCARDED where the event has left it or never had one, PRUNED if that is gone.
        reason: why it was discarded, else the reason of the job.
        outcome: the column of the ledger, or pruned.
    """

    schedule: str
    leaf: str
    job: str | None
    state: str
    reason: str | None
    outcome: str


class CollectedEvent(Value, kw_only=True):
    """An event, as a job that has collected it shows it.

    Attributes:
        id: two events with the same one are the same fact.
        key: what it is about, such as "partition:app/dataset".
        time: when it happened.
        arrived: when the store first held it.
        partition: its key; "" for a dataset without partitions, null for other kinds of events.
        bytes: size of the partition, if the reporter knows it.
        rows: number of its rows, likewise.
        run_id: the run that caused it, or that it is about.
        detail: a line for people, for example who reported it.
    """

    id: str
    key: str
    time: Instant
    arrived: Instant
    partition: str | None
    bytes: int | None = None
    rows: int | None = None
    run_id: str | None = None
    detail: str = ""


class Event(CollectedEvent, kw_only=True):
    """An event, or a report that was refused and so is none.

    Attributes:
        kind: partition, run, fire or manual.
        status: of the run that it is about.
        scheduled_for: of a fire, the instant of the cron.
        day: of a fire, the day to which it belongs in the zone of the cron.
        run: of a run, what a run that it triggers may refer to.
        own_job: it opens a job of its own and joins none.
        expired: it is recorded and triggers nothing: a fire that was missed too long ago.
        number: of the fires in a row that it is of.
        first_at: of several fires the first; `time` is the last.
        origin: the event that it repeats; null for a fact of its own.
        repairs: of a partition that a repair publishes: the job whose result it replaces.
        provisional: of what a job does that was launched without members of its trigger.
        only_for: the only schedule that receives it; null for all that listen to its key, "" for none.
        routed: whether a tick has looked for the schedules that listen to it.
        refused: why the report was refused; null for an event.
        withheld: what withholds a materialisation from `checks: passed`; null for what is not.
        deliveries: what became of it in each schedule that has received it.
    """

    kind: str
    status: str | None = None
    scheduled_for: Instant | None = None
    day: str | None = None
    run: UpstreamRun | None = None
    own_job: bool = False
    expired: bool = False
    number: int = 1
    first_at: Instant | None = None
    origin: str | None = None
    repairs: str | None = None
    provisional: bool = False
    only_for: str | None = None
    routed: bool
    refused: str | None = None
    withheld: WithheldPartition | None = None
    deliveries: tuple[Received, ...] = ()

    @property
    def app(self) -> str:
        return app_of(self.key.partition(":")[2])

    @property
    def marks(self) -> str:
        """What its partition is: provisional, a repair, or both; "" for neither."""
        return ", ".join(
            (*(("provisional",) if self.provisional else ()), *(("repair",) if self.repairs else ()))
        )

    @property
    def became(self) -> str:
        """What became of it, in a few words."""
        if self.refused is not None:
            return f"refused: {self.refused}"
        if self.withheld is not None:
            return f"withheld: {self.withheld.text}"
        received = (
            " ".join(filter(None, (each.schedule, each.state, each.reason))) for each in self.deliveries
        )
        return "; ".join(received) or ("no schedule listens" if self.routed else "not routed yet")


EVENTS = Listing(
    name="events",
    title="Events",
    help="List events, the newest first, with the schedules and jobs that received each, and refused ones.",
    item=Event,
    query="tidegate.listings.queries.events:list_events",
    filters=(
        Filter("app", "app", "What became of them in this app, else its own events."),
        Filter("key", "text", 'Only with this beginning of the key, such as "partition:flights/raw".'),
        Filter("dataset", "dataset", 'Only of "app/dataset", or of its name if one app has it.', gone=True),
        Filter("partition", "text", "Only of this partition key."),
        Filter("schedule", "schedule", "Only what this schedule has received.", gone=True),
        Filter(
            "outcome",
            "state",
            "Only what this became of in a schedule; may be repeated.",
            of="tidegate.scheduler.store.wanted:Outcome",
        ),
        Filter("reason", "reason", "Only with this reason code of that, such as D-SUSPENDED."),
        Filter("job", "job", "Only what this job has received.", gone=True),
        Filter("withheld", "flag", "Only materialisations whose checks have not passed, or only the others."),
        Filter("from", "instant", "Only what arrived at this instant or later."),
        Filter("until", "instant", "Only what arrived before this instant."),
    ),
    columns=(
        Column("arrived", "instant", 1),
        Column("key", "id", 1),
        Column("partition", "id", 1),
        Column("rows", "number"),
        Column("marks", "text", 2),
        Column("became", "deliveries", 1, "received by"),
    ),
    order=("-arrived", "-id"),
)
