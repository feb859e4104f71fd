"""The `cron` trigger: `cron: "0 6 * * *"` with `timezone`, `catch_up` and `catch_up_at_most` beside it."""

from compiler.build.duration import optional_duration
from compiler.build.scope import Scope
from compiler.build.zone import zone_of
from compiler.cron import CronError, parse
from compiler.model import CronTrigger
from compiler.triggers.kind import TriggerKind, Written


def _build(written: Written, scope: Scope) -> CronTrigger | None:
    node = written.node
    text = " ".join(node.text("cron").split())
    try:
        parse(text)
    except CronError as error:
        scope.findings.add("V203", node.values["cron"], str(error), error.hint)
        return None
    catch_up = node.text("catch_up", "latest")
    at_most = optional_duration(node, "catch_up_at_most", scope)
    if catch_up == "none" and at_most is not None:
        scope.findings.add(
            "V209",
            node.keys["catch_up_at_most"],
            "`catch_up_at_most` bounds what is made up for, got `catch_up: none` beside it",
            "delete one of the two",
        )
    return CronTrigger(
        cron=text,
        timezone=zone_of(node, scope),
        catch_up=catch_up,  # pyright: ignore[reportArgumentType] - one of the schema's enum
        catch_up_at_most=at_most,
        wait_at_most=written.wait_at_most,
        at=written.at,
    )


KIND = TriggerKind(key="cron", build=_build)
