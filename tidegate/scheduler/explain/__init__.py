"""Why a job waits, what would unblock it, and how it stood in the past."""
