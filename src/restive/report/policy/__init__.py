"""A plan's policy in pictures and words."""
