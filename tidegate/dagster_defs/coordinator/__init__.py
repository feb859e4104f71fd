"""A run coordinator that launches at once what need not wait in the queue."""

from tidegate.dagster_defs.coordinator.coordinator import LaunchingCoordinator as LaunchingCoordinator
