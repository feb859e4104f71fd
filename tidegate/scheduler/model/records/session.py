"""Sessions of browsers: who has signed in to the board, and until when.

A browser has a random value in its cookie, and the store the hash of it: what the store has signs in nowhere.
A session was made for a token that was shown, or for a person whom an issuer of OpenID Connect knows.
Dropping its row ends it.
"""

from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind


class Session(Value, kw_only=True):
    """A session as the store keeps it.

    Attributes:
        id: the hash of the cookie's value, as of a token.
        token: the hash of the token that it was made for; "" for a person.
        issuer: which knows the person; "" for a token.
        subject: the id of the person with the issuer.
        email: of the person, where the issuer says it.
        name: of the person, where the issuer says it.
        groups: of the person at the sign-in, those that grants named.
        namespace: of the server that has made it; no other one takes it.
    """

    id: str
    token: str = ""
    issuer: str = ""
    subject: str = ""
    email: str = ""
    name: str = ""
    groups: tuple[str, ...] = ()
    namespace: str
    expires_at: datetime

    @property
    def actor(self) -> str:
        """The person as the journal has it; "" for a token."""
        email = f" ({self.email})" if self.email else ""
        return f"oidc:{self.subject}{email}" if self.subject else ""

    @property
    def person(self) -> str:
        """The person as others know it."""
        return self.email or self.name or self.subject

    def is_of(self, person: str) -> bool:
        """Return whether a text names its person: by subject, as the journal has it, or by e-mail."""
        names = (self.subject, f"oidc:{self.subject}", self.actor)
        return bool(self.subject) and (person in names or person.lower() == self.email.lower() != "")


SESSIONS = Kind(name="sessions", value=Session, key=("id",))
