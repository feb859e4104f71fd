"""The host: one process that drives the engine for all apps of a project, and creates their runs itself."""
