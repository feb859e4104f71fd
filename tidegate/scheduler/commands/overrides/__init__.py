"""Overrides: what a person has changed in production, who, why, until when, and the way back."""
