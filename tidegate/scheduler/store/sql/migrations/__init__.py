"""The history of the store's schema, run by `scheduler.store.sql.schema`."""
