"""The settings of a project: the language of `tidegate.toml`, its values, and its page in docs/."""
