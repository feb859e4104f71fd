"""A person at a browser, who notes which forms the pages show and which they press."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request, expect

from tests.server.board.seeded import TOKEN, fail, report
from tidegate.scheduler.model.reason import Reason

FORMS = "forms => forms.filter(form => form.method === 'post').map(form => new URL(form.action).pathname)"


class Person:
    """See the module.

    Attributes:
        met: the forms that the pages showed: "jobs cancel" of /board/jobs/7/cancel.
        pressed: those whose buttons were pressed.
    """

    def __init__(self, page: Page, address: str, project: Path) -> None:
        self.page, self.address, self.project = page, address, project
        self.met: set[str] = set()
        self.pressed: set[str] = set()
        page.on("request", self._note)

    def open(self, path: str) -> None:
        self.page.goto(path)
        self.look()

    def look(self) -> None:
        """Note the forms of the page."""
        self.met |= forms(self.page)

    def press(self, button: str, done: str, **fields: str) -> None:
        """Fill in a form, press its button, and wait until the page says what was done."""
        button_of = self.page.get_by_role("button", name=button)
        form = self.page.locator("form").filter(has=button_of).first
        form.wait_for()
        self.look()
        for label, value in {"Reason": f"{button} by a person", **fields}.items():
            form.get_by_label(label, exact=True).fill(value)
        form.get_by_role("button", name=button).click()
        expect(self.page.get_by_role("status")).to_contain_text(done)
        self.look()

    def act(self, action: str, done: str, **asked: str) -> None:
        """Choose an action in the menu of the page, answer what it asks for, and press its button."""
        self.look()
        self.page.locator("details.menu summary").click()
        self.page.locator("details.menu").get_by_role("link", name=f"{action}…").click()
        if asked:
            for label, value in asked.items():
                field = self.page.locator("[data-doing]").get_by_label(label, exact=True)
                if field.evaluate("each => each.tagName") == "SELECT":
                    field.select_option(value)
                else:
                    field.fill(value)
            self.page.get_by_role("button", name="What does it do?").click()
        self.press(action, done)

    def open_new_job(self, month: str) -> str:
        """Report another day of a month, open the page of its job, and return the day."""
        self.open("/board/schedules/sales/each_day")
        rows = self.page.get_by_role("region", name="Jobs of sales/each_day").get_by_role("row")
        day = f"{month}-{rows.filter(has_text=month).count() + 1:02}"
        report(self.address, day)
        self.page.reload()
        rows.filter(has_text=day).locator('a[href^="/board/jobs/"]').click()
        self.page.wait_for_url("**/board/jobs/*")
        self.look()
        return day

    def _note(self, request: Request) -> None:
        if request.method == "POST":
            self.pressed.add(_named(urlsplit(request.url).path))


def forms(page: Page) -> set[str]:
    """The forms of a page, see `Person.met`."""
    return {_named(path) for path in page.eval_on_selector_all("form", FORMS)}


def _named(path: str) -> str:
    """Return the page of a form and what it does there, without the names between them."""
    _, _, page, *rest = path.split("/")
    return " ".join((page, *rest[-1:]))


def switch_a_schedule(person: Person) -> None:
    """From the first page on, with the links that a person follows."""
    page = person.page
    person.open("/")
    page.get_by_role("link", name="Schedules", exact=True).click()
    page.get_by_text("Filter", exact=True).click()
    page.get_by_label("App").fill("sales")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="sales/each_day").click()
    for button, done in (("Suspend", "is suspended"), ("Resume", "is active"), ("Suspend", "is suspended")):
        person.act(button, done)
        expect(page.get_by_role("region", name="History")).to_contain_text(f"{button} by a person")
    person.act("Revert", "sales/each_day is active again")
    for button, day in (("Force", "2026-03-03"), ("Trigger", "2026-03-06")):
        person.act(button, "is opened", Key=day)
    expect(page.get_by_role("region", name="Jobs of sales/each_day")).to_contain_text("2026-03-03")


def hold_an_app(person: Person) -> None:
    """*Now* leads to the button that releases what is on hold."""
    person.open("/")
    person.page.get_by_role("link", name="Its page releases it.").click()
    person.act("Release", "yard is released")
    person.act("Hold", "yard is on hold")


def change_jobs(person: Person) -> None:
    """One that waits, and two that have failed."""
    person.open_new_job("2026-07")
    person.act("Force", "is forced")
    person.open_new_job("2026-07")
    person.act("Cancel", "is discarded")
    for month, button, reason in (
        ("2026-08", "Retry", Reason.F_RUN),
        ("2026-09", "Requeue", Reason.F_LAUNCH),
    ):
        fail(person.project, person.open_new_job(month), reason)
        person.page.reload()
        person.act(button, "runs again")


def change_an_instance(person: Person) -> None:
    person.open("/board/schedules/shop/clean")
    person.page.get_by_role("region", name="Jobs of shop/clean").get_by_role("link").first.click()
    for button, done in (
        ("Pause", "is paused"),
        ("Resume", "runs again"),
        ("Mark successful", "counts as successful"),
        ("Rerun", "runs again"),
        ("Mark successful", "counts as successful"),
        ("Rerun downstream", "runs again"),
    ):
        person.act(button, done)


def maintain_a_table(person: Person) -> None:
    person.open("/board/maintenance/table?name=yard/report")
    person.act("Run", "is opened", Operation="rewrite_data_files")


def backfill(person: Person) -> None:
    person.open("/board/backfills")
    person.page.get_by_role("link", name="Start a backfill…").click()
    for label, value in (("Schedule or task", "shop.revenue"), ("From", "2026-04-01"), ("To", "2026-04-02")):
        person.page.locator("[data-doing]").get_by_label(label, exact=True).fill(value)
    person.page.get_by_role("button", name="What does it do?").click()
    person.press("Start", "opened: ")
    person.act("Cancel", "discarded: ")


def send_an_alert_again(person: Person) -> None:
    person.open("/board/alerts?state=dead")
    person.page.get_by_role("link", name="Send again…").first.click()
    person.press("Retry", "is sent to duty again")


def roll_back(person: Person) -> None:
    """To the deployment before the newest one of the app."""
    person.open("/board/deployments")
    person.page.get_by_role("link", name="Roll back to").last.click()
    expect(person.page.get_by_role("heading", name="This takes away")).to_be_visible()
    person.press(person.page.get_by_role("heading", level=1).inner_text(), "rolled back to")


def sign_out_and_in(person: Person) -> None:
    page = person.page
    person.open("/")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/board/sign-in*")
    person.look()
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


STEPS: tuple[Callable[[Person], None], ...] = (
    switch_a_schedule,
    hold_an_app,
    change_jobs,
    change_an_instance,
    maintain_a_table,
    backfill,
    send_an_alert_again,
    sign_out_and_in,
    roll_back,
)
"""All that can be done on the board; the last one takes back what was deployed."""
