"""A process that sends alerts, and dies by SIGKILL at a point that its caller names.

python -m tests.alerts.sender STORE_URL WEB_URL before|after|never
"""

import os
import signal
import sys

from tests.alerts.samples import NOON
from tidegate.alerts import deliver as module
from tidegate.alerts.channel import Channel, Webhook
from tidegate.alerts.deliver import deliver
from tidegate.scheduler.model.records.alert import Alert
from tidegate.scheduler.store.open import open_store


def main(store_url: str, web_url: str, dies: str) -> None:
    """Send what is due."""
    sends = module.send

    def dying(channel: Channel, alert: Alert) -> None:
        if dies == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        sends(channel, alert)
        if dies == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    module.send = dying
    deliver(open_store(store_url), "p", {"ops": Webhook(url=web_url)}, lambda: NOON)


if __name__ == "__main__":
    main(*sys.argv[1:])
