"""What publishing costs: the steps of a commit, and the checks of rows, beside the write of the same rows."""
