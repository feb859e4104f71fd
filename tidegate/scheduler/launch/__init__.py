"""From a decided launch to a run: the outbox, the claim, the dead letters."""
