"""The outermost shell: the command `tidegate`, its settings, and what binds the other packages.

It may import every package of the project, and none of them may import it. It decides
nothing about jobs; see `scheduler` for that.
"""
