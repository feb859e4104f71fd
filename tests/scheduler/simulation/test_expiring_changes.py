"""Changes by hand that expire in a scenario: at their instant, also while the scheduler is down."""

import pytest

from tests.scheduler.simulation.app_under_test import APP, START, played
from tidegate.compiler.compile import compile_files

SUSPENDED = f"""
{START}
given:
  - {{at: +1h, suspend: by_day, expires: 2h}}
  - {{at: +2h, partitions: {{dataset: raw, keys: [2026-03-08]}}}}
  - {{at: +4h, partitions: {{dataset: raw, keys: [2026-03-09]}}}}
until: +6h
expect_only: [by_day]
expect: [{{at: LAUNCH, launch: by_day, partitions: [2026-03-09]}}]
"""


def test_a_suspension_expires() -> None:
    performance = played(SUSPENDED.replace("LAUNCH", "+4h"))
    assert performance.ok, performance


def test_it_expires_while_the_scheduler_is_down() -> None:
    down = SUSPENDED.replace("LAUNCH", "+5h").replace("given:", "given:\n  - {at: +90m, down: 210m}")
    performance = played(down)
    assert performance.ok, performance


def test_a_resume_expires() -> None:
    performance = played(f"""
{START}
given:
  - {{at: +0s, resume: nightly, expires: 20h}}
until: +60h
expect_only: [nightly]
expect: [{{at: 2026-03-11T06:00:00-04:00, launch: nightly}}]
""")
    assert performance.ok, performance


def test_an_update_expires_and_the_deployed_text_is_in_force_again() -> None:
    performance = played(f"""
{START}
given:
  - {{at: +0s, update: {{by_day: {{args: {{n: 2}}}}}}, expires: 2h}}
  - {{at: +1h, partitions: {{dataset: raw, keys: [2026-03-08]}}}}
  - {{at: +2h, partitions: {{dataset: raw, keys: [2026-03-09]}}}}
until: +6h
expect_only: [by_day]
expect:
  - {{at: +1h, launch: by_day, args: {{n: 2}}}}
  - {{at: +2h, launch: by_day, args: {{n: 1}}}}
""")
    assert performance.ok, performance


@pytest.mark.parametrize(
    ("action", "expires", "code"),
    [
        ("suspend: by_day", "0s", "V201"),
        ("trigger: by_day", "2h", "V209"),
    ],
)
def test_what_cannot_expire_is_reported(action: str, expires: str, code: str) -> None:

    example = (
        f"  - name: x\n    {START}\n    given: [{{at: +0s, {action}, expires: {expires}}}]\n    expect: []\n"
    )
    found = compile_files({"a.yaml": (APP + example).encode()})
    assert code in {each.code for each in found.diagnostics}
