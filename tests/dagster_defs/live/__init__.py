"""A package, so that the processes which these tests share end with the last of them."""
