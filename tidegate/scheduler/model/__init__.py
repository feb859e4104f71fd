"""The engine's values: jobs, runs, events, journal entries, verdicts, reasons, deployed state."""
