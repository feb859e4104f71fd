"""Routes of alerts: which channels hear of what. Channels are in `tidegate.toml`, routes in the YAML."""

KINDS = ("failed", "dead_letter", "late", "blocked_commit", "recovered")
"""What an alert is about, as the YAML and the settings spell it (`scheduler.model.records.alert`)."""

Routes = dict[str, tuple[str, ...]]
"""The channels by kind of alert. A kind that is absent is decided further out; an empty list is silence."""


def channels_of(kind: str, *routes: Routes) -> tuple[str, ...]:
    """Return the channels of a kind: of the first routes that name it, the innermost first."""
    return next((each[kind] for each in routes if kind in each), ())
