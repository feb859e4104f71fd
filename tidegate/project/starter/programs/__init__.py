"""The programs of this project: plain functions that the YAML names under `run:`."""
