"""Deployments of tasks, each judged at once: exactly those instances are discarded, go and come that have to.

What becomes of them follows from docs/cycles.md, by the state before the deployment.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.hands import Hands
from tests.simulation.tasks.existing import MICROSECOND, Existing, Exists, Fates
from tests.simulation.tasks.live import Identity, Live, identity, of
from tests.simulation.world import bare
from tests.worlds.by import CLI
from tidegate.domain.model import App, Schedule, TaskTrigger
from tidegate.scheduler.commands.by_hand.manual import resume, suspend
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.schedules import delete_schedules
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.tick import advance_before


class Deployments(Hands):
    """Hands that deploy, and know which instances exist.

    Attributes:
        existing: the model of them.
    """

    def __init__(self, store: FaultyStore, start: datetime) -> None:
        super().__init__(store, start)
        self.existing = Existing()

    def deploy_all(self, apps: Mapping[str, App]) -> None:
        """Deploy these apps, and remove the others."""
        wanted = {f"{app.name}/{name}": spec for app in apps.values() for name, spec in app.schedules.items()}
        before = self._specs()

        def judged(states: Mapping[Identity, str]) -> Fates:
            changed = {ref for ref in wanted if ref in before and _form(before[ref]) != _form(wanted[ref])}
            return self.existing.deployed(wanted, states, self.now, changed)

        self._change(lambda t: deploy(t, apps, self.now, force=True, by=CLI), judged)

    def delete(self, ref: str) -> None:
        """Delete a task, whether or not others wait for it."""
        self._change(
            lambda t: (
                ref in {state.ref for state in t.schedules()}
                and delete_schedules(t, [ref], self.now, force=True, by=CLI)
            ),
            lambda states: self.existing.deleted([ref], states),
        )

    def switch(self, ref: str, *, active: bool) -> None:
        """Suspend or resume a task."""
        spec, was_active = self._states()[ref]
        turn = resume if active else suspend
        discards = was_active and not active and spec.on_suspend == "discard"

        def judged(states: Mapping[Identity, str]) -> Fates:
            waits = ("PENDING_TRIGGER", "PENDING_CONSTRAINT")
            found = frozenset(
                each for each in self.existing.exist if each[0] == ref and states.get(each) in waits
            )
            if discards:
                self.existing.leave(found)
            return Fates(discarded=found if discards else frozenset())

        self._change(lambda t: turn(t, ref, self.now, CLI), judged, "D-SUSPENDED")

    def _change(
        self,
        deed: Callable[[EngineTransaction], Any],
        fates: Callable[[Mapping[Identity, str]], Fates],
        reason: str = "D-DELETED",
    ) -> None:
        """Change a deployment; exactly those instances are discarded, go and are made again that have to."""
        self.catch_up()
        before, entries = self._jobs(), self._entries()
        self.within(deed)
        wanted = fates({identity(job): str(job.state) for job in before.values()})
        after = self._jobs()
        with self.store.reading() as reader:
            written = [entry for entry in reader.journal()[entries:] if entry.at >= self.now - MICROSECOND]
        names = {id: identity(job) for id, job in {**before, **after}.items()} | self._discarded()
        found = {
            "discarded": {
                names[e.job or ""] for e in written if e.kind == "discarded" and e.reason == reason
            },
            "gone": {names[e.job or ""] for e in written if e.kind == "gone"},
            "again": {names[e.job or ""] for e in written if e.kind == "remade"},
        }
        for what, each in found.items():
            expected = getattr(wanted, what)
            assert each == expected, (
                f"{what}: {short(each - expected)} should not, {short(expected - each)} should"
            )
        touched = wanted.discarded | wanted.gone | wanted.again
        self._same(before, after, [id for id, job in {**before, **after}.items() if identity(job) in touched])

    # --- what is known ---

    def catch_up(self) -> None:
        """A command first lets the scheduler do what is due before it, unless it is away."""
        if not self.existing.is_away(self.now) and self.existing.clock != self.now:
            entries = -1
            # Slices of few instances leave some of them to the next time.
            while entries != (entries := self._entries()):
                self.within(lambda transaction: advance_before(transaction, self.now))
            self.existing.worked(self.now - MICROSECOND, returns=False)

    def settled(self) -> None:
        """The scheduler has done all at this instant: exactly those instances exist that have to."""
        self.existing.worked(self.now, returns=True)
        found = {
            identity(job): Exists(
                kind=str(of(job).kind),
                scheduled=of(job).scheduled,
                start=of(job).start,
                empty=of(job).empty,
            )
            for job in self._jobs().values()
        }
        expected = self.existing.exist
        assert found.keys() == expected.keys(), (
            f"{short(found.keys() - expected.keys())} should not exist, "
            f"{short(expected.keys() - found.keys())} should"
        )
        wrong = {name: (found[name], expected[name]) for name in found if found[name] != expected[name]}
        assert not wrong, f"found, expected: {list(wrong.items())[:3]}"

    def task(self, ref: str) -> TaskTrigger:
        """A task as it is deployed."""
        return self._specs()[ref].as_task

    def specs(self) -> list[str]:
        """The deployed tasks."""
        return sorted(self._specs())

    def _jobs(self, *, all_: bool = False) -> dict[str, Job]:
        """The instances by id, without discarded ones if not `all_`."""
        with self.store.reading() as reader:
            jobs = [job for job in reader.jobs() if job.instance is not None]
        return {job.id: job for job in jobs if all_ or str(job.state) != "DISCARDED"}

    def _discarded(self) -> dict[str, Identity]:
        return {id: identity(job) for id, job in self._jobs(all_=True).items()}

    def _live(self) -> Live:
        with self.store.reading() as reader:
            return Live.of_store(reader)

    def _states(self) -> dict[str, tuple[Schedule, bool]]:
        with self.store.reading() as reader:
            return {state.ref: (state.spec, state.active) for state in reader.schedules()}

    def _specs(self) -> dict[str, Schedule]:
        return {ref: spec for ref, (spec, _) in self._states().items()}

    def _entries(self) -> int:
        with self.store.reading() as reader:
            return len(reader.journal())

    @staticmethod
    def _same(before: Mapping[str, Job], after: Mapping[str, Job], but: Collection[str]) -> None:
        """All instances but these are what they were."""
        touched = set(but)
        for id, job in before.items():
            if id not in touched:
                assert id in after, f"{job.schedule} {of(job).key} is gone"
                found = after[id]
                same = (job.state, job.attempt, job.commit, job.instance, job.satisfied_at, job.launch)
                now = (
                    found.state,
                    found.attempt,
                    found.commit,
                    found.instance,
                    found.satisfied_at,
                    found.launch,
                )
                assert same == now, f"{job.schedule} {of(job).key} was {same}, is {now}"


def _form(spec: Schedule) -> Any:
    """A spec as it compares: another number of retries changes no instance."""
    return {**bare(spec), "retries": None}


def short(names: Iterable[Identity]) -> list[Identity]:
    """The first ones, in order."""
    return sorted(names)[:3]
