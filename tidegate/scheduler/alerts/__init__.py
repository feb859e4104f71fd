"""Alerts: collected from the journal into the outbox, and taken from there to be sent."""
