"""Builders of table maintenance: policies with their operations, and the settings of the whole store."""
