"""Learners against each other on a fixed suite of problems, with paired seeds."""
