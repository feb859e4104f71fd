"""The programs of this project: functions that the YAML refers to under `run:`."""
