"""What a decision about one job sees."""
