"""The commands of the example project on real flights."""
