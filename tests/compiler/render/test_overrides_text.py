"""What a deployment does to overrides, in lines."""

from datetime import UTC, datetime

from tidegate.compiler.plan.override_change import OverrideChange, ThreeViews
from tidegate.compiler.render.overrides_text import MAX_VIEW_CHARACTERS, overrides_text


def test_a_view_without_the_field_is_a_dash_and_a_long_one_is_cut() -> None:
    change = OverrideChange(
        ref="a/s",
        kind="specification",
        owner="cli:ada",
        reason="",
        since=datetime(2026, 3, 10, 12, tzinfo=UTC),
        expires_at=None,
        fate="replaced",
        fields=(
            ThreeViews(path="trigger.count", git=None, deployed=2, override=3),
            ThreeViews(path="description", git="x" * (MAX_VIEW_CHARACTERS + 1)),
        ),
    )
    assert list(overrides_text([change])) == [
        "overrides:",
        "  a/s: its text, by cli:ada since 2026-03-10 12:00:00Z",
        "      trigger.count: git -, deployed 2, override 3",
        f"      description: git {'x' * MAX_VIEW_CHARACTERS}…, deployed -, override -",
        "      -> ends: the YAML replaces it",
    ]
