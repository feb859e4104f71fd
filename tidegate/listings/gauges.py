"""*Gauges*: the numbers that schedules wait for, with the last report of each."""

from tidegate.domain.value import Value
from tidegate.listings.listing import Column, Filter, Instant, Listing


class ReportedGauge(Value, kw_only=True):
    """A gauge after its last report.

    Attributes:
        name: as `load: {gauge: …}` has it.
        value: the number that counts until the next report; null until the first one.
        reported_at: when it was reported; null until then.
        limits: of the deployed schedules that wait for it, by "app/schedule".
    """

    name: str
    value: float | None
    reported_at: Instant | None
    limits: dict[str, float]

    @property
    def shown_value(self) -> str:
        return "never reported" if self.value is None else f"{self.value:g}"

    @property
    def shown_limits(self) -> str:
        return ", ".join(f"{schedule} <= {limit:g}" for schedule, limit in self.limits.items())


GAUGES = Listing(
    name="gauges",
    title="Gauges",
    help="List the last report of each gauge and the schedules that wait for it, by name.",
    item=ReportedGauge,
    query="tidegate.listings.queries.gauges:list_gauges",
    filters=(
        Filter("app", "app", "Only those that schedules of this app wait for."),
        Filter("reported", "flag", "Only what was reported (the default over REST); else also what is not."),
    ),
    columns=(
        Column("name", "id", 1, "gauge"),
        Column("shown_value", "text", 1, "value"),
        Column("reported_at", "instant", 1),
        Column("shown_limits", "id", 1, "limits"),
    ),
    order=("name",),
)
