"""Explanations: why a job waits, what would unblock it, and the same for a past instant."""
