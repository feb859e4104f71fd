"""Rows that are staged for an Iceberg table, and what a merge makes of them."""
