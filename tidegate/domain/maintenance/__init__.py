"""What everything on maintenance shares: measures of tables, and the patterns that name tables."""
