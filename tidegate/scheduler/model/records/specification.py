"""What a deployment wrote: a specification as it was from that deployment on."""

import zlib

import msgspec

from tidegate.domain.model import Schedule
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import DeployedApp
from tidegate.scheduler.model.kind import Kind

GONE = b""
"""The content of what a deployment has deleted."""


class Specification(Value, kw_only=True):
    """One app without its schedules, or one schedule, from a deployment on.

    Attributes:
        ref: "app", or "app/schedule".
        number: of the deployment: that of its entry in the journal.
        content: compressed JSON of a `DeployedApp` or of a `Schedule`; GONE if it was deleted.
    """

    ref: str
    number: int
    content: bytes

    @property
    def app(self) -> str:
        return app_of(self.ref)

    @property
    def gone(self) -> bool:
        return self.content == GONE

    def deployed_app(self) -> DeployedApp:
        """Return the app."""
        return msgspec.json.decode(zlib.decompress(self.content), type=DeployedApp)

    def schedule(self) -> Schedule:
        """Return the schedule."""
        return msgspec.json.decode(zlib.decompress(self.content), type=Schedule)


SPECIFICATIONS = Kind(name="specifications", value=Specification, key=("ref", "number"))


def kept(ref: str, number: int, value: DeployedApp | Schedule | None) -> Specification:
    """Return the specification of a value; None for what is deleted."""
    content = GONE if value is None else zlib.compress(msgspec.json.encode(value, order="sorted"))
    return Specification(ref=ref, number=number, content=content)
