"""`tidegate maintenance`: one command a file; `group` has the table of them."""
