"""The way back from an override, when a person wants it or its time has come."""
