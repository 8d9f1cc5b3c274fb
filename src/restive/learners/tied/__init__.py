"""Learners that tie all ages of an arm to one transition matrix."""
