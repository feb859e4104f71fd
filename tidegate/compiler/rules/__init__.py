"""Rules between the parts of an app. Each rule has a file of its own.

A rule reads values of the model and adds findings; it does not change the model.
"""
