"""The caller of a request: what it may do, in which apps, and its name in the journal.

A token has one role, for all apps or for one. A person may have several, each for all apps or for one. A
route needs a role (`need`), and from then on the request is about the apps in which its caller has that:

    read in all apps, operate in sales      a page: all apps are seen      a button: only sales is
"""

from dataclasses import dataclass, field

from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.token import Grant, Role
from tidegate.server.problem import Problem


@dataclass
class Caller:
    """Who calls.

    Attributes:
        name: the actor in the journal.
        grants: what it may do: everything by default.
        is_known: whether a token or a session says who it is.
        person: as others know the person who has signed in; "" for a token, or where none is needed.
        refusal: why it may only read; empty for a caller that may write as well.
    """

    name: str
    grants: tuple[Grant, ...] = (Grant(role=Role.ADMIN),)
    is_known: bool = True
    person: str = ""
    refusal: str = ""
    _needed: Role = field(default=Role.READ, init=False)

    @property
    def apps(self) -> frozenset[str] | None:
        """The only apps that the caller may see and change with the role that is needed; None for all."""
        return self.apps_with(self._needed)

    @property
    def shown(self) -> str:
        """The person as others know it, or the token, for people."""
        return self.person or f"token {self.name.partition(':')[2]}"

    @property
    def highest(self) -> Role:
        """The highest role that the caller has, be it in one app."""
        return max((each.role for each in self.grants), key=list(Role).index)

    @property
    def each_app(self) -> tuple[str | None, ...]:
        """These apps for questions that take one, or None for all."""
        return (None,) if self.apps is None else tuple(sorted(self.apps))

    def apps_with(self, role: Role) -> frozenset[str] | None:
        """Return the only apps in which the caller has a role; None for all."""
        apps = {each.app for each in self.grants if each.role.includes(role)}
        return None if None in apps else frozenset(app for app in apps if app is not None)

    def by(self, reason: str = "") -> By:
        """Return the actor with a reason."""
        return By(actor=self.name, reason=reason)

    def need(self, role: Role, app: str | None = None) -> None:
        """Refuse a call that needs more than the caller's role, and see only the apps where it has it.

        Args:
            app: that the call is about.

        Raises:
            Problem: 403; 401 without a token where that is only enough to read.
        """
        self.check(role, app)
        if role.includes(self._needed):
            self._needed = role

    def check(self, role: Role, app: str | None = None) -> None:
        """Refuse what needs more than the caller's role, in an app or in any.

        Raises:
            Problem: 403; 401 without a token where that is only enough to read.
        """
        if self.refusal and role is not Role.READ:
            raise unknown(self.refusal)
        apps = self.apps_with(role)
        if apps is None or app in apps or (apps and app is None):
            return
        if apps:
            has_less = any(each.app in (None, app) for each in self.grants)
            needs = f"this needs the role {role} in the app {app}; " if has_less else ""
            raise Problem(403, f"{needs}{self._only(apps)}")
        if self.person:
            raise Problem(403, f"this needs the role {role}, and {self.person} has {self.highest}")
        raise Problem(403, f"this needs a token of the role {role}, and yours has {self.highest}")

    def may(self, role: Role) -> bool:
        """Return whether the caller has a role, be it in one app."""
        try:
            self.check(role)
        except Problem:
            return False
        return True

    def check_person(self) -> None:
        """Refuse a person of whom no group may come in.

        Raises:
            Problem: 403.
        """
        if not self.grants:
            raise Problem(
                403,
                f"{self.person} has signed in, and is in no group that may come in here",
                hint="an administrator adds the group to [[serve.oidc.grants]], or the person to a group;"
                " groups are read at the sign-in",
            )

    def check_app(self, app: str) -> None:
        """Refuse a call about an app in which the caller does not have the role that is needed.

        Raises:
            Problem: 403.
        """
        self.check(self._needed, app)

    def check_all_apps(self) -> None:
        """Refuse a call that concerns all apps to a caller who may not do it in all.

        Raises:
            Problem: 403.
        """
        if self.apps is not None:
            raise Problem(403, f"{self._only(self.apps)}, and this concerns all apps")

    def sees(self, app: str) -> bool:
        """Return whether lists show an app to the caller."""
        return self.apps is None or app in self.apps

    def _only(self, apps: frozenset[str]) -> str:
        if self.person:
            several = "s" if len(apps) > 1 else ""
            return f"{self.person} may do this in the app{several} {', '.join(sorted(apps))} only"
        return f"your token is for the app {', '.join(apps)} only"


def unknown(detail: str) -> Problem:
    """Return the refusal of a caller who is not known."""
    return Problem(401, detail, {"WWW-Authenticate": "Bearer"})
