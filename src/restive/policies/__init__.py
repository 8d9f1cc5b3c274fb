"""Policies: what to pull, given what was seen of every arm and how long ago."""
