"""The channels of alerts: what sends them, outside of any transaction of the store."""
