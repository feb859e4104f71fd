"""*Commit*: a withheld publish with what each check has found, and what a person does about it."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.commits import CheckVerdict
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.domain.wording import plural
from tidegate.listings.withheld_publish import ShownWithheld
from tidegate.project.local_time import common_zone
from tidegate.scheduler.explain.answer import Answer, Sentence
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.token import Role
from tidegate.server.access import OPERATE, READ, Called
from tidegate.server.board.page import PageRoute, back, page
from tidegate.server.body import read_form
from tidegate.server.routes.commits import abandoned, released, visible_withheld
from tidegate.server.service import Here

router = APIRouter(prefix="/board/commits", route_class=PageRoute, include_in_schema=False)

HOME = "/board/commits"

NULL = "null"


class Samples(Value, kw_only=True):
    """Keys of rows that break a check.

    Attributes:
        rows: the values of the columns; a null is written as such.
    """

    verdict: CheckVerdict
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Shown(Value, kw_only=True):
    """What the template shows of a withheld publish.

    Attributes:
        answer: why it is withheld, and until when.
        decides: whether the caller may release and abandon it.
        path: of the page, as an address.
    """

    publish: ShownWithheld
    answer: Answer
    samples: tuple[Samples, ...]
    decides: bool
    path: str


@router.get("/{commit:path}", dependencies=[READ])
def show_page(commit: str, request: Request, service: Here, caller: Called) -> Response:
    """Show a withheld publish."""
    with service.store.reading() as reader:
        found = visible_withheld(service, reader, caller, commit)
        zone = common_zone(reader, {app_of(ref) for ref in found.datasets})
    view = Shown(
        publish=found,
        answer=_answer(found),
        samples=tuple(_samples(each) for each in found.verdicts if each.samples),
        decides=caller.may(Role.OPERATE),
        path=f"{HOME}/{quote(commit)}",
    )
    return page(request, service, "commit", ", ".join(found.datasets) or commit, view, zone)


@router.post("/{commit:path}/release", dependencies=[OPERATE])
def release(
    commit: str, service: Here, caller: Called, form: Annotated[dict[str, str], Depends(read_form)]
) -> Response:
    """Publish what is withheld."""
    done = released(service, caller, commit, form.get("reason", ""))
    if not done.finished:
        return back(HOME, f"released; recovery finishes it: {done.detail}")
    return back(HOME, f"released: {plural(len(done.partitions), 'partition')} published")


@router.post("/{commit:path}/abandon", dependencies=[OPERATE])
def abandon(
    commit: str, service: Here, caller: Called, form: Annotated[dict[str, str], Depends(read_form)]
) -> Response:
    """Abandon what is withheld."""
    done = abandoned(service, caller, commit, form.get("reason", ""))
    return back(HOME, f"abandoned: readers will not see these rows in {', '.join(done.datasets)}")


def _answer(found: ShownWithheld) -> Answer:
    failed = [each for each in found.verdicts if each.blocks]
    first = (
        f"Check {failed[0].name} of {failed[0].dataset} failed: {failed[0].found}" if failed else "Withheld"
    )
    more = f", and {plural(len(failed) - 1, 'more check')} failed" if len(failed) > 1 else ""
    return Answer(
        says=Sentence(text=first + more),
        then=Sentence(text="Readers see nothing of these rows until a person releases them"),
        code=Reason.F_CHECK,
    )


def _samples(verdict: CheckVerdict) -> Samples:
    columns = tuple(dict.fromkeys(name for row in verdict.samples for name in row))
    values = (tuple(row.get(name) for name in columns) for row in verdict.samples)
    rows = tuple(tuple(NULL if value is None else value for value in row) for row in values)
    return Samples(verdict=verdict, columns=columns, rows=rows)
