"""What parts of an app must be to each other, beyond what each part is by itself.

One file a rule, named after what it judges. Each takes values of the model and adds to the
findings; none changes anything.
"""
