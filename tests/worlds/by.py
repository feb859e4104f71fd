"""The actors of tests."""

from getpass import getuser

from tidegate.scheduler.model.journal import By

CLI = By(actor="cli")
"""Of tests that do not look at who does something."""

ME = f"cli:{getuser()}"
"""The actor of a command that a test runs."""
