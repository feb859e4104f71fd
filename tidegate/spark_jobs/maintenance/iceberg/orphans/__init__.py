"""What a search for orphan files leaves alone: files of other tables, and what the table reaches."""
